/** The names of tables for people, in the file that `ip` reads them from (`/etc/iproute2/rt_tables`). */

const entry = /^\s*(\d+)\s+(\S+)/;

/**
 * The file's text with a line for the table; the same text where it is there. A line with the table's number or name and another name or number, left
 * by somebody before, goes.
 */
export function withTableName(text: string, id: number, name: string): string {
  const lines = text.split("\n");
  const others = lines.filter((line) => {
    const [, number, label] = entry.exec(line) ?? [];
    return number === undefined || (Number(number) !== id && label !== name);
  });
  if (others.length === lines.length - 1 && lines.includes(`${id}\t${name}`)) return text;
  const end = others.at(-1) === "" ? others.slice(0, -1) : others;
  return [...end, `${id}\t${name}`, ""].join("\n");
}

/** The file's text without the table's line. */
export function withoutTableName(text: string, id: number): string {
  return text
    .split("\n")
    .filter((line) => Number(entry.exec(line)?.[1] ?? Number.NaN) !== id)
    .join("\n");
}
