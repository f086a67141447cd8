import { Label, LabelValue, type Pod, type ShadowPod, type WholePodSpec } from "../api";
import { controllerOf, keyOf } from "../kube";
import { type PodDemand, podDemand } from "./pod-demand";

const NO_DEMAND: PodDemand = { containers: [], initContainers: [], total: new Map() };

/** A ShadowPod in the ledger. */
export function bookedShadowPod(shadow: ShadowPod) {
  const { uid = "" } = shadow.metadata;
  return {
    key: keyOf(shadow),
    uid,
    creator: creatorOf(shadow),
    demand: demandOf(shadow.spec.pod).total,
    released: hasEnded(shadow.status?.phase),
  };
}

/** Whether a changed ShadowPod is booked as it was; most changes are of its status. */
export function bookedAlike(before: ShadowPod, after: ShadowPod): boolean {
  return (
    before.metadata.generation === after.metadata.generation &&
    creatorOf(before) === creatorOf(after) &&
    hasEnded(before.status?.phase) === hasEnded(after.status?.phase)
  );
}

/**
 * The pod of a ShadowPod in the ledger, under a name that no ShadowPod has.
 *
 * @param shadow the ShadowPod of the pod's name; while it is the one that the pod was made for, it counts for both
 */
export function bookedPod(pod: Pod, shadow: ShadowPod | undefined) {
  const { uid = "" } = pod.metadata;
  const counted = shadow !== undefined && controllerOf(pod)?.uid === shadow.metadata.uid;
  return {
    key: `pod ${keyOf(pod)}`,
    uid,
    creator: creatorOf(pod),
    demand: demandOf(pod.spec).total,
    released: counted || hasEnded(pod.status?.phase),
  };
}

export function hasEnded(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

/** Whether a pod was made for a ShadowPod. */
export function isManaged({ metadata }: Pod): boolean {
  return metadata.labels?.[Label.managedBy] === LabelValue.managedByShadowPod;
}

export function creatorOf({ metadata }: Pod | ShadowPod): string {
  return metadata.labels?.[Label.creatorUser] ?? "";
}

/** A stored pod whose quantities can't be read was not admitted by us; it counts as nothing rather than stopping everything. */
function demandOf(spec: WholePodSpec | undefined): PodDemand {
  try {
    return podDemand(spec);
  } catch {
    return NO_DEMAND;
  }
}

/** Of each ShadowPod only what the ledger reads. */
export function whatCounts(shadow: ShadowPod): ShadowPod {
  const { apiVersion, kind, metadata, spec, status } = shadow;
  return {
    apiVersion,
    kind,
    metadata: identityOf(metadata),
    spec: spec.pod === undefined ? {} : { pod: resourcesOf(spec.pod) },
    ...(status === undefined ? {} : { status }),
  };
}

/** Of each pod the same, and whose it is. */
export function whatCountsOfPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { ownerReferences } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { ...identityOf(metadata), ...(ownerReferences === undefined ? {} : { ownerReferences }) },
    spec: resourcesOf(spec),
    ...(status?.phase === undefined ? {} : { status: { phase: status.phase } }),
  };
}

const COUNTED_LABELS = [Label.creatorUser, Label.managedBy];

function identityOf({ name, namespace, uid, resourceVersion, generation, labels }: ShadowPod["metadata"]) {
  const kept: Record<string, string> = {};
  for (const label of COUNTED_LABELS) {
    const value = labels?.[label];
    if (value !== undefined) kept[label] = value;
  }
  return { name, namespace, uid, resourceVersion, generation, labels: kept };
}

/** All that a demand is made of: a field left out here would be counted at admission and forgotten then. */
function resourcesOf({ containers, initContainers, resources }: WholePodSpec): WholePodSpec {
  const resourcesOnly = (all: WholePodSpec["initContainers"]) =>
    all?.map(({ name, resources, restartPolicy }) => ({ name, resources, restartPolicy }));
  return {
    containers: resourcesOnly(containers) ?? [],
    initContainers: resourcesOnly(initContainers),
    ...(resources === undefined ? {} : { resources }),
  };
}
