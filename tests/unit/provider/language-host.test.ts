import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  programCommand,
  sdkScript,
  type ProgramRequest,
} from "../../../provider/engine/language-host/program";
import { packageRoot } from "../../../runtime/api/package-root";

const request: ProgramRequest = {
  project: "fleet",
  stack: "dev",
  organization: "organization",
  monitorAddress: "127.0.0.1:1",
  engineAddress: "127.0.0.1:2",
  rootDirectory: "/fleet",
  programDirectory: "/fleet/program",
  entryPoint: "index.ts",
  arguments: [],
  parallel: 16,
  dryRun: false,
  config: { "fleet:name": "rome" },
  secretConfigKeys: ["fleet:token"],
  options: undefined,
};

describe("the language host's command for a program", () => {
  it("tells the runner where everything is", () => {
    assert.deepEqual(programCommand(request, "/sdk/run"), {
      args: [
        "/sdk/run",
        "--monitor=127.0.0.1:1",
        "--engine=127.0.0.1:2",
        "--organization=organization",
        "--project=fleet",
        "--root-directory=/fleet",
        "--stack=dev",
        "--pwd=/fleet/program",
        "--parallel=16",
        "index.ts",
      ],
      env: {
        PULUMI_NODEJS_TYPESCRIPT: "true",
        PULUMI_CONFIG: '{"fleet:name":"rome"}',
        PULUMI_CONFIG_SECRET_KEYS: '["fleet:token"]',
      },
    });
  });

  it("follows the options of Pulumi.yaml, a dry run and a missing entry point", () => {
    const options = { typescript: false, nodeargs: "--max-old-space-size=512  --no-warnings" };
    const { args, env } = programCommand({ ...request, options, dryRun: true, entryPoint: "" }, "/sdk/run");
    assert.deepEqual(args.slice(0, 3), ["--max-old-space-size=512", "--no-warnings", "/sdk/run"]);
    assert.deepEqual(args.slice(-2), ["--dry-run", "."]);
    assert.equal(env["PULUMI_NODEJS_TYPESCRIPT"], "false");
  });

  it("refuses options of another form", () => {
    assert.throws(
      () => programCommand({ ...request, options: { typescript: "yes" } }, "/sdk/run"),
      /typescript/,
    );
  });

  it("takes the runner of the SDK that the program uses, or says that there is none", () => {
    assert.equal(
      sdkScript(packageRoot(), "run"),
      join(packageRoot(), "node_modules", "@pulumi", "pulumi", "cmd", "run", "index.js"),
    );
    const folder = mkdtempSync(join(tmpdir(), "liqo-no-sdk-"));
    try {
      assert.throws(
        () => sdkScript(folder, "run"),
        /@pulumi\/pulumi is not installed for .*; run npm install there/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
