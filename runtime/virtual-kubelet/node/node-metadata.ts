import type { Taint } from "kubernetes-types/core/v1";
import { z } from "zod";

import { Annotation, Label, LabelValue, VIRTUAL_NODE_TAINT, WellKnownLabel } from "../../api/keys";
import type { Node } from "../../api/kubernetes";

/** What a VirtualNode and its options put on the Node beyond what every virtual node has. */
export interface NodeExtras {
  clusterId: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  taints?: readonly Taint[];
  /** Whether the provider offers a storage class. */
  storage: boolean;
}

/** Labels, annotations and taints that are ours on a Node. */
export interface NodeMetadata {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  taints: Taint[];
}

/** What the Node of a virtual node carries (offloading reference 7.1). */
export function nodeMetadata(name: string, extras: NodeExtras): NodeMetadata {
  const labels = {
    ...extras.labels,
    [Label.nodeType]: LabelValue.virtualNode,
    [Label.nodeTypeForAutoscaler]: LabelValue.virtualKubelet,
    [Label.remoteClusterID]: extras.clusterId,
    [Label.storageAvailable]: String(extras.storage),
    [WellKnownLabel.hostname]: name,
    [WellKnownLabel.role]: "agent",
    [WellKnownLabel.os]: "linux",
    [WellKnownLabel.arch]: "amd64",
    [WellKnownLabel.excludeFromLoadBalancers]: LabelValue.true,
    [WellKnownLabel.excludeFromLoadBalancersAlpha]: LabelValue.true,
  };
  const annotations = { ...extras.annotations };
  const taints = [...(extras.taints ?? []), { ...VIRTUAL_NODE_TAINT }];
  return {
    labels,
    annotations: {
      ...annotations,
      [Annotation.lastAppliedObjectMeta]: lastApplied({ labels, annotations, taints }),
    },
    taints,
  };
}

const recordSchema = z.object({
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  taints: z.array(z.object({ key: z.string(), effect: z.string(), value: z.string().optional() })).optional(),
});
type LastApplied = z.infer<typeof recordSchema>;

/** The record of what we put on the Node: the next change removes nothing else. Upstream's record has no taints. */
function lastApplied({ labels, annotations, taints }: NodeMetadata): string {
  return JSON.stringify({ labels: sorted(labels), annotations: sorted(annotations), taints });
}

function sorted(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function readLastApplied(node: Node): LastApplied {
  try {
    const text = node.metadata.annotations?.[Annotation.lastAppliedObjectMeta] ?? "{}";
    return recordSchema.safeParse(JSON.parse(text)).data ?? {};
  } catch {
    return {}; // edited by hand: nothing is taken for ours but what is desired now
  }
}

/**
 * The merge patch that gives a Node its metadata and taints back, or undefined when nothing differs. Only what we put there is ever removed:
 * the node lifecycle controller's taints and other people's labels stay. Taints are one list, so the patch with taints holds the resource
 * version it was computed from.
 */
export function nodeMetadataPatch(node: Node, desired: NodeMetadata): Record<string, unknown> | undefined {
  const before = readLastApplied(node);
  const labels = changes(node.metadata.labels, desired.labels, before.labels);
  const annotations = changes(node.metadata.annotations, desired.annotations, before.annotations);
  const taints = changedTaints(node.spec.taints ?? [], desired.taints, before.taints ?? []);
  if (labels === undefined && annotations === undefined && taints === undefined) return undefined;
  return {
    metadata: {
      ...(taints === undefined ? {} : { resourceVersion: node.metadata.resourceVersion }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(taints === undefined ? {} : { spec: { taints } }),
  };
}

function changes(
  existing: Record<string, string> | undefined,
  desired: Record<string, string>,
  before: Record<string, string> | undefined,
): Record<string, string | null> | undefined {
  const changed: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(desired)) if (existing?.[key] !== value) changed[key] = value;
  for (const key of Object.keys(before ?? {})) {
    if (desired[key] === undefined && existing?.[key] !== undefined) changed[key] = null;
  }
  return Object.keys(changed).length === 0 ? undefined : changed;
}

function changedTaints(
  existing: readonly Taint[],
  desired: readonly Taint[],
  before: readonly Pick<Taint, "key" | "effect">[],
): Taint[] | undefined {
  const stale = existing.filter((taint) => includes(before, taint) && !includes(desired, taint));
  const missing = desired.filter(
    (taint) => !existing.some((other) => sameTaint(taint, other) && taint.value === other.value),
  );
  if (stale.length === 0 && missing.length === 0) return undefined;
  const kept = existing.filter((taint) => !includes(desired, taint) && !includes(stale, taint));
  return [...kept, ...desired];
}

/** A taint is identified by key and effect. */
function sameTaint(a: Pick<Taint, "key" | "effect">, b: Pick<Taint, "key" | "effect">): boolean {
  return a.key === b.key && a.effect === b.effect;
}

function includes(
  taints: readonly Pick<Taint, "key" | "effect">[],
  taint: Pick<Taint, "key" | "effect">,
): boolean {
  return taints.some((other) => sameTaint(other, taint));
}
