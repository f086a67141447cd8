import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

import { pack, type Pack } from "tar-stream";

/** One entry of an image's file system. Paths are absolute. */
export type LayerEntry =
  | { path: string; directory: true; mode?: number }
  | { path: string; linkTo: string }
  | { path: string; content: string | Uint8Array; mode?: number }
  /** Copy of a file on this machine; links are followed. */
  | { path: string; source: string; mode?: number };

export interface Layer {
  /** The uncompressed tar. */
  file: string;
  /** `sha256:…` of the tar. */
  digest: string;
  size: number;
}

/**
 * Writes a layer as an uncompressed tar below `folder`, or finds the one written before for the same entries and marks it as used. The same
 * entries give the same bytes: sorted, owned by root, of the time 0. A source file counts as the same while its path, size and time are.
 */
export async function writeLayer(entries: readonly LayerEntry[], folder: string): Promise<Layer> {
  const sorted = [...withParents(entries)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  const key = await keyOf(sorted);
  const file = join(folder, `${key}.tar`);
  const digestFile = join(folder, `${key}.digest`);
  try {
    const now = new Date();
    for (const used of [digestFile, file]) await utimes(used, now, now);
    return { file, digest: await readFile(digestFile, "utf8"), size: (await stat(file)).size };
  } catch {
    // not written yet
  }
  await mkdir(folder, { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  try {
    const archive = pack();
    const hash = createHash("sha256");
    const hashed = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    await Promise.all([addAll(archive, sorted), pipeline(archive, hashed, createWriteStream(draft))]);
    const digest = `sha256:${hash.digest("hex")}`;
    await rename(draft, file);
    await writeFile(digestFile, digest);
    return { file, digest, size: (await stat(file)).size };
  } finally {
    await rm(draft, { force: true });
  }
}

/** The entries by path, with the folders above them. */
function withParents(entries: readonly LayerEntry[]): Map<string, LayerEntry> {
  const all = new Map<string, LayerEntry>();
  for (const entry of entries) {
    const parts = entry.path.split("/").slice(1, -1);
    for (let depth = 1; depth <= parts.length; depth++) {
      const path = `/${parts.slice(0, depth).join("/")}`;
      if (!all.has(path)) all.set(path, { path, directory: true });
    }
    all.set(entry.path, entry);
  }
  return all;
}

async function keyOf(entries: readonly LayerEntry[]): Promise<string> {
  const hash = createHash("sha256");
  for (const entry of entries) {
    if ("source" in entry) {
      const { size, mtimeMs } = await stat(entry.source);
      hash.update(JSON.stringify([entry, size, mtimeMs]));
    } else if ("content" in entry) {
      hash.update(JSON.stringify([entry.path, entry.mode, entry.content.length])).update(entry.content);
    } else {
      hash.update(JSON.stringify(entry));
    }
  }
  return hash.digest("hex").slice(0, 32);
}

async function addAll(archive: Pack, entries: readonly LayerEntry[]): Promise<void> {
  try {
    for (const entry of entries) await add(archive, entry);
    archive.finalize();
  } catch (error) {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

async function add(archive: Pack, entry: LayerEntry): Promise<void> {
  const common = { name: entry.path.slice(1), mtime: new Date(0), uid: 0, gid: 0 };
  if ("directory" in entry) {
    archive.entry({ ...common, type: "directory", mode: entry.mode ?? 0o755 });
  } else if ("linkTo" in entry) {
    archive.entry({ ...common, type: "symlink", linkname: entry.linkTo, mode: 0o777 });
  } else if ("content" in entry) {
    archive.entry({ ...common, mode: entry.mode ?? 0o644 }, Buffer.from(entry.content));
  } else {
    const { size } = await stat(entry.source);
    await pipeline(
      createReadStream(entry.source),
      archive.entry({ ...common, mode: entry.mode ?? 0o755, size }),
    );
  }
}
