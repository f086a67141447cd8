import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

import { routeTableId } from "./table-id";

/** Read by `ip`, so that people see the names of tables in place of their numbers. The file is ours alone. */
export const TABLE_NAMES_FILE = "/etc/iproute2/rt_tables.d/liqo.conf";

/** The file's text; the same for the same tables. */
export function tableNames(names: readonly string[]): string {
  return [...new Set(names)]
    .sort()
    .map((name) => `${routeTableId(name)}\t${name}\n`)
    .join("");
}

/** Makes the file say the names of these tables; without any, there is no file. */
export async function writeTableNames(names: readonly string[], path = TABLE_NAMES_FILE): Promise<void> {
  const text = tableNames(names);
  const present = await readFile(path, "utf8").catch(() => "");
  if (text === present) return;
  if (text === "") {
    await rm(path, { force: true });
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
