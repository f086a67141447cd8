import { createHash } from "node:crypto";

import type * as pulumi from "@pulumi/pulumi";

import { isRecord } from "../runtime/api/invalid-object";

/**
 * Stands for a value among the triggers of a wait or a read: another value has another digest, so that the wait is repeated. It is as known, and as
 * secret, as the value.
 */
export function digestOf(value: pulumi.Output<unknown>): pulumi.Output<string> {
  return value.apply((known) => digest(known));
}

/** The same for the spec of a manifest. */
export function specDigest(plan: pulumi.Output<{ spec?: unknown }>): pulumi.Output<string> {
  return plan.apply(({ spec }) => digest(spec));
}

/** The same for a plain value; the order of keys does not count. */
export function digest(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(inOrder(value)) ?? "")
    .digest("hex")
    .slice(0, 16);
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
}
