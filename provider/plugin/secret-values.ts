import * as pulumi from "@pulumi/pulumi";

import { isRecord } from "../../runtime/api/invalid-object";

const { specialSigKey, specialSecretSig } = pulumi.runtime;

export interface Unwrapped {
  /** The same properties with plain values. */
  values: Record<string, unknown>;
  /** Properties that were secret, or held something secret. */
  secret: Set<string>;
}

/** Takes secrets out of the wrappings in which the engine sends them to plugins that accept them. */
export function unwrapSecrets(properties: Readonly<Record<string, unknown>>): Unwrapped {
  const secret = new Set<string>();
  const unwrap = (value: unknown, property: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => unwrap(item, property));
    if (!isRecord(value)) return value;
    if (value[specialSigKey] === specialSecretSig) {
      secret.add(property);
      return unwrap(value["value"], property);
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unwrap(inner, property)]));
  };
  const values = Object.fromEntries(
    Object.entries(properties).map(([property, value]) => [property, unwrap(value, property)]),
  );
  return { values, secret };
}

/** Wraps properties as secrets, each as a whole. */
export function wrapSecrets(
  values: Readonly<Record<string, unknown>>,
  secret: ReadonlySet<string>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([property, value]) => [
      property,
      secret.has(property) ? { [specialSigKey]: specialSecretSig, value } : value,
    ]),
  );
}
