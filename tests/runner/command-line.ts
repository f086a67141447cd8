/** The words of `npm test -- …`. */
import { parseArgs } from "node:util";

export interface CommandLine {
  /** Parts of paths; empty for all files. */
  words: string[];
  /** The revision that the working tree is compared with, to run what the difference concerns. */
  changedSince?: string;
  /** Folder that the coverage of all processes is written to. */
  coverage?: string;
}

export const USAGE =
  "npm test [-- PART-OF-A-PATH… | -- --changed [REVISION]] [--coverage FOLDER]; without words the whole suite runs";

/** @throws naming the word that is not understood, and the usage */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parse(args);
  const { changed = false, coverage } = values;
  const [revision, ...more] = changed ? positionals : [];
  if (more.length > 0)
    throw new Error(
      `--changed takes one revision, and there is "${more.join(" ")}" beside "${revision}"; usage: ${USAGE}`,
    );
  return {
    words: changed ? [] : positionals,
    ...(changed && { changedSince: revision ?? "HEAD" }),
    ...(coverage !== undefined && { coverage }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { changed: { type: "boolean" }, coverage: { type: "string" } },
    });
  } catch (cause) {
    const [first = ""] = (cause instanceof Error ? cause.message : String(cause)).split(". ");
    throw new Error(`${first}; usage: ${USAGE}`, { cause });
  }
}
