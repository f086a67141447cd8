import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ensureTools } from "../../../provider/local-cluster/toolchain";
import { toolFolder } from "../../../provider/local-cluster/toolchain/cache-entry";
import { buildTool } from "../../../provider/local-cluster/toolchain/go-build";
import type { Tool } from "../../../provider/local-cluster/toolchain/tool";
import { toolCatalogue } from "../../../provider/local-cluster/toolchain/tool-catalogue";

describe("the toolchain", () => {
  let folder: string;
  const cache = process.env["PULUMI_LIQO_CACHE"];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "toolchain-test-"));
    process.env["PULUMI_LIQO_CACHE"] = join(folder, "cache");
  });
  afterEach(() => {
    if (cache === undefined) delete process.env["PULUMI_LIQO_CACHE"];
    else process.env["PULUMI_LIQO_CACHE"] = cache;
    rmSync(folder, { recursive: true, force: true });
  });
  const place = (path: string, output: string) => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, `#!/bin/sh\necho "${output}"\n`);
    chmodSync(path, 0o755);
  };

  it("uses what is on the PATH if its version fits, else what is in the cache", async () => {
    const cached = join(toolFolder(toolCatalogue.etcd), "bin", "etcd");
    place(cached, "");
    const path = join(folder, "path");
    place(join(path, "etcd"), "etcd Version: 3.4.0");
    const environment = { ...process.env, PATH: `${path}:/usr/bin:/bin`, PULUMI_LIQO_TOOLS: "" };
    assert.equal((await ensureTools(["etcd"], { environment })).of("etcd"), cached);
    place(join(path, "etcd"), "etcd Version: 3.6.99");
    const tools = await ensureTools(["etcd"], { environment });
    assert.equal(tools.of("etcd"), join(path, "etcd"));
    assert.deepEqual(tools.folders(), [path]);
    assert.throws(() => tools.of("kubelet"), /kubelet is not among the tools asked for: etcd/);
  });

  it("takes no wireguard-go that has one packet at a time", () => {
    const { accepts } = toolCatalogue["wireguard-go"].probe ?? assert.fail();
    assert.ok(!accepts("wireguard-go v0.0.20220316\n\nUserspace WireGuard daemon"));
    assert.ok(accepts("wireguard-go v0.0.20230223\n") && accepts("wireguard-go v0.0.20250522\n"));
  });

  it("takes a set of programs from the PATH only if it is complete", async () => {
    const path = join(folder, "path");
    place(join(path, "kube-apiserver"), "Kubernetes v1.34.9");
    for (const binary of toolCatalogue.kubernetes.binaries)
      place(join(toolFolder(toolCatalogue.kubernetes), "bin", binary), "");
    const tools = await ensureTools(["kubernetes"], {
      environment: { ...process.env, PATH: `${path}:/bin`, PULUMI_LIQO_TOOLS: "" },
    });
    assert.equal(
      tools.of("kube-apiserver"),
      join(toolFolder(toolCatalogue.kubernetes), "bin", "kube-apiserver"),
    );
  });

  it("builds a module, with a link for each name of a multi-call binary", async function () {
    this.timeout(120_000);
    const module = join(folder, "module");
    mkdirSync(module);
    writeFileSync(join(module, "go.mod"), "module example.com/tool\n\ngo 1.22\n");
    writeFileSync(
      join(module, "main.go"),
      'package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"path/filepath"\n)\n\nvar version = "none"\n\nfunc main() { fmt.Println(filepath.Base(os.Args[0]), version) }\n',
    );
    const tool: Tool = {
      name: "tool",
      version: "7.8.9",
      binaries: ["one", "two"],
      build: { module: "tool", multiCall: true, minutes: 1, variables: { "main.version": "7.8.9" } },
    };
    const binFolder = join(folder, "bin");
    await buildTool(tool, { moduleFolder: module, binFolder, scratchFolder: folder });
    assert.equal(execFileSync(join(binFolder, "two"), { encoding: "utf8" }), "two 7.8.9\n");
    assert.ok(lstatSync(join(binFolder, "one")).isSymbolicLink());
    assert.equal(readlinkSync(join(binFolder, "one")), "tool");
  });

  it("names the tool when a build fails", async function () {
    this.timeout(180_000);
    writeFileSync(join(folder, "go.mod"), "module example.com/tool\n\ngo 1.22\n");
    writeFileSync(join(folder, "main.go"), "package main\n\nfunc main() { nothing() }\n");
    const tool: Tool = {
      name: "tool",
      version: "7.8.9",
      binaries: ["tool"],
      build: { module: "tool", minutes: 1 },
    };
    await assert.rejects(
      buildTool(tool, { moduleFolder: folder, binFolder: join(folder, "bin"), scratchFolder: folder }),
      /building tool 7\.8\.9 failed: .*undefined: nothing/s,
    );
  });
});
