import type { z } from "zod";
import type { FlagSchema } from "./flags";

/** What stands on a command line: `liqo-runtime <component>[,<component>] --flag=value …`. */
export interface CommandLine {
  components: string[];
  /** Texts of each flag, by its name in kebab case, in the order given. */
  flags: ReadonlyMap<string, readonly string[]>;
}

/** A command line that cannot be understood. The message names the word or flag and what may stand there. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Splits a command line. A value stands after `=`, or is the next word; a flag before another flag, or at the end, has the empty text.
 *
 * @param words without the program
 */
export function splitCommandLine(words: readonly string[]): CommandLine {
  const [names = "", ...rest] = words;
  const components = names.split(",").filter((name) => name !== "");
  if (names.startsWith("-") || components.length === 0) {
    throw new UsageError(
      "name the component to run first: liqo-runtime <component>[,<component>] --flag=value …",
    );
  }
  const flags = new Map<string, string[]>();
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? "";
    const match = /^--?([A-Za-z][\w.-]*)(?:=(.*))?$/s.exec(word);
    if (match === null) throw new UsageError(`"${word}" is not a flag; write --name=value`);
    const [, name = "", attached] = match;
    const next = rest[index + 1];
    const value = attached ?? (next !== undefined && !next.startsWith("-") ? (index++, next) : "");
    flags.set(name, [...(flags.get(name) ?? []), value]);
  }
  return { components, flags };
}

/**
 * The values of the flags of a schema. Other flags are left alone: see {@link refuseUnknownFlags}.
 *
 * @throws UsageError with one line for each faulty flag
 */
export function readFlags<Schema extends FlagSchema>(line: CommandLine, schema: Schema): z.output<Schema> {
  const given = Object.fromEntries(
    Object.keys(schema.shape).map((key) => [key, line.flags.get(flagName(key))]),
  );
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw new UsageError(
    result.error.issues
      .map((issue) => `--${flagName(String(issue.path[0] ?? ""))} ${issue.message}`)
      .join("\n"),
  );
}

/** @throws UsageError that names the first flag that none of the schemas has, and the most similar one that exists */
export function refuseUnknownFlags(line: CommandLine, schemas: readonly FlagSchema[]): void {
  const known = new Set(schemas.flatMap(({ shape }) => Object.keys(shape).map(flagName)));
  for (const name of line.flags.keys()) {
    if (known.has(name) || name.startsWith("klog.")) continue;
    const [similar] = [...known].sort((left, right) => distance(name, left) - distance(name, right));
    throw new UsageError(
      `--${name} is not a flag of ${line.components.join(", ")}${similar === undefined ? "" : `; did you mean --${similar}?`}`,
    );
  }
}

/** `caOverride` is `--ca-override`, `defaultLimitsEnforcement` is `--default-limits-enforcement`. */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Levenshtein's. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
