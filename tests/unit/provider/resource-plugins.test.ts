import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { pluginVersion } from "../../../provider/engine/plugin-version";
import { ensureResourcePlugins, findPlugin } from "../../../provider/engine/resource-plugins";
import { sdkVersion } from "../../../provider/local-cluster/toolchain/tool-catalogue";

const BINARY = "pulumi-resource-kubernetes";
const version = sdkVersion("kubernetes");
const architecture = process.arch === "x64" ? "amd64" : process.arch;
const archive = `${BINARY}-v${version}-${process.platform}-${architecture}.tar.gz`;

describe("resource plugins", () => {
  let folder: string;
  let environment: NodeJS.ProcessEnv;
  const cache = process.env["PULUMI_LIQO_CACHE"];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "resource-plugins-test-"));
    process.env["PULUMI_LIQO_CACHE"] = join(folder, "cache");
    mkdirSync(join(folder, "tools"));
    environment = {
      PATH: `${join(folder, "path")}:/usr/bin:/bin`,
      PULUMI_HOME: join(folder, "home"),
      PULUMI_LIQO_TOOLS: join(folder, "tools"),
    };
  });
  afterEach(() => {
    if (cache === undefined) delete process.env["PULUMI_LIQO_CACHE"];
    else process.env["PULUMI_LIQO_CACHE"] = cache;
    rmSync(folder, { recursive: true, force: true });
  });
  const place = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, 0o755);
    return path;
  };
  /** Puts a plugin that is this script into the folder of tools. */
  const supply = (script: string) => {
    place(join(folder, "content", BINARY), script);
    const file = join(folder, "tools", archive);
    execFileSync("tar", ["-czf", file, "-C", join(folder, "content"), BINARY]);
    const sum = createHash("sha256").update(readFileSync(file)).digest("hex");
    writeFileSync(join(folder, "tools", "SHA256SUMS"), `${sum}  ${archive}\n`);
  };
  const ensure = () => ensureResourcePlugins(["kubernetes"], "/nonexistent/pulumi", { environment });

  it("come from the folder of tools as long as the variable names it, and stay out of the engine's own folder", async () => {
    supply("#!/bin/sh\n");
    const folders = await ensure();
    assert.equal(folders.length, 1);
    const [first = ""] = folders;
    assert.ok(first.startsWith(join(folder, "cache", "tools", `pulumi-kubernetes-${version}-archive-`)));
    assert.equal(findPlugin("kubernetes", { ...environment, PATH: first }), join(first, BINARY));
    assert.ok(!existsSync(join(folder, "home")));
    assert.equal(findPlugin("kubernetes", environment), undefined);
  });

  it("on the PATH, or in the engine's own folder, go before those of the folder of tools", async () => {
    supply("#!/bin/sh\n");
    const installed = join(folder, "home", "plugins", `resource-kubernetes-v${version}`, BINARY);
    place(installed, "#!/bin/sh\n");
    assert.deepEqual(await ensure(), []);
    assert.equal(findPlugin("kubernetes", environment), installed);
    const ambient = place(join(folder, "path", BINARY), "#!/bin/sh\n");
    assert.deepEqual(await ensure(), []);
    assert.equal(findPlugin("kubernetes", environment), ambient);
  });

  it("tell their version", async () => {
    const module = (name: string) => JSON.stringify(createRequire(__filename).resolve(name));
    const script = `#!${process.execPath}
const grpc = require(${module("@grpc/grpc-js")});
const { ResourceProviderService } = require(${module("@pulumi/pulumi/proto/provider_grpc_pb.js")});
const { PluginInfo } = require(${module("@pulumi/pulumi/proto/plugin_pb.js")});
const server = new grpc.Server();
server.addService(ResourceProviderService, {
  getPluginInfo: (_, answer) => answer(null, new PluginInfo().setVersion("v4.7.11")),
});
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_, port) => console.log(port));
`;
    place(join(folder, "path", BINARY), script);
    const engine = (path: string) => ({ pulumi: "", environment: { PATH: path } });
    assert.equal(await pluginVersion("kubernetes", engine(join(folder, "path"))), "4.7.11");
    place(join(folder, "path", BINARY), "#!/bin/sh\nexit 3\n");
    await assert.rejects(
      pluginVersion("kubernetes", engine(join(folder, "path"))),
      /pulumi-resource-kubernetes ended with code 3 before it told its port/,
    );
    await assert.rejects(
      pluginVersion("random", engine(join(folder, "path"))),
      /the Pulumi engine has no plugin random; name it in resourcePlugins/,
    );
  });
});
