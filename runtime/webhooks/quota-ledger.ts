import { Label, LabelValue, type Pod, type ShadowPod, type WholePodSpec } from "../api";
import { controllerOf, keyOf } from "../kube";
import { addAmounts, type Amounts, greatestAmounts, type Nano, subtractAmounts } from "../api/quantity";
import { type PodDemand, podDemand } from "./quota-check";

/** A ShadowPod that exists, as the ledger books it. */
export interface BookedShadowPod {
  /** `namespace/name`. */
  key: string;
  uid: string;
  /** Value of the creator label. */
  creator: string;
  demand: Amounts;
  /** It has ended, or something else stands for it: it takes nothing any more. */
  released: boolean;
}

interface Claim {
  uid: string | undefined;
  creator: string;
  demand: Amounts;
}

interface Entry {
  /** What the API server stores. */
  stored?: Claim & { uid: string; released: boolean };
  /** What was admitted and not seen stored yet. */
  admitted?: Claim & { expiresAt: number };
}

const NOTHING: Amounts = new Map();

/** How long an admitted ShadowPod counts without being seen: another webhook, or the storage, may have refused it. */
export const ADMITTED_FOR_MS = 30_000;

/**
 * The usage of each user's ShadowPods. It is derived from the stored objects, so it needs no record of its own and is right after a restart. In addition it
 * holds what was admitted a moment ago, so that two requests can't both get the same free amount. Where a name has both, the greater amount counts.
 *
 * All methods are synchronous: a check and the claim that follows it can't be separated by another request.
 */
export class QuotaLedger {
  private readonly entries = new Map<string, Entry>();
  private readonly used = new Map<string, Map<string, Nano>>();
  /** Names with an admitted claim, in the order of their expiry. */
  private readonly expiring = new Map<string, number>();

  /** @param now milliseconds of a clock that does not jump */
  constructor(private readonly now: () => number) {}

  /** A ShadowPod was added or changed. */
  store(pod: BookedShadowPod): void {
    const { key, uid, creator, demand, released } = pod;
    const before = this.entries.get(key);
    const admitted = before?.admitted;
    const seen = admitted === undefined || admitted.uid === undefined || admitted.uid === uid;
    this.replace(key, {
      stored: { uid, creator, demand, released },
      ...(seen ? {} : { admitted }),
    });
  }

  /** A ShadowPod is gone. */
  remove(key: string, uid: string): void {
    const before = this.entries.get(key);
    if (before === undefined) return;
    const { stored, admitted } = before;
    this.replace(key, {
      ...(stored === undefined || stored.uid === uid ? {} : { stored }),
      ...(admitted === undefined || admitted.uid === uid ? {} : { admitted }),
    });
  }

  /** A ShadowPod was admitted. */
  admit(key: string, claim: Claim): void {
    const stored = this.entries.get(key)?.stored;
    this.replace(key, {
      ...(stored === undefined ? {} : { stored }),
      admitted: { ...claim, expiresAt: this.now() + ADMITTED_FOR_MS },
    });
  }

  /** The stored ShadowPod of a name, as far as it is known. */
  stored(key: string): Omit<BookedShadowPod, "key"> | undefined {
    return this.entries.get(key)?.stored;
  }

  /** What a user's ShadowPods take, those named `except` aside. */
  usage(creator: string, except?: string): Amounts {
    this.expire();
    const used = this.used.get(creator) ?? NOTHING;
    const own = except === undefined ? undefined : this.entries.get(except);
    if (own === undefined) return used;
    const rest = new Map(used);
    for (const [owner, amounts] of takenBy(own)) if (owner === creator) subtractAmounts(rest, amounts);
    return rest;
  }

  /** Number of ShadowPods known. */
  get size(): number {
    return this.entries.size;
  }

  private expire(): void {
    const now = this.now();
    for (const [key, expiresAt] of this.expiring) {
      if (expiresAt > now) return;
      const stored = this.entries.get(key)?.stored;
      this.replace(key, stored === undefined ? {} : { stored });
    }
  }

  private replace(key: string, entry: Entry): void {
    const before = this.entries.get(key);
    if (before !== undefined) {
      for (const [creator, amounts] of takenBy(before)) {
        const used = this.used.get(creator);
        if (used === undefined) continue;
        subtractAmounts(used, amounts);
        if (used.size === 0) this.used.delete(creator);
      }
    }
    // All claims live equally long: a new one goes to the end, one that stays keeps its place, and the map is in the order of expiry.
    if (entry.admitted !== before?.admitted) {
      this.expiring.delete(key);
      if (entry.admitted !== undefined) this.expiring.set(key, entry.admitted.expiresAt);
    }
    if (entry.stored === undefined && entry.admitted === undefined) {
      this.entries.delete(key);
      return;
    }
    this.entries.set(key, entry);
    for (const [creator, amounts] of takenBy(entry)) {
      const used = this.used.get(creator) ?? new Map<string, Nano>();
      this.used.set(creator, used);
      addAmounts(used, amounts);
    }
  }
}

/** Who pays for a name, and how much. */
function takenBy({ stored, admitted }: Entry): [creator: string, amounts: Amounts][] {
  const running = stored === undefined || stored.released ? undefined : stored;
  if (running === undefined) return admitted === undefined ? [] : [[admitted.creator, admitted.demand]];
  if (admitted === undefined) return [[running.creator, running.demand]];
  if (admitted.creator === running.creator)
    return [[running.creator, greatestAmounts(running.demand, admitted.demand)]];
  return [
    [running.creator, running.demand],
    [admitted.creator, admitted.demand],
  ];
}

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

/** The demand of a stored pod. One with unreadable quantities was not admitted by us, and counts as nothing. */
function demandOf(spec: WholePodSpec | undefined): PodDemand {
  try {
    return podDemand(spec);
  } catch {
    return NO_DEMAND;
  }
}

/** The part of a ShadowPod that the ledger reads: all that its cache keeps. */
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

/** The same part of a pod, and its owners. */
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

/** All fields that a demand depends on. A field that is missing here would count at admission and not afterwards. */
function resourcesOf({ containers, initContainers, resources }: WholePodSpec): WholePodSpec {
  const resourcesOnly = (all: WholePodSpec["initContainers"]) =>
    all?.map(({ name, resources, restartPolicy }) => ({ name, resources, restartPolicy }));
  return {
    containers: resourcesOnly(containers) ?? [],
    initContainers: resourcesOnly(initContainers),
    ...(resources === undefined ? {} : { resources }),
  };
}
