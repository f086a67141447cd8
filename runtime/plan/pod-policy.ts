import { z } from "zod";

import { isRecord } from "../api/invalid-object";

/** The Pod Security Standards, as the labels of namespaces name them. */
export const podSecurityLevels = ["privileged", "baseline", "restricted"] as const;
export type PodSecurityLevel = (typeof podSecurityLevels)[number];

/** The account that every namespace has, and that pods run as which name none. */
const DEFAULT_ACCOUNT = "default";
/** Stands for every name. */
const ANY = "*";

/** What pods of consumers may name of this cluster. `*` stands for every name. */
export interface PodPolicy {
  /** Service accounts of the remote namespace, besides `default`. */
  serviceAccounts: readonly string[];
  priorityClasses: readonly string[];
  runtimeClasses: readonly string[];
}

/** A provider that says nothing else: pods run as `default`, with the priority and the runtime that pods have by themselves. */
export const DEFAULT_POD_POLICY: PodPolicy = { serviceAccounts: [], priorityClasses: [], runtimeClasses: [] };

const names = z
  .array(
    z
      .string()
      .regex(
        /^(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/,
        "is no name of an object; use lower-case letters, digits, inner hyphens and dots, or * for every name",
      ),
  )
  .default([]);

/** What a provider grants to the pods of consumers. */
export const offloadedPodsSchema = z.strictObject({
  /** Pod Security Standard that remote namespaces enforce. */
  podSecurity: z.enum(podSecurityLevels).default("baseline"),
  /** Service accounts that offloaded pods may run as, besides `default`. */
  serviceAccounts: names,
  /** Priority classes that offloaded pods may have. */
  priorityClasses: names,
  /** Runtime classes that offloaded pods may have. */
  runtimeClasses: names,
});

/**
 * Why a pod of a consumer is refused, with the way out; undefined when it is not. This is about what a pod names of the provider: its privileges
 * are a matter of the Pod Security Standard that its namespace enforces.
 *
 * @param spec `spec.pod` of a ShadowPod, as it came
 */
export function podFault(spec: unknown, policy: PodPolicy): string | undefined {
  if (!isRecord(spec)) return undefined;
  const { nodeName, serviceAccountName, serviceAccount, priorityClassName, runtimeClassName } = spec;
  if (isGiven(nodeName))
    return `spec.pod.nodeName is ${quoted(nodeName)}, and the scheduler of the provider places the pods of consumers; leave it out`;
  const accounts = [DEFAULT_ACCOUNT, ...policy.serviceAccounts];
  return (
    nameFault("serviceAccountName", serviceAccountName, accounts, "service account") ??
    // The same field by its former name, which API servers still read.
    nameFault("serviceAccount", serviceAccount, accounts, "service account") ??
    nameFault("priorityClassName", priorityClassName, policy.priorityClasses, "priority class") ??
    nameFault("runtimeClassName", runtimeClassName, policy.runtimeClasses, "runtime class") ??
    volumesFault(spec.volumes)
  );
}

function nameFault(
  field: string,
  value: unknown,
  allowed: readonly string[],
  kind: string,
): string | undefined {
  if (!isGiven(value) || allowed.includes(ANY)) return undefined;
  if (typeof value === "string" && allowed.includes(value)) return undefined;
  const choice = allowed.length === 0 ? "none" : allowed.join(", ");
  return `spec.pod.${field} is ${quoted(value)}, and the provider allows pods of consumers no ${kind} of that name (allowed: ${choice}); leave it out, or ask the provider's administrator to allow it`;
}

/** Credentials of the pod for others than this cluster's API server: whoever takes them trusts the provider for who they are. */
function volumesFault(volumes: unknown): string | undefined {
  for (const [at, volume] of recordsOf(volumes)) {
    const projected = isRecord(volume.projected) ? volume.projected.sources : undefined;
    for (const [index, source] of recordsOf(projected)) {
      const path = `spec.pod.volumes[${at}].projected.sources[${index}]`;
      const audience = isRecord(source.serviceAccountToken) ? source.serviceAccountToken.audience : undefined;
      if (isGiven(audience))
        return `${path}.serviceAccountToken.audience is ${quoted(audience)}, and pods of consumers get tokens for the provider's API server only; leave the audience out`;
      if (isRecord(source.podCertificate))
        return `${path}.podCertificate is set, and pods of consumers get no certificates of the provider; leave it out`;
    }
  }
  return undefined;
}

function recordsOf(value: unknown): [index: number, entry: Record<string, unknown>][] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown, index) =>
    isRecord(entry) ? [[index, entry] as [number, Record<string, unknown>]] : [],
  );
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function quoted(value: unknown): string {
  return JSON.stringify(value);
}
