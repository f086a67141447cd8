import { statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";

import { runCommand } from "../run-command";
import {
  archiveFolder,
  findEntry,
  makeEntry,
  type Draft,
  type EntryOptions,
  type Found,
} from "./cache-entry";
import { findSum, installChecked, type CheckedFile } from "./official-download";
import type { Platform, SuppliedArchive, Supply, Tool } from "./tool";
import { Absent, shownUrl, Transfer, Unreachable } from "./transfer";

const VARIABLE = "PULUMI_LIQO_TOOLS";

/** Something about the folder or mirror of tools, or about what it holds, that its owner has to mend. */
export class ToolSourceFault extends Error {}

/** What a folder or mirror of tools has for a tool. */
export type SupplyAnswer =
  | { readonly kind: "supplied"; readonly found: Found }
  /** It has nothing, or does not answer: the next way is tried. */
  | { readonly kind: "none"; readonly reason: string; readonly silent: boolean };

/** Mirrors that did not answer in this process, with the reason: not asked again for every tool. */
const silentMirrors = new Map<string, string>();

/**
 * The folder or mirror of tools that the environment names in `PULUMI_LIQO_TOOLS`, as a URL that ends with a slash; undefined if none is
 * named.
 *
 * @throws ToolSourceFault if the value is neither a folder that exists nor the URL of a mirror
 */
export function toolSource(environment: NodeJS.ProcessEnv = process.env): URL | undefined {
  const value = environment[VARIABLE] ?? "";
  if (value === "") return undefined;
  const fault = (reason: string) =>
    new ToolSourceFault(`${VARIABLE} is "${value}", ${reason}, or unset ${VARIABLE}`);
  if (/^[a-z][a-z0-9+.-]*:/i.test(value)) {
    const url = URL.parse(value);
    if (url === null || !["http:", "https:"].includes(url.protocol) || url.search !== "" || url.hash !== "")
      throw fault("which is no URL of a mirror; write it as in https://mirror.example/tools");
    if (url.username !== "" || url.password !== "") {
      // The value is not shown: it holds a password.
      throw new ToolSourceFault(
        `${VARIABLE} holds a user name or a password; name a mirror that asks for none, or copy its files to a folder and name that`,
      );
    }
    if (!url.pathname.endsWith("/")) url.pathname += "/";
    return url;
  }
  if (!isAbsolute(value))
    throw fault("which is no absolute path; programs run in folders of their own: write the path from / on");
  if (statSync(value, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw fault("which is no folder; make it or name another");
  return pathToFileURL(join(value, "/"));
}

/**
 * Puts a tool's archives from a folder or mirror into the cache, each compared with the sum beside it, or finds them there.
 *
 * @throws ToolSourceFault if an archive has no sum or another one, or holds another version
 */
export async function supplyTool(
  tool: Tool,
  source: URL,
  platform: Platform,
  options: Omit<EntryOptions, "purpose" | "lock">,
): Promise<SupplyAnswer> {
  const supply = supplyOf(tool, platform);
  if (supply === undefined) return none(`there is no ${tool.name} for ${platform.os}`);
  const silence = silentMirrors.get(source.href);
  if (silence !== undefined) return none(silence, true);
  const { signal } = options;
  const transfer = new Transfer(signal ? { signal } : {});
  try {
    const looked = await Promise.all(supply.archives.map((archive) => lookUp(archive, source, transfer)));
    const missing = supply.archives.filter((_, index) => looked[index] === undefined);
    if (missing.length > 0)
      return none(`${shown(source)} lacks ${missing.map(({ file }) => file).join(", ")}`);
    const files = looked.filter((file) => file !== undefined);
    const sums = files.map(({ sum }) => sum);
    const folder = archiveFolder(tool.name, supply.version, sums);
    const present = findEntry(folder, tool);
    if (present !== undefined) return { kind: "supplied", found: present };
    const purpose = `${tool.name} ${supply.version}`;
    options.progress?.(`${purpose}: taken from ${shown(source)}`);
    const found = await makeEntry(
      folder,
      tool,
      { ...options, purpose, lock: `${folder}.lock` },
      async (draft) => {
        for (const file of files) await install(file, transfer, draft, signal);
        await assertVersion(tool, supply, source, draft);
      },
    );
    return { kind: "supplied", found };
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    const reason = `${VARIABLE}: ${error.message}`;
    silentMirrors.set(source.href, reason);
    return none(reason, true);
  } finally {
    await transfer.close();
  }
}

/** A tool's archives under the names that their publishers give them; undefined where there are none for the platform. */
export function supplyOf(tool: Tool, platform: Platform): Supply | undefined {
  if (tool.supply !== undefined) return tool.supply(platform);
  const archives = tool.download?.(platform)?.map(({ url, checksumUrl, ...archive }): SuppliedArchive => {
    return { ...archive, file: fileName(url), sums: [fileName(checksumUrl)] };
  });
  return archives && { version: tool.version, archives };
}

/** An archive with its sum; undefined if it is not there. */
async function lookUp(
  archive: SuppliedArchive,
  source: URL,
  transfer: Transfer,
): Promise<CheckedFile | undefined> {
  const { file } = archive;
  const url = new URL(file, source).href;
  if (!(await transfer.has(url))) return undefined;
  const lists = [...new Set([`${file}.sha256`, ...(archive.sums ?? []), "SHA256SUMS"])];
  for (const list of lists) {
    const text = await transfer.text(new URL(list, source).href).catch((error: unknown) => {
      if (error instanceof Absent) return "";
      throw error;
    });
    const sum = findSum(file, text);
    if (sum !== undefined) return { ...archive, url, sum, authority: `${list} beside it` };
  }
  throw new ToolSourceFault(
    `${shown(source)} has ${file} without a SHA-256 sum, so it was not used; put one into ${lists.join(" or ")} beside it, with sha256sum, or unset ${VARIABLE}`,
  );
}

async function install(
  file: CheckedFile,
  transfer: Transfer,
  draft: Draft,
  signal: AbortSignal | undefined,
): Promise<void> {
  await installChecked(file, transfer, draft).catch((cause: unknown) => {
    signal?.throwIfAborted();
    if (cause instanceof Unreachable) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ToolSourceFault(
      `${reason}; put a sound copy of the file and its sum there, or unset ${VARIABLE}`,
      { cause },
    );
  });
}

/** The files of some publishers have no version in their names, so that those of another version may lie there. */
async function assertVersion(tool: Tool, supply: Supply, source: URL, draft: Draft): Promise<void> {
  const { probe } = tool;
  if (probe === undefined) return;
  for (const binary of tool.binaries) {
    const path = join(draft.binFolder, binary);
    const args = probe.otherArgs?.[binary] ?? probe.args;
    const output = await runCommand(path, args, { timeoutMs: 20_000 }).catch((error: unknown) =>
      error instanceof Error ? error.message.replaceAll(path, binary) : String(error),
    );
    if (probe.accepts(output)) continue;
    const said = output.trim().split("\n")[0] ?? "";
    throw new ToolSourceFault(
      `${shown(source)} has a ${binary} that says "${said}", and ${tool.name} ${supply.version} is wanted; it was not used: put that version there, or unset ${VARIABLE}`,
    );
  }
}

function none(reason: string, silent = false): SupplyAnswer {
  return { kind: "none", reason, silent };
}

function shown(source: URL): string {
  return shownUrl(source.href).replace(/(.)\/$/, "$1");
}

function fileName(url: string): string {
  return basename(new URL(url).pathname);
}
