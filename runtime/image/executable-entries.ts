import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

import type { LayerEntry } from "./layer";

/** A program of this machine that an image needs. */
export interface Program {
  name: string;
  /** Package of Debian and Ubuntu that holds it, to tell the user. */
  debianPackage: string;
}

const searchFolders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** @throws naming the package if the program is not there */
export function programPath({ name, debianPackage }: Program): string {
  const path = searchFolders.map((folder) => join(folder, name)).find(isExecutable);
  if (path === undefined) {
    throw new Error(
      `the image needs ${name}, which is not installed; on Debian and Ubuntu: apt-get install ${debianPackage}`,
    );
  }
  return path;
}

/** The entries for an executable: itself at `target` and the shared libraries and the loader that it names, at their own paths. */
export async function executableEntries(source: string, target: string): Promise<LayerEntry[]> {
  const libraries = await sharedLibraries(source);
  return [
    { path: target, source, mode: 0o755 },
    ...libraries.map((path) => ({ path, source: path, mode: 0o755 })),
  ];
}

/**
 * The name services that the C library opens by name at run time. From glibc 2.34 on they are part of it; before, host names do not
 * resolve without them.
 */
export function nameServiceEntries(libraryPaths: readonly string[]): LayerEntry[] {
  const folder = libraryPaths
    .filter((path) => basename(path).startsWith("libc.so"))
    .map((path) => dirname(path))[0];
  if (folder === undefined) return [];
  return ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"]
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => ({ path, source: path, mode: 0o755 }));
}

/** The paths that the dynamic loader resolves; none for a static executable. */
export async function sharedLibraries(executable: string): Promise<string[]> {
  let output: string;
  try {
    output = (await promisify(execFile)("ldd", [executable])).stdout;
  } catch (error) {
    const said =
      error instanceof Error && "stderr" in error ? `${String(error.stderr)}${error.message}` : String(error);
    if (said.includes("not a dynamic executable")) return [];
    throw new Error(`cannot list the shared libraries of ${executable}: ${said}`, { cause: error });
  }
  return parseLibraries(output);
}

/** Reads what `ldd` prints. @throws naming a library that is not found */
export function parseLibraries(output: string): string[] {
  const missing = /^\s*(\S+) => not found/m.exec(output);
  if (missing !== null) throw new Error(`the shared library ${missing[1]} is not installed`);
  return [...output.matchAll(/(?:=>|^)\s*(\/\S+)\s+\(0x/gm)].flatMap(([, path]) =>
    path === undefined ? [] : [path],
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
