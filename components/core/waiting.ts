import { createHash } from "node:crypto";

import * as pulumi from "@pulumi/pulumi";

import { WaitFor } from "../../provider/wait-for";
import { isRecord } from "../../runtime/api/invalid-object";
import type { ManifestMeta } from "../../runtime/plan/manifest";
import type { ClusterAccess } from "./cluster";

/**
 * Metadata with the annotation by which `@pulumi/kubernetes` waits for an object.
 *
 * @param conditions each as `kubectl wait --for` takes it; all must hold
 */
export function withWait(
  metadata: pulumi.Input<ManifestMeta>,
  ...conditions: string[]
): pulumi.Output<ManifestMeta> {
  const wait = conditions.length === 1 ? conditions[0] : JSON.stringify(conditions);
  return pulumi.output(metadata).apply((value) => ({
    ...value,
    annotations: { ...value.annotations, "pulumi.com/waitFor": wait ?? "" },
  }));
}

/** How long making, changing and removing an object may take; removal waits for finalizers, so it gets twice the time. */
export function timeouts(seconds: number): Pick<pulumi.CustomResourceOptions, "customTimeouts"> {
  return {
    customTimeouts: { create: `${seconds}s`, update: `${seconds}s`, delete: `${2 * seconds}s` },
  };
}

/** The value, for whoever must wait for the resources too. In a preview it is as known as it was. */
export function after(resources: pulumi.Resource[], value: pulumi.Input<string>): pulumi.Output<string> {
  return pulumi.all(resources.map(({ urn }) => urn)).apply(() => pulumi.output(value));
}

/** How a node is waited for; again whenever a trigger changes. */
interface NodeWait {
  consumer: ClusterAccess;
  timeoutSeconds: number;
  triggers: Record<string, pulumi.Output<string>>;
}

/** The name of a node, once the node is Ready. */
export function readyNode(
  name: string,
  nodeName: pulumi.Output<string>,
  { consumer: { kubeconfig }, timeoutSeconds, triggers }: NodeWait,
  parent: pulumi.Resource,
): pulumi.Output<string> {
  const ready = new WaitFor(
    name,
    {
      kubeconfig,
      apiVersion: "v1",
      kind: "Node",
      name: nodeName,
      condition: { type: "Ready" },
      triggers,
      timeoutSeconds,
    },
    { parent },
  );
  return after([ready], nodeName);
}

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
