import { chmod, mkdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";

import { runCommand } from "../run-command";
import type { Archive, Download } from "./tool";
import { shownUrl, Transfer, type TransferOptions, Unreachable } from "./transfer";

/** Hosts that did not answer in this process: not tried again for every tool. */
const unreachableHosts = new Set<string>();

export interface InstallOptions {
  binFolder: string;
  scratchFolder: string;
  /** Receives the share fetched, 0 to 1, where the size is known. */
  onProgress?: (share: number) => void;
}

export type DownloadOptions = InstallOptions & TransferOptions;

/** A file that may be used if it has the sum. */
export interface CheckedFile extends Archive {
  readonly url: string;
  readonly sum: string;
  /** Who names the sum, for the error: `its publisher`. */
  readonly authority: string;
}

/**
 * Fetches one file, compares it with the publisher's SHA-256 sum and puts its binaries in a folder.
 *
 * @throws Unreachable if the host does not answer; an Error naming both sums if the file is not the one published
 */
export async function fetchDownload(download: Download, options: DownloadOptions): Promise<void> {
  const { url, checksumUrl } = download;
  const host = new URL(url).host;
  if (unreachableHosts.has(host)) throw new Unreachable(url, "it failed before");
  const transfer = new Transfer(options);
  try {
    const sum = sumOf(basename(new URL(url).pathname), await transfer.text(checksumUrl));
    await installChecked({ ...download, sum, authority: "its publisher" }, transfer, options);
  } catch (error) {
    if (error instanceof Unreachable) unreachableHosts.add(host);
    throw error;
  } finally {
    await transfer.close();
  }
}

/**
 * Fetches one file, compares it with a SHA-256 sum and puts its binaries in a folder.
 *
 * @throws Unreachable if the host does not answer; an Error naming both sums if the file has another
 */
export async function installChecked(
  file: CheckedFile,
  transfer: Transfer,
  options: InstallOptions,
): Promise<void> {
  const copy = join(options.scratchFolder, basename(new URL(file.url).pathname));
  const actual = await transfer.file(file.url, copy, options.onProgress);
  if (actual !== file.sum) {
    throw new Error(
      `${shownUrl(file.url)} has the SHA-256 sum ${actual}; ${file.authority} names ${file.sum}; it was not used`,
    );
  }
  await unpack(file, copy, options);
}

/** The sum of a file in a publisher's list, or the only sum there. */
export function sumOf(file: string, list: string): string {
  const sum = findSum(file, list);
  if (sum === undefined) throw new Error(`no SHA-256 sum of ${file} among the publisher's checksums`);
  return sum;
}

/** The same; undefined if the list names no sum of the file. */
export function findSum(file: string, list: string): string | undefined {
  const lines = list.split("\n").map((line) => line.trim().split(/\s+\*?/));
  const line =
    lines.find(([, name]) => name === file || name === `./${file}`) ??
    (lines[0]?.length === 1 ? lines[0] : undefined);
  const sum = line?.[0];
  return sum !== undefined && /^[0-9a-f]{64}$/.test(sum) ? sum : undefined;
}

async function unpack({ members, binary }: Archive, file: string, options: InstallOptions): Promise<void> {
  await mkdir(options.binFolder, { recursive: true });
  if (members !== undefined) {
    await runCommand("tar", ["-xzf", file, "-C", options.scratchFolder, ...members]);
  }
  for (const path of members?.map((member) => join(options.scratchFolder, member)) ?? [file]) {
    const target = join(options.binFolder, binary ?? basename(path));
    await rename(path, target);
    await chmod(target, 0o755);
  }
}
