import { createHash } from "node:crypto";

/** What the kernel takes, in bytes. */
const LONGEST_NAME = 255;
const LONGEST_COMMENT = 128;

/** The name of a table or chain in the kernel: the given one, cut and made unique by a hash where it is too long. */
export function nftName(name: string): string {
  return bounded(name, LONGEST_NAME);
}

/** The comment by which a rule is known in the kernel: its name, cut like {@link nftName}. */
export function ruleComment(name: string): string {
  return bounded(name, LONGEST_COMMENT);
}

/**
 * The name of an empty chain that agents put into each table of theirs: it says that the table is theirs, and what it was loaded from.
 * Comments of tables would say so too, but the JSON listings leave them out.
 */
export function markerOf(content: string): string {
  return `liqo-${createHash("sha256").update(content).digest("hex").slice(0, 16)}`;
}

export function isMarker(chain: string): boolean {
  return /^liqo-[0-9a-f]{16}$/.test(chain);
}

function bounded(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  let end = text;
  while (Buffer.byteLength(end) > bytes - 17) end = end.slice(0, -1);
  return `${end}-${hash}`;
}
