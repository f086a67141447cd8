import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Who set a route or a rule: the kernel keeps this number with each, so agents find what is theirs, and only that, even after what asked for it is
 * gone. Not one that a routing daemon has (`/etc/iproute2/rt_protos`).
 */
export const ROUTE_PROTOCOL = 149;

/**
 * The number of a routing table, from its name: 31 bits, never one that the system uses (up to 255). The same on every host, as upstream computes
 * it (networking reference 13).
 */
export function routeTableId(name: string): number {
  const hash = createHash("sha256").update(name).digest();
  const [a = 0, b = 0, c = 0, d = 0] = hash;
  return (d >>> 1) * 2 ** 24 + c * 2 ** 16 + (b | 1) * 2 ** 8 + a;
}

/** Read by `ip`, so that people see the names of tables in place of their numbers. The file is ours alone. */
const TABLE_NAMES_FILE = "/etc/iproute2/rt_tables.d/liqo.conf";

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
