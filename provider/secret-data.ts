import type { Secret } from "../runtime/api";

/** An entry of a Secret, decoded; undefined when it is absent or empty. */
export function secretBytes(secret: Secret | undefined, key: string): Buffer | undefined {
  const encoded = secret?.data?.[key];
  return encoded === undefined || encoded === "" ? undefined : Buffer.from(encoded, "base64");
}

/** An entry of a Secret as text; undefined when it is absent or empty. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  return secretBytes(secret, key)?.toString("utf8");
}
