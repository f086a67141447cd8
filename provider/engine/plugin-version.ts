import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { credentials, type ServiceError } from "@grpc/grpc-js";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";

import type { PulumiEngine } from "./engine";
import { findPlugin, type PluginName } from "./resource-plugins";

/** How long a plugin may take to start and to answer. */
const DEADLINE_MS = 60_000;

/**
 * Version of the resource plugin that a prepared engine runs, such as `4.34.2`: asked of the plugin itself, since some have no option that
 * prints it.
 *
 * @throws if the engine was prepared without this plugin, or the plugin does not answer
 */
export async function pluginVersion(name: PluginName, engine: PulumiEngine): Promise<string> {
  const path = findPlugin(name, engine.environment);
  if (path === undefined)
    throw new Error(`the Pulumi engine has no plugin ${name}; name it in resourcePlugins of preparePulumi`);
  // Without an argument: the address of an engine, which plugins write their logs to.
  const plugin = spawn(path, [], { env: engine.environment, stdio: ["ignore", "pipe", "ignore"] });
  const timer = setTimeout(() => plugin.kill("SIGKILL"), DEADLINE_MS);
  try {
    const port = await new Promise<number>((resolve, reject) => {
      createInterface({ input: plugin.stdout }).once("line", (line) => resolve(Number(line)));
      plugin.on("error", reject);
      plugin.on("close", (code) =>
        reject(new Error(`${path} ended with code ${code} before it told its port`)),
      );
    });
    const info = await askInfo(`127.0.0.1:${port}`);
    return info.getVersion().replace(/^v/, "");
  } finally {
    clearTimeout(timer);
    plugin.kill("SIGKILL");
  }
}

function askInfo(address: string): Promise<PluginInfo> {
  const client = new ResourceProviderClient(address, credentials.createInsecure());
  return new Promise<PluginInfo>((resolve, reject) => {
    const answer = (error: ServiceError | null, info: PluginInfo) =>
      error === null ? resolve(info) : reject(error);
    client.waitForReady(Date.now() + DEADLINE_MS, (error) => {
      if (error !== undefined) reject(error);
      else client.getPluginInfo(new Empty(), answer);
    });
  }).finally(() => client.close());
}
