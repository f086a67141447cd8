import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import {
  contextTag,
  type DerElement,
  DerError,
  element,
  expectTag,
  readElement,
  readElements,
  readInside,
  readOid,
  sequence,
  tag,
} from "./der";

/** An extension of a certificate, or one that a request asks for. */
export interface Extension {
  /** Object identifier, dotted. */
  id: string;
  critical: boolean;
  /** DER of its contents. */
  value: Buffer;
}

export const extensionIds = {
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
} as const;

export const keyPurposes = {
  serverAuthentication: "1.3.6.1.5.5.7.3.1",
  clientAuthentication: "1.3.6.1.5.5.7.3.2",
} as const;

/**
 * Reads a list of extensions, whatever they are.
 *
 * @throws DerError where it is none
 */
export function readExtensions(list: DerElement | undefined): Extension[] {
  return readInside(list, tag.sequence).map((extension) => {
    const [id, ...parts] = readElements(expectTag(extension, tag.sequence).body);
    const critical = parts.length > 1 && expectTag(parts.shift(), tag.boolean).body[0] !== 0;
    const [value, ...more] = parts;
    if (more.length > 0) throw new DerError("an extension has more parts than one may have");
    return { id: readOid(id), critical, value: expectTag(value, tag.octetString).body };
  });
}

/** Names and addresses that a serving certificate is valid for. */
export interface AlternativeNames {
  dns?: readonly string[];
  ip?: readonly string[];
}

/** The value of a subjectAltName extension. */
export function encodeAlternativeNames({ dns = [], ip = [] }: AlternativeNames): Buffer {
  return sequence(
    ...dns.map((name) => element(contextTag(2, false), Buffer.from(name, "ascii"))),
    ...ip.map((address) => {
      if (!isIPv4(address) && !isIPv6(address)) {
        throw new RangeError(`alternative name ${JSON.stringify(address)} is not an IP address`);
      }
      return element(contextTag(7, false), Buffer.from(ipaddr.parse(address).toByteArray()));
    }),
  );
}

/** One of the names in a subjectAltName extension. */
interface AlternativeName {
  /** As the standard calls it, such as `URI`. */
  kind: string;
  /** As it is written in DER: text, or the bytes of an address. */
  value: Buffer;
}

const KINDS: Readonly<Record<number, string>> = {
  [contextTag(0, true)]: "other name",
  [contextTag(1, false)]: "email address",
  [contextTag(2, false)]: "DNS name",
  [contextTag(3, true)]: "X.400 address",
  [contextTag(4, true)]: "directory name",
  [contextTag(5, true)]: "EDI party name",
  [contextTag(6, false)]: "URI",
  [contextTag(7, false)]: "IP address",
  [contextTag(8, false)]: "registered ID",
};

/** @throws DerError where the value is no subjectAltName */
export function readAlternativeNames(value: Buffer): AlternativeName[] {
  return readInside(readElement(value, tag.sequence), tag.sequence).map((name) => ({
    kind: KINDS[name.tag] ?? `tag 0x${name.tag.toString(16)}`,
    value: name.body,
  }));
}

/** Object identifiers of an extendedKeyUsage. @throws DerError where the value is none */
export function readKeyPurposes(value: Buffer): string[] {
  return readInside(readElement(value, tag.sequence), tag.sequence).map(readOid);
}

/** Numbers of the bits that are set in a keyUsage: 0 is digitalSignature, 2 keyEncipherment. @throws DerError where the value is none */
export function readKeyUsage(value: Buffer): number[] {
  const [, ...bytes] = readElement(value, tag.bitString).body;
  return bytes.flatMap((byte, index) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte & (0x80 >> bit)) !== 0).map((bit) => index * 8 + bit),
  );
}

/** Whether a basicConstraints says that its certificate may sign others. @throws DerError where the value is none */
export function isAuthority(value: Buffer): boolean {
  const [first] = readInside(readElement(value, tag.sequence), tag.sequence);
  return first?.tag === tag.boolean && first.body[0] !== 0;
}
