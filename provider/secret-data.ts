import type { Secret } from "../runtime/api";
import { isUnknown } from "./unknown";

/** An entry of a Secret, decoded; undefined when it is absent or empty. */
export function secretBytes(secret: Secret | undefined, key: string): Buffer | undefined {
  const encoded = secret?.data?.[key];
  return encoded === undefined || encoded === "" ? undefined : Buffer.from(encoded, "base64");
}

/** An entry of a Secret as text; undefined when it is absent or empty. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  return secretBytes(secret, key)?.toString("utf8");
}

/**
 * What of a wait tells values of the object: the value waited for, and those that it is compared with. It is secret when the object is a Secret,
 * and when its kind is not known yet.
 */
export function secretOfWaits(kind: unknown): readonly ("value" | "field" | "failOn")[] {
  const isAnother = typeof kind === "string" && !isUnknown(kind) && kind !== "Secret";
  return isAnother ? [] : ["value", "field", "failOn"];
}
