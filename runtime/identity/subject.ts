import { createHash, randomBytes } from "node:crypto";
import { Name, peeringUserName } from "../api/keys/names";
import {
  type DerElement,
  DerError,
  directoryString,
  expectTag,
  isPrintable,
  oid,
  readElements,
  readInside,
  readOid,
  sequence,
  set,
  tag,
} from "./der";

/** Who a certificate speaks for: the user name (CN) and the group (O) that the API server sees. */
export interface Subject {
  commonName: string;
  organization: string;
}

/** The subject of a consumer's control-plane identity (control plane reference 4.3). */
export function controlPlaneSubject(consumerClusterId: string): Subject {
  return { commonName: consumerClusterId, organization: Name.controlPlaneOrganization };
}

/** The subject of the identity that belongs to a resource slice. */
export function resourceSliceSubject(sliceName: string, consumerClusterId: string): Subject {
  return { commonName: resourceSliceUser(sliceName, consumerClusterId), organization: consumerClusterId };
}

/** The user of a resource slice at the provider; the slice's Quota bears the same name. `pool` of `rome` → `pool-a8a4c692b93b`. */
export function resourceSliceUser(sliceName: string, consumerClusterId: string): string {
  const digest = createHash("sha256").update(consumerClusterId).digest("hex");
  return `${sliceName}-${digest.slice(0, 12)}`;
}

/** The subject of a peering user. The random part makes each credential its own. */
export function peeringUserSubject(consumerClusterId: string, random: Uint8Array = randomBytes(16)): Subject {
  return {
    commonName: `${peeringUserName(consumerClusterId)}-${Buffer.from(random).toString("hex")}`,
    organization: Name.controlPlaneOrganization,
  };
}

/** Object identifiers of the two attributes that Kubernetes reads. */
export const attributeTypes = { commonName: "2.5.4.3", organization: "2.5.4.10" } as const;

/** A distinguished name: O, then CN, each in a SET of its own. An empty organization is left out. */
export function encodeSubject({ commonName, organization }: Subject): Buffer {
  const attribute = (type: string, value: string): Buffer => set(sequence(oid(type), directoryString(value)));
  return sequence(
    ...(organization === "" ? [] : [attribute(attributeTypes.organization, organization)]),
    attribute(attributeTypes.commonName, commonName),
  );
}

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
  return valuesOf(name, attributeTypes.commonName).at(-1);
}

/** The groups that Kubernetes takes a name for: every one of its organizations. */
export function organizationsOf(name: DistinguishedName): string[] {
  return valuesOf(name, attributeTypes.organization);
}

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
      return isPrintable(text) ? text : undefined;
    }
    case tag.ia5String:
      return body.every((byte) => byte < 0x80) ? body.toString("latin1") : undefined;
    default:
      return undefined;
  }
}
