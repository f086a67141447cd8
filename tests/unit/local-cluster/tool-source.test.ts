import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { freePorts } from "../../../provider/local-cluster/free-port";
import { obtainTools } from "../../../provider/local-cluster/toolchain";
import { toolFolder } from "../../../provider/local-cluster/toolchain/cache-entry";
import type { Tool } from "../../../provider/local-cluster/toolchain/tool";
import { sdkVersion, toolCatalogue } from "../../../provider/local-cluster/toolchain/tool-catalogue";
import { supplyOf, toolSource } from "../../../provider/local-cluster/toolchain/tool-source";

describe("the folder or mirror of tools", () => {
  let folder: string;
  let tools: string;
  let lines: string[];
  const cache = process.env["PULUMI_LIQO_CACHE"];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tool-source-test-"));
    tools = join(folder, "tools");
    lines = [];
    process.env["PULUMI_LIQO_CACHE"] = join(folder, "cache");
    mkdirSync(tools);
    mkdirSync(join(folder, "module"));
    // Not a module at all: whoever comes to build it fails at once.
    writeFileSync(join(folder, "module", "go.mod"), "nothing\n");
  });
  afterEach(() => {
    if (cache === undefined) delete process.env["PULUMI_LIQO_CACHE"];
    else process.env["PULUMI_LIQO_CACHE"] = cache;
    rmSync(folder, { recursive: true, force: true });
  });

  /** A tool that is packed in an archive and one that is the file itself. */
  const packed = (): Tool => ({
    name: "ferry",
    version: "7.8.9",
    binaries: ["ferry"],
    probe: { args: ["--version"], accepts: (output) => /^ferry 7\.8\.\d$/m.test(output) },
    supply: () => ({
      version: "7.8.9",
      archives: [
        { file: "ferry-v7.8.9.tar.gz", sums: ["ferry-7.8.9-checksums.txt"], members: ["ferry-v7/ferry"] },
      ],
    }),
    build: { module: join(folder, "module"), minutes: 2 },
  });
  const plain = (): Tool => ({
    ...packed(),
    supply: () => ({ version: "7.8.9", archives: [{ file: "ferry", binary: "ferry" }] }),
  });
  const script = (says: string) => `#!/bin/sh\necho "${says}"\n`;
  const sum = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");
  const place = (file: string, content: Buffer | string) => writeFileSync(join(tools, file), content);
  const pack = (says: string): Buffer => {
    const content = join(folder, "content");
    mkdirSync(join(content, "ferry-v7"), { recursive: true });
    writeFileSync(join(content, "ferry-v7", "ferry"), script(says));
    execFileSync("tar", ["-czf", join(folder, "packed.tar.gz"), "-C", content, "ferry-v7"]);
    return readFileSync(join(folder, "packed.tar.gz"));
  };
  const putInCache = (tool: Tool) => {
    const path = join(toolFolder(tool), "bin", "ferry");
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, script("ferry 7.8.0"));
    chmodSync(path, 0o755);
    return path;
  };
  const obtain = async (tool: Tool, source: string | undefined = tools) => {
    const environment = { ...process.env, PULUMI_LIQO_TOOLS: source };
    return (await obtainTools([tool], { environment, progress: (line) => lines.push(line) })).of("ferry");
  };
  const run = (path: string) => execFileSync(path, { encoding: "utf8" }).trim();

  it("supplies a tool that fits, with its sum in any of three files", async () => {
    const archive = pack("ferry 7.8.9");
    place("ferry-v7.8.9.tar.gz", archive);
    const sums = {
      "ferry-v7.8.9.tar.gz.sha256": sum(archive),
      "ferry-7.8.9-checksums.txt": `${sum("x")}  other.tar.gz\n${sum(archive)}  ferry-v7.8.9.tar.gz\n`,
      SHA256SUMS: `${sum(archive)} *./ferry-v7.8.9.tar.gz\n`,
    };
    for (const [file, list] of Object.entries(sums)) {
      place(file, list);
      const path = await obtain(packed());
      assert.equal(run(path), "ferry 7.8.9", file);
      assert.equal(basename(join(path, "..", "..")).replace(/[0-9a-f]{12}$/, "…"), "ferry-7.8.9-archive-…");
      rmSync(join(tools, file));
      rmSync(join(folder, "cache"), { recursive: true });
    }
    assert.deepEqual(new Set(lines), new Set([`ferry 7.8.9: taken from ${tools}`]));
  });

  it("goes before what is in the cache, which is used again without the variable", async () => {
    const built = putInCache(packed());
    const archive = pack("ferry 7.8.9");
    place("ferry-v7.8.9.tar.gz", archive);
    place("SHA256SUMS", `${sum(archive)}  ferry-v7.8.9.tar.gz\n`);
    assert.equal(run(await obtain(packed())), "ferry 7.8.9");
    assert.equal(await obtain(packed(), ""), built);
    assert.equal(run(built), "ferry 7.8.0");
  });

  it("supplies a changed archive anew, and finds one that was unpacked before", async () => {
    place("ferry", script("ferry 7.8.1"));
    place("ferry.sha256", sum(script("ferry 7.8.1")));
    const first = await obtain(plain());
    assert.equal(await obtain(plain()), first);
    assert.equal(lines.length, 1);
    place("ferry", script("ferry 7.8.2"));
    place("ferry.sha256", sum(script("ferry 7.8.2")));
    const second = await obtain(plain());
    assert.notEqual(second, first);
    assert.deepEqual([run(first), run(second)], ["ferry 7.8.1", "ferry 7.8.2"]);
    assert.ok(readFileSync(join(tools, "ferry")).length > 0, "the folder keeps its file");
  });

  it("refuses an archive with another sum, naming the file, both sums and the way out", async () => {
    putInCache(plain());
    place("ferry", script("ferry 7.8.9 and more"));
    place("SHA256SUMS", `${sum("published")}  ferry\n`);
    const [actual, named] = [sum(script("ferry 7.8.9 and more")), sum("published")];
    await assert.rejects(
      obtain(plain()),
      new RegExp(
        `tools/ferry has the SHA-256 sum ${actual}; SHA256SUMS beside it names ${named}; it was not used; put a sound copy .* unset PULUMI_LIQO_TOOLS`,
      ),
    );
  });

  it("refuses an archive without a sum", async () => {
    putInCache(plain());
    place("ferry", script("ferry 7.8.9"));
    const refused =
      /tools has ferry without a SHA-256 sum, so it was not used; put one into ferry\.sha256 or SHA256SUMS beside it/;
    await assert.rejects(obtain(plain()), refused);
    place("SHA256SUMS", `${sum("x")}  other\n`);
    await assert.rejects(obtain(plain()), refused);
  });

  it("refuses another version, naming both", async () => {
    place("ferry", script("ferry 6.0.1"));
    place("ferry.sha256", sum(script("ferry 6.0.1")));
    await assert.rejects(
      obtain(plain()),
      /tools has a ferry that says "ferry 6\.0\.1", and ferry 7\.8\.9 is wanted; it was not used/,
    );
    await assert.rejects(obtain(plain()), /ferry 6\.0\.1/, "it is not in the cache either");
  });

  it("lacks a tool: one line says so, and the next way is tried", async () => {
    await assert.rejects(obtain(packed()), /building ferry 7\.8\.9 failed/);
    assert.equal(lines[0], `ferry 7.8.9 (1 of 1): ${tools} lacks ferry-v7.8.9.tar.gz`);
    const built = putInCache(packed());
    lines.length = 0;
    assert.equal(await obtain(packed()), built);
    assert.deepEqual(lines, []);
  });

  it("is an error where the value names nothing", () => {
    const faults: [string, RegExp][] = [
      [join(folder, "none"), /is ".*none", which is no folder; make it or name another, or unset/],
      [join(folder, "module", "go.mod"), /which is no folder/],
      ["tools", /is "tools", which is no absolute path/],
      ["mirror.example/tools", /which is no absolute path/],
      ["https://", /which is no URL of a mirror; write it as in https:/],
      ["ftp://mirror.example/tools", /which is no URL of a mirror/],
      ["https://mirror.example/tools?a=b", /which is no URL of a mirror/],
    ];
    for (const [value, message] of faults)
      assert.throws(() => toolSource({ PULUMI_LIQO_TOOLS: value }), message, value);
    assert.throws(
      () => toolSource({ PULUMI_LIQO_TOOLS: "https://me:hidden@mirror.example" }),
      (error: Error) =>
        /holds a user name or a password/.test(error.message) && !/hidden/.test(error.message),
    );
    assert.equal(toolSource({ PULUMI_LIQO_TOOLS: "" }), undefined);
    assert.equal(toolSource({}), undefined);
    assert.equal(
      toolSource({ PULUMI_LIQO_TOOLS: "https://mirror.example/tools" })?.href,
      "https://mirror.example/tools/",
    );
  });

  describe("as a mirror", () => {
    let server: Server;
    let port: number;
    before(async () => {
      [port = 0] = await freePorts(1);
      server = createServer((request, response) => {
        const file = (request.url ?? "").replace(/^\/mirror\//, "");
        if (request.url?.startsWith("/closed/") === true) return void response.writeHead(403).end();
        try {
          const content = readFileSync(join(tools, file));
          response.end(request.method === "HEAD" ? undefined : content);
        } catch {
          response.writeHead(404).end();
        }
      });
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    });
    after(() => server.close());

    it("supplies what it has, and refuses what is wrong there", async () => {
      place("ferry", script("ferry 7.8.9"));
      place("ferry.sha256", `${sum(script("ferry 7.8.9"))}  ferry\n`);
      assert.equal(run(await obtain(plain(), `http://127.0.0.1:${port}/mirror`)), "ferry 7.8.9");
      place("ferry.sha256", sum("published"));
      await assert.rejects(
        obtain(plain(), `http://127.0.0.1:${port}/mirror`),
        /mirror\/ferry has the SHA-256 sum \w+; ferry\.sha256 beside it names/,
      );
    });

    it("lacks a tool, and is asked again for the next one", async () => {
      const built = putInCache(plain());
      assert.equal(await obtain(plain(), `http://127.0.0.1:${port}/mirror/`), built);
      place("ferry", script("ferry 7.8.9"));
      place("SHA256SUMS", `${sum(script("ferry 7.8.9"))}  ferry\n`);
      assert.notEqual(await obtain(plain(), `http://127.0.0.1:${port}/mirror/`), built);
    });

    it("does not answer: one line says so, once, and the next way is tried", async () => {
      const [silent = 0] = await freePorts(1);
      const built = putInCache(plain());
      for (const source of [`http://127.0.0.1:${silent}`, `http://127.0.0.1:${port}/closed`]) {
        lines.length = 0;
        assert.equal(await obtain(plain(), source), built);
        assert.equal(await obtain(plain(), source), built);
        assert.equal(lines.length, 1);
        assert.match(
          lines[0] ?? "",
          /^PULUMI_LIQO_TOOLS: no download from 127\.0\.0\.1:\d+: it (cannot be reached|answered 403).*; tools come from the cache, a download or a build instead; correct PULUMI_LIQO_TOOLS or unset it$/,
        );
      }
    });
  });

  it("knows every tool of the catalogue under its publisher's name", () => {
    const platform = { os: "linux", architecture: "amd64" };
    const names = Object.values(toolCatalogue).flatMap((tool: Tool) => {
      return (supplyOf(tool, platform)?.archives ?? []).map(({ file }) => file);
    });
    assert.deepEqual(names, [
      ...toolCatalogue.kubernetes.binaries,
      "etcd-v3.6.16-linux-amd64.tar.gz",
      "coredns_1.12.4_linux_amd64.tgz",
      "pulumi-v3.274.1-linux-x64.tar.gz",
      `pulumi-resource-kubernetes-v${sdkVersion("kubernetes")}-linux-amd64.tar.gz`,
      `pulumi-resource-random-v${sdkVersion("random")}-linux-amd64.tar.gz`,
      "wireguard-go-v0.0.20250522-linux-amd64.tar.gz",
    ]);
  });

  it("asks each of the Kubernetes programs for its version as that one tells it", () => {
    const probe = toolCatalogue.kubernetes.probe ?? assert.fail();
    assert.ok(probe.accepts("Kubernetes v1.34.2\n"));
    assert.ok(probe.accepts("Client Version: v1.34.4\nKustomize Version: v5.7.1\n"));
    assert.ok(!probe.accepts("Client Version: v1.33.4\nKustomize Version: v5.7.1\n"));
  });
});
