import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, mkdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { type Dispatcher, EnvHttpProxyAgent, request } from "undici";

import { runCommand } from "../run-command";
import type { Download } from "./tool";

/** Hosts that did not answer in this process: not tried again for every tool. */
const unreachableHosts = new Set<string>();

export interface DownloadOptions {
  binFolder: string;
  scratchFolder: string;
  /** Milliseconds to wait for a connection; 3,000 by default. */
  connectTimeoutMs?: number;
  signal?: AbortSignal;
  /** Receives the share fetched, 0 to 1, where the size is known. */
  onProgress?: (share: number) => void;
}

/** The publisher cannot be reached or has no such file: another way may still work. */
export class Unreachable extends Error {
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`no download from ${new URL(url).host}: ${reason}`, options);
    this.name = "Unreachable";
  }
}

/**
 * Fetches one file, compares it with the publisher's SHA-256 sum and puts its binaries in a folder.
 *
 * @throws Unreachable if the host does not answer; an Error naming both sums if the file is not the one published
 */
export async function fetchDownload(download: Download, options: DownloadOptions): Promise<void> {
  const host = new URL(download.url).host;
  if (unreachableHosts.has(host)) throw new Unreachable(download.url, "it failed before");
  const agent = new EnvHttpProxyAgent({ connect: { timeout: options.connectTimeoutMs ?? 3_000 } });
  try {
    const expected = sumOf(
      basename(new URL(download.url).pathname),
      await fetchText(download.checksumUrl, agent, options.signal),
    );
    const file = join(options.scratchFolder, basename(new URL(download.url).pathname));
    const actual = await fetchFile(download.url, file, agent, options);
    if (actual !== expected) {
      throw new Error(
        `${download.url} has the SHA-256 sum ${actual}; its publisher names ${expected}; it was not used`,
      );
    }
    await install(download, file, options);
  } catch (error) {
    if (error instanceof Unreachable) unreachableHosts.add(host);
    throw error;
  } finally {
    await agent.close();
  }
}

/** The sum of a file in a publisher's list, or the only sum there. */
export function sumOf(file: string, list: string): string {
  const lines = list.split("\n").map((line) => line.trim().split(/\s+\*?/));
  const [sum] = lines.find(([, name]) => name === file) ?? (lines[0]?.length === 1 ? lines[0] : []) ?? [];
  if (sum === undefined || !/^[0-9a-f]{64}$/.test(sum))
    throw new Error(`no SHA-256 sum of ${file} among the publisher's checksums`);
  return sum;
}

async function install(download: Download, file: string, options: DownloadOptions): Promise<void> {
  await mkdir(options.binFolder, { recursive: true });
  if (download.members !== undefined) {
    await runCommand("tar", ["-xzf", file, "-C", options.scratchFolder, ...download.members]);
  }
  for (const path of download.members?.map((member) => join(options.scratchFolder, member)) ?? [file]) {
    const target = join(options.binFolder, download.binary ?? basename(path));
    await rename(path, target);
    await chmod(target, 0o755);
  }
}

async function fetchText(url: string, agent: Dispatcher, signal: AbortSignal | undefined): Promise<string> {
  const response = await open(url, agent, signal);
  return response.body.text();
}

async function fetchFile(
  url: string,
  path: string,
  agent: Dispatcher,
  options: DownloadOptions,
): Promise<string> {
  const { body, headers } = await open(url, agent, options.signal);
  const total = Number(headers["content-length"]);
  const hash = createHash("sha256");
  let seen = 0;
  async function* measured(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      seen += chunk.length;
      if (total > 0) options.onProgress?.(seen / total);
      yield chunk;
    }
  }
  await pipeline(Readable.from(body), measured, createWriteStream(path));
  return hash.digest("hex");
}

/** GET that follows up to five redirects, as release pages answer with. */
async function open(url: string, agent: Dispatcher, signal: AbortSignal | undefined) {
  let target = url;
  for (let redirects = 0; redirects < 5; redirects++) {
    const response = await request(target, { dispatcher: agent, ...(signal && { signal }) }).catch(
      (cause: unknown) => {
        signal?.throwIfAborted();
        throw new Unreachable(target, "it cannot be reached from here", { cause });
      },
    );
    if (response.statusCode === 200) return response;
    await response.body.dump();
    const location = response.headers.location;
    if (response.statusCode < 300 || response.statusCode >= 400 || typeof location !== "string") {
      throw new Unreachable(target, `it answered ${response.statusCode}`);
    }
    target = new URL(location, target).href;
  }
  throw new Unreachable(url, "it redirects too often");
}
