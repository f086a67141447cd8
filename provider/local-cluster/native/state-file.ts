import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

import { z } from "zod";

/**
 * What an earlier command left in a file; undefined where there is none.
 *
 * @param wayOut what to do when the file is not readable, such as `remove the cluster`
 * @throws if it was damaged, or another version wrote it
 */
export async function readStateFile<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  wayOut: string,
): Promise<z.output<Schema> | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const parsed = schema.safeParse(parsedJson(text));
  if (parsed.success) return parsed.data;
  const fault = z.prettifyError(parsed.error).replaceAll("\n", " ");
  throw new Error(`${file} is not readable by this version (${fault}); ${wayOut}`, { cause: parsed.error });
}

/** Replaces the file as a whole: whoever is killed meanwhile leaves what was there before. */
export async function writeStateFile(file: string, state: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.draft`;
  await writeFile(draft, JSON.stringify(state, undefined, 2), { mode: 0o600 });
  await rename(draft, file);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no schema takes it
  }
}
