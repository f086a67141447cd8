import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePorts } from "../../../provider/local-cluster/free-port";
import { fetchDownload, sumOf } from "../../../provider/local-cluster/toolchain/official-download";
import { Unreachable } from "../../../provider/local-cluster/toolchain/transfer";

describe("downloads of tools", () => {
  let folder: string;
  let server: Server;
  let base: string;
  const files = new Map<string, Buffer | string>();
  const requests: string[] = [];

  before(async () => {
    const [port = 0] = await freePorts(1);
    base = `http://127.0.0.1:${port}`;
    server = createServer((request, response) => {
      requests.push(request.url ?? "");
      const content = files.get(request.url ?? "");
      if (request.url === "/moved") response.writeHead(302, { location: "/tool" }).end();
      else if (content === undefined) response.writeHead(404).end();
      else response.end(content);
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  });
  after(() => server.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "download-test-"));
    mkdirSync(join(folder, "scratch"));
    files.clear();
    requests.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const options = () => ({ binFolder: join(folder, "bin"), scratchFolder: join(folder, "scratch") });
  const sum = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");

  it("puts a binary of the published sum in place, over a redirect", async () => {
    files.set("/tool", "#!/bin/sh\n").set("/tool.sha256", `${sum("#!/bin/sh\n")}\n`);
    const shares: number[] = [];
    await fetchDownload(
      { url: `${base}/moved`, checksumUrl: `${base}/tool.sha256`, binary: "tool" },
      { ...options(), onProgress: (share) => shares.push(share) },
    );
    assert.equal(readFileSync(join(folder, "bin", "tool"), "utf8"), "#!/bin/sh\n");
    assert.equal(statSync(join(folder, "bin", "tool")).mode & 0o777, 0o755);
    assert.equal(shares.at(-1), 1);
  });

  it("takes the named files out of an archive", async () => {
    mkdirSync(join(folder, "tool-v1"));
    writeFileSync(join(folder, "tool-v1", "tool"), "binary");
    execFileSync("tar", ["-czf", join(folder, "a.tar.gz"), "-C", folder, "tool-v1"]);
    const archive = readFileSync(join(folder, "a.tar.gz"));
    files
      .set("/tool-v1.tar.gz", archive)
      .set("/SUMS", `${sum("x")}  other.tar.gz\n${sum(archive)}  tool-v1.tar.gz\n`);
    await fetchDownload(
      { url: `${base}/tool-v1.tar.gz`, checksumUrl: `${base}/SUMS`, members: ["tool-v1/tool"] },
      options(),
    );
    assert.equal(readFileSync(join(folder, "bin", "tool"), "utf8"), "binary");
  });

  it("refuses a file of another sum, naming both", async () => {
    files.set("/tool", "tampered").set("/tool.sha256", sum("published"));
    await assert.rejects(
      fetchDownload({ url: `${base}/tool`, checksumUrl: `${base}/tool.sha256`, binary: "tool" }, options()),
      new RegExp(`${sum("tampered")}; its publisher names ${sum("published")}`),
    );
  });

  it("leaves a publisher that lacks the file, or does not answer, for another way", async () => {
    const lacking = { url: `${base}/none`, checksumUrl: `${base}/none.sha256`, binary: "none" };
    await assert.rejects(fetchDownload(lacking, options()), Unreachable);
    const seen = requests.length;
    await assert.rejects(fetchDownload(lacking, options()), Unreachable);
    assert.equal(requests.length, seen, "a host that failed is not asked again");
  });

  it("reads lists of sums and single sums", () => {
    const [a, b] = [sum("a"), sum("b")];
    assert.equal(sumOf("b.tgz", `${a}  a.tgz\n${b} *b.tgz\n`), b);
    assert.equal(sumOf("b.tgz", `${b}\n`), b);
    assert.throws(() => sumOf("c.tgz", `${a}  a.tgz\n`), /no SHA-256 sum of c\.tgz/);
    assert.throws(() => sumOf("c.tgz", "<html>"), /no SHA-256 sum/);
  });
});
