import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { ILanguageRuntimeServer } from "@pulumi/pulumi/proto/language_grpc_pb";
import {
  AboutResponse,
  DependencyInfo,
  GetProgramDependenciesResponse,
  GetRequiredPackagesResponse,
  GetRequiredPluginsResponse,
  InstallDependenciesResponse,
  LanguageHandshakeResponse,
  RunPluginResponse,
  RunResponse,
  RuntimeOptionsResponse,
  type RunRequest,
} from "@pulumi/pulumi/proto/language_pb";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { status, type ServerErrorResponse, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { z } from "zod";

import { endAll, runNode } from "./child-streams";
import { programCommand, saidAlready, sdkScript, type ProgramRequest } from "./program";

/**
 * The language runtime for Node programs, as far as the engine needs it to run, preview and describe them (the protocol
 * `pulumirpc.LanguageRuntime` of the Pulumi SDK). It stands in where Pulumi's own host is not installed.
 */
export function languageRuntime(
  hostVersion: string,
  engineAddress: string,
): Pick<ILanguageRuntimeServer, ServedMethod> {
  let engine = engineAddress;
  return {
    handshake: unary((call) => {
      engine = call.getEngineAddress();
      return new LanguageHandshakeResponse();
    }),
    getPluginInfo: unary(() => new PluginInfo().setVersion(hostVersion)),
    // Plugins are found, or fetched, when the first resource asks for them.
    getRequiredPackages: unary(() => new GetRequiredPackagesResponse()),
    getRequiredPlugins: unary(() => new GetRequiredPluginsResponse()),
    runtimeOptionsPrompts: unary(() => new RuntimeOptionsResponse()),
    about: unary(() => new AboutResponse().setExecutable(process.execPath).setVersion(process.version)),
    getProgramDependencies: unary((call) =>
      new GetProgramDependenciesResponse().setDependenciesList(
        dependenciesOf(call.getInfo()?.getProgramDirectory() ?? call.getPwd()),
      ),
    ),
    run: unary((call) => runProgram(requestOf(call, engine))),
    cancel: unary(() => {
      endAll("SIGINT");
      return new Empty();
    }),
    runPlugin(call) {
      const { request } = call;
      const folder = request.getInfo()?.getProgramDirectory() ?? request.getProgram();
      const environment = request.getEnvList().map((entry): [string, string] => {
        const equals = entry.indexOf("=");
        return [entry.slice(0, equals), entry.slice(equals + 1)];
      });
      const run = async () => {
        const code = await runNode([sdkScript(folder, "run-plugin"), folder, ...request.getArgsList()], {
          cwd: request.getPwd() || folder,
          env: { ...process.env, ...Object.fromEntries(environment), PULUMI_NODEJS_TYPESCRIPT: "true" },
          stdout: (bytes) => call.write(new RunPluginResponse().setStdout(bytes)),
          stderr: (bytes) => call.write(new RunPluginResponse().setStderr(bytes)),
        });
        call.write(new RunPluginResponse().setExitcode(code));
        call.end();
      };
      run().catch((error: unknown) =>
        call.destroy(error instanceof Error ? error : new Error(String(error))),
      );
    },
    installDependencies(call) {
      const folder = call.request.getInfo()?.getProgramDirectory() || call.request.getDirectory();
      const text = `run "npm install" in ${folder}: this language host leaves installing to npm\n`;
      call.write(new InstallDependenciesResponse().setStdout(Buffer.from(text)));
      call.end();
    },
  };
}

type ServedMethod =
  | "handshake"
  | "getPluginInfo"
  | "getRequiredPackages"
  | "getRequiredPlugins"
  | "runtimeOptionsPrompts"
  | "about"
  | "getProgramDependencies"
  | "run"
  | "cancel"
  | "runPlugin"
  | "installDependencies";

function requestOf(call: RunRequest, engineAddress: string): ProgramRequest {
  const info = call.getInfo();
  const config: Record<string, string> = {};
  call.getConfigMap().forEach((value, key) => (config[key] = value));
  return {
    project: call.getProject(),
    stack: call.getStack(),
    organization: call.getOrganization(),
    monitorAddress: call.getMonitorAddress(),
    engineAddress,
    rootDirectory: info?.getRootDirectory() ?? call.getPwd(),
    programDirectory: info?.getProgramDirectory() ?? call.getPwd(),
    entryPoint: info?.getEntryPoint() ?? call.getProgram(),
    arguments: call.getArgsList(),
    parallel: call.getParallel(),
    dryRun: call.getDryrun(),
    config,
    secretConfigKeys: call.getConfigsecretkeysList(),
    options: info?.getOptions()?.toJavaScript(),
  };
}

async function runProgram(request: ProgramRequest): Promise<RunResponse> {
  const { args, env } = programCommand(request, sdkScript(request.programDirectory, "run"));
  const code = await runNode(args, {
    cwd: request.programDirectory,
    env: { ...process.env, ...env },
    // The engine shows what its plugins print.
    stdout: (bytes) => process.stdout.write(bytes),
    stderr: (bytes) => process.stderr.write(bytes),
  });
  if (code === 0) return new RunResponse();
  if (code === saidAlready) return new RunResponse().setBail(true);
  return new RunResponse().setError(`the program ended with exit code ${code}`);
}

const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()).default({}) });

function dependenciesOf(folder: string): DependencyInfo[] {
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  return Object.entries(manifest.dependencies).map(([name, version]) =>
    new DependencyInfo().setName(name).setVersion(version),
  );
}

/** A method that answers once; what it throws becomes the call's error. */
function unary<Request, Response>(answer: (request: Request) => Response | Promise<Response>) {
  return (call: ServerUnaryCall<Request, Response>, reply: sendUnaryData<Response>): void => {
    Promise.resolve(call.request)
      .then(answer)
      .then(
        (response) => reply(null, response),
        (error: unknown) => reply(errorOf(error)),
      );
  };
}

function errorOf(error: unknown): Partial<ServerErrorResponse> {
  return { code: status.UNKNOWN, details: error instanceof Error ? error.message : String(error) };
}
