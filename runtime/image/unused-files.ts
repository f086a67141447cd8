import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** Other checkouts share the folder: what was used within a day may be theirs. */
const UNUSED_MS = 24 * 3_600_000;

/** Which files of a folder go, of those whose name matches: each change of the runtime's source makes some of a hundred megabytes together. */
export interface UnusedFiles {
  name: RegExp;
  /** How many of the newest stay whatever their age. */
  keep: number;
}

/** Removes what nobody used for a day; whoever uses a file sets its time. */
export function removeUnused(folder: string, { name, keep }: UnusedFiles, now = Date.now()): void {
  const files = readdirSync(folder)
    .filter((file) => name.test(file))
    .map((file) => join(folder, file))
    .map((file) => ({ file, time: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now }))
    .sort((a, b) => b.time - a.time);
  for (const { file, time } of files.slice(keep)) if (now - time > UNUSED_MS) rmSync(file, { force: true });
}
