import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { packageRoot } from "../../runtime/api/package-root";
import { cacheFolder, checkoutPrefix } from "../local-cluster/folders";

/** Comes with the official CLI and stands beside it; the engine looks there first. */
export const languageHost = "pulumi-language-nodejs";
const dynamicProvider = "pulumi-resource-pulumi-nodejs";

/**
 * Puts a CLI that came alone (built from its module) into a folder with what the official archive has beside it: a language host, ours, and
 * the plugin that runs dynamic resources, from the SDK.
 *
 * @returns path of the CLI in that folder
 */
export function bundleEngine(pulumi: string): string {
  const folder = join(cacheFolder(), "engine", checkoutPrefix(), "bin");
  mkdirSync(folder, { recursive: true });
  writeScript(join(folder, languageHost), [process.execPath, join(__dirname, "language-host", "main.js")]);
  writeScript(join(folder, dynamicProvider), [join(sdkFolder(), dynamicProvider)]);
  const bundled = join(folder, "pulumi");
  if (!isSameFile(pulumi, bundled)) {
    replace(bundled, (draft) => {
      try {
        linkSync(pulumi, draft);
      } catch {
        copyFileSync(pulumi, draft); // another file system
      }
    });
  }
  return bundled;
}

/** Folder with `pulumi-resource-pulumi-nodejs`. */
export function sdkFolder(): string {
  const resolve = createRequire(join(packageRoot(), "package.json"));
  return dirname(resolve.resolve("@pulumi/pulumi/package.json"));
}

function writeScript(file: string, command: readonly string[]): void {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  replace(file, (draft) => writeFileSync(draft, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 }));
}

/** In one step: another engine may be starting the present file. */
function replace(file: string, make: (draft: string) => void): void {
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  make(draft);
  renameSync(draft, file);
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (a === undefined || b === undefined) return false;
  return a.ino === b.ino || (a.size === b.size && a.mtimeMs <= b.mtimeMs);
}
