import { type DerElement, DerError, expectTag, readElements, readInside, readOid, tag } from "./der";
import { oids } from "./x509-encoding";

/** One statement of a distinguished name, such as a common name. */
export interface NameAttribute {
  /** Object identifier, dotted. */
  type: string;
  /** Undefined where it is not written as UTF8String, PrintableString or IA5String. */
  value: string | undefined;
}

/** Whom a request or a certificate is for: its relative distinguished names in their order, each with its attributes, of which there may be several. */
export type DistinguishedName = NameAttribute[][];

/**
 * Reads a distinguished name, whatever it says.
 *
 * @throws DerError where it is none
 */
export function readName(name: DerElement | undefined): DistinguishedName {
  return readInside(name, tag.sequence).map((relative) =>
    readInside(relative, tag.set).map((attribute) => {
      const [type, value, ...more] = readElements(expectTag(attribute, tag.sequence).body);
      if (value === undefined || more.length > 0)
        throw new DerError("an attribute of its subject has not exactly one value");
      return { type: readOid(type), value: textOf(value) };
    }),
  );
}

/** The text of all attributes of a type, in their order. */
export function valuesOf(name: DistinguishedName, type: string): string[] {
  return name
    .flat()
    .filter((attribute) => attribute.type === type)
    .flatMap(({ value }) => (value === undefined ? [] : [value]));
}

/** The user that Kubernetes takes a name for: the last of its common names. */
export function commonNameOf(name: DistinguishedName): string | undefined {
  return valuesOf(name, oids.commonName).at(-1);
}

/** The groups that Kubernetes takes a name for: every one of its organizations. */
export function organizationsOf(name: DistinguishedName): string[] {
  return valuesOf(name, oids.organization);
}

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

function textOf({ tag: type, body }: DerElement): string | undefined {
  switch (type) {
    case tag.utf8String:
      try {
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
      } catch {
        return undefined;
      }
    case tag.printableString: {
      const text = body.toString("latin1");
      return PRINTABLE.test(text) ? text : undefined;
    }
    case tag.ia5String:
      return body.every((byte) => byte < 0x80) ? body.toString("latin1") : undefined;
    default:
      return undefined;
  }
}
