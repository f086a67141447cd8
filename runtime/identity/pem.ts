/** PEM armour: base64 of DER between BEGIN and END lines. */

export interface PemBlock {
  label: string;
  der: Buffer;
  /** What comes before the block. */
  before: string;
  /** What follows the block, its own line end excluded. */
  rest: string;
}

/** Wraps DER: lines of 64 characters, a newline at the end. */
export function encodePem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der)
    .toString("base64")
    .match(/.{1,64}/g);
  return `-----BEGIN ${label}-----\n${(lines ?? []).join("\n")}\n-----END ${label}-----\n`;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^[A-Za-z0-9+/]{2,3}={1,2}$/;

/** The first block of a text; undefined when there is none, or when it is not base64. Text before it is skipped, as every reader does. */
export function decodePem(text: string): PemBlock | undefined {
  const match =
    /-----BEGIN ([A-Z0-9 ]+)-----[ \t]*\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----[ \t]*(?:\r?\n)?/.exec(text);
  if (match === null) return undefined;
  const [whole, label = "", body = ""] = match;
  // Node reads base64 leniently: what is no base64 would come out as other bytes.
  if (!BASE64.test(body.replace(/\s/g, ""))) return undefined;
  return {
    label,
    der: Buffer.from(body, "base64"),
    before: text.slice(0, match.index),
    rest: text.slice(match.index + whole.length),
  };
}
