/**
 * The part of DER that certificate requests and certificates need, with definite lengths and tags below 31, and PEM around it.
 *
 * It is written here because the X.509 libraries cost every runtime process about 20 MB, and because a request must come out the same each time,
 * byte for byte.
 */

export const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
} as const;

/** The tag of a context-specific element: `[number]`. */
export function contextTag(number: number, constructed: boolean): number {
  return (constructed ? 0xa0 : 0x80) | number;
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

/** One element: tag, length and the given contents one after another. */
export function element(elementTag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([elementTag]), lengthBytes(body.length), body]);
}

export const sequence = (...contents: Uint8Array[]): Buffer => element(tag.sequence, ...contents);
export const set = (...contents: Uint8Array[]): Buffer => element(tag.set, ...contents);

/** A non-negative integer from big-endian bytes, in its shortest form. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = Buffer.from(bytes.subarray(start));
  const first = shortest[0] ?? 0;
  return element(
    tag.integer,
    ...(first >= 0x80 || shortest.length === 0 ? [Buffer.from([0])] : []),
    shortest,
  );
}

/** A bit string without unused bits. */
export const bitString = (bytes: Uint8Array): Buffer => element(tag.bitString, Buffer.from([0]), bytes);

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc % 128];
    for (let high = Math.floor(arc / 128); high > 0; high = Math.floor(high / 128)) {
      digits.unshift(0x80 | (high % 128));
    }
    bytes.push(...digits);
  }
  return element(tag.oid, Buffer.from(bytes));
}

/**
 * The dotted form of an object identifier.
 *
 * @throws DerError where it is not written in its shortest form, so that no identifier can be written in two ways
 */
export function readOid(found: DerElement | undefined): string {
  const { body } = expectTag(found, tag.oid);
  if (body.length === 0 || (body.at(-1) ?? 0) >= 0x80) throw new DerError("object identifier is cut off");
  const arcs: bigint[] = [];
  let arc: bigint | undefined;
  for (const byte of body) {
    if (arc === undefined && byte === 0x80)
      throw new DerError("object identifier is not in its shortest form");
    arc = ((arc ?? 0n) << 7n) | BigInt(byte & 0x7f);
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = undefined;
  }
  const [first = 0n, ...rest] = arcs;
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...rest].join(".");
}

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

/** Whether a text keeps to the alphabet of PrintableString. */
export function isPrintable(text: string): boolean {
  return PRINTABLE.test(text);
}

/** A directory string: PrintableString when its alphabet allows, UTF8String otherwise (the choice that Go makes). */
export function directoryString(text: string): Buffer {
  return element(isPrintable(text) ? tag.printableString : tag.utf8String, Buffer.from(text, "utf8"));
}

export interface DerElement {
  tag: number;
  /** The contents, without tag and length. */
  body: Buffer;
  /** The whole element, tag and length included. */
  bytes: Buffer;
}

/** The input is not the DER that was expected. */
export class DerError extends Error {
  override name = "DerError";
}

/** Splits a byte string into the elements that follow one another in it. */
export function readElements(bytes: Uint8Array): DerElement[] {
  const input = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const elements: DerElement[] = [];
  for (let at = 0; at < input.length;) {
    const start = at;
    const elementTag = input[at++];
    const firstLength = input[at++];
    if (elementTag === undefined || firstLength === undefined)
      throw new DerError("element cut off in its header");
    if ((elementTag & 0x1f) === 0x1f) throw new DerError("tag numbers above 30 do not occur here");
    let length = firstLength;
    if (firstLength >= 0x80) {
      const count = firstLength & 0x7f;
      if (count === 0 || count > 4 || at + count > input.length) throw new DerError("length is malformed");
      length = input.readUIntBE(at, count);
      if (length < 0x80 || length < 256 ** (count - 1))
        throw new DerError("length is not in its shortest form");
      at += count;
    }
    if (at + length > input.length) throw new DerError("element is longer than what contains it");
    elements.push({
      tag: elementTag,
      body: input.subarray(at, at + length),
      bytes: input.subarray(start, at + length),
    });
    at += length;
  }
  return elements;
}

/** The one element that fills the input, of the given tag. */
export function readElement(bytes: Uint8Array, expected: number): DerElement {
  const [only, ...rest] = readElements(bytes);
  if (only === undefined || rest.length > 0) throw new DerError("expected exactly one element");
  return expectTag(only, expected);
}

/** The elements inside a constructed element of the given tag. */
export function readInside(outer: DerElement | undefined, expected: number): DerElement[] {
  return readElements(expectTag(outer, expected).body);
}

/** The element, when it is there and has the given tag. */
export function expectTag(found: DerElement | undefined, expected: number): DerElement {
  if (found === undefined) throw new DerError(`element with tag 0x${expected.toString(16)} is missing`);
  if (found.tag !== expected) {
    throw new DerError(`expected tag 0x${expected.toString(16)}, found 0x${found.tag.toString(16)}`);
  }
  return found;
}

/** A block of PEM: base64 of DER between BEGIN and END lines. */
interface PemBlock {
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
