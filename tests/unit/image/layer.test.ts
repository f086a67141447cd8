import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { writeImageArchive, writeLayer, type LayerEntry } from "../../../runtime/image";

describe("image layers and archives", () => {
  let folder: string;
  let source: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "layer-test-"));
    source = join(folder, "source");
    writeFileSync(source, "program");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const entries = (): LayerEntry[] => [
    { path: "/usr/bin/program", source },
    { path: "/bin/link", linkTo: "../usr/bin/program" },
    { path: "/etc/settings", content: "a=1\n" },
    { path: "/tmp", directory: true, mode: 0o1777 },
  ];

  it("have the same bytes for the same entries in any order, wherever they are written", async () => {
    const one = await writeLayer(entries(), join(folder, "one"));
    const other = await writeLayer(entries().reverse(), join(folder, "other"));
    assert.equal(one.digest, other.digest);
    assert.equal(one.digest, `sha256:${createHash("sha256").update(readFileSync(one.file)).digest("hex")}`);
    assert.equal(one.size, statSync(one.file).size);
  });

  it("hold files, links and folders of root, from the time 0", async () => {
    const { file } = await writeLayer(entries(), folder);
    const listing = execFileSync("tar", ["--numeric-owner", "-tvf", file], {
      encoding: "utf8",
      env: { ...process.env, TZ: "UTC" },
    });
    const lines = listing
      .trim()
      .split("\n")
      .map((line) => line.replace(/\s+/g, " "));
    assert.deepEqual(lines, [
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 bin",
      "lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/link -> ../usr/bin/program",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 etc",
      "-rw-r--r-- 0/0 4 1970-01-01 00:00 etc/settings",
      "drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 usr",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/bin",
      "-rwxr-xr-x 0/0 7 1970-01-01 00:00 usr/bin/program",
    ]);
  });

  it("are written again only when something changed", async () => {
    const one = await writeLayer(entries(), folder);
    const before = statSync(one.file).ino;
    utimesSync(one.file, 1, 1);
    assert.equal((await writeLayer(entries(), folder)).file, one.file);
    assert.equal(statSync(one.file).ino, before);
    assert.ok(statSync(one.file).mtimeMs > 1_000, "marked as used");
    writeFileSync(source, "other");
    utimesSync(source, 1, 1);
    assert.notEqual((await writeLayer(entries(), folder)).digest, one.digest);
  });

  it("make an archive that names every blob by its digest, in both forms", async () => {
    const layer = await writeLayer(entries(), folder);
    const name = "localhost/test/image:7";
    const { file } = await writeImageArchive(
      { name, layers: [layer], entrypoint: ["/usr/bin/program"], environment: { MODE: "x" } },
      join(folder, "image.tar"),
    );
    execFileSync("tar", ["-xf", file, "-C", folder]);
    const json = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), "utf8"));
    const names = execFileSync("tar", ["-tf", file], { encoding: "utf8" }).trim().split("\n");
    for (const path of names.filter((entry) => entry.startsWith("blobs/"))) {
      assert.equal(
        createHash("sha256")
          .update(readFileSync(join(folder, path)))
          .digest("hex"),
        path.split("/").at(-1),
      );
    }
    const layerPath = `blobs/${layer.digest.replace(":", "/")}`;
    const [docker] = Array.from(Object(json("manifest.json")) as Record<string, unknown>[]);
    assert.deepEqual(docker?.["RepoTags"], [name]);
    assert.deepEqual(docker?.["Layers"], [layerPath]);
    assert.ok(names.includes(layerPath));
    assert.match(
      readFileSync(join(folder, String(docker?.["Config"])), "utf8"),
      /"Env":\["PATH=[^"]+","MODE=x"\]/,
    );
    assert.match(JSON.stringify(json("index.json")), /"io.containerd.image.name":"localhost\/test\/image:7"/);
  });
});
