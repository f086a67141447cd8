import { Label, LabelValue, Pod, Quota, ShadowPod, type WholePodSpec } from "../api";
import { controllerOf, type Informer, type InformerSet, keyOf } from "../kube";
import { creatorUserLabel } from "../plan/creator-user";
import { type PodDemand, podDemand } from "./pod-demand";
import type { QuotaLedger } from "./quota-ledger";
import type { QuotaLimits } from "./quota-rules";

const BY_CREATOR = "creator";
const NO_DEMAND: PodDemand = { containers: [], initContainers: [], total: new Map() };

/**
 * Keeps a ledger in step with the ShadowPods of the cluster and their pods, and finds the Quota of a creator.
 *
 * A ShadowPod counts until it is gone or its pod has ended, a deletion that was asked for or not. Then its pod counts for as long as it is there:
 * a pod may take any time to end, and the peer says how long.
 */
export class QuotaAccounting {
  private readonly shadowPods: Informer<ShadowPod>;
  private readonly pods: Informer<Pod>;
  private readonly quotas: Informer<Quota>;

  constructor(
    informers: InformerSet,
    private readonly ledger: QuotaLedger,
  ) {
    this.quotas = informers.informer(Quota);
    this.quotas.addIndex(BY_CREATOR, ({ spec }) => [creatorUserLabel(spec.user) ?? ""]);
    this.shadowPods = informers.informer(ShadowPod, { project: whatCounts });
    this.pods = informers.informer(Pod, {
      labelSelector: `${Label.managedBy}=${LabelValue.managedByShadowPod}`,
      project: whatCountsOfPod,
    });
    // Each change ends in one state of both, whichever is told of first: what takes over counts before the other ceases to.
    this.shadowPods.on({
      added: (shadow) => this.store(shadow),
      updated: (before, after) => {
        if (before.metadata.uid !== after.metadata.uid) this.remove(before, after);
        this.store(after);
      },
      deleted: (shadow) => this.remove(shadow, undefined),
    });
    this.pods.on({
      added: (pod) => this.storePod(pod, this.shadowOf(pod)),
      updated: (before, after) => {
        if (before.metadata.uid !== after.metadata.uid) this.removePod(before);
        this.storePod(after, this.shadowOf(after));
      },
      deleted: (pod) => this.removePod(pod),
    });
  }

  /** Whether everything stored has been seen. */
  get ready(): boolean {
    return this.shadowPods.synced && this.pods.synced && this.quotas.synced;
  }

  /** The Quota of a user, by its creator label; of several, the oldest. */
  quotaOf(creator: string): QuotaLimits | undefined {
    const [oldest] = this.quotas.byIndex(BY_CREATOR, creator).sort(byAge);
    return oldest?.spec;
  }

  private store(shadow: ShadowPod): void {
    this.ledger.store(bookedShadowPod(shadow));
    const pod = this.pods.getByKey(keyOf(shadow));
    if (pod !== undefined) this.storePod(pod, shadow);
  }

  /** @param successor the ShadowPod of the same name that there is now */
  private remove(shadow: ShadowPod, successor: ShadowPod | undefined): void {
    const pod = this.pods.getByKey(keyOf(shadow));
    if (pod !== undefined) this.storePod(pod, successor);
    this.ledger.remove(keyOf(shadow), shadow.metadata.uid ?? "");
  }

  private shadowOf(pod: Pod): ShadowPod | undefined {
    return this.shadowPods.getByKey(keyOf(pod));
  }

  private storePod(pod: Pod, shadow: ShadowPod | undefined): void {
    this.ledger.store(bookedPod(pod, shadow));
  }

  private removePod(pod: Pod): void {
    this.ledger.remove(podKey(pod), pod.metadata.uid ?? "");
  }
}

/** A ShadowPod in the ledger. */
export function bookedShadowPod(shadow: ShadowPod) {
  const { uid = "", labels } = shadow.metadata;
  return {
    key: keyOf(shadow),
    uid,
    creator: labels?.[Label.creatorUser] ?? "",
    demand: demandOf(shadow.spec.pod).total,
    released: hasEnded(shadow.status?.phase),
  };
}

/**
 * The pod of a ShadowPod in the ledger, under a name that no ShadowPod has.
 *
 * @param shadow the ShadowPod of the pod's name; while it is the one that the pod was made for, it counts for both
 */
export function bookedPod(pod: Pod, shadow: ShadowPod | undefined) {
  const { uid = "", labels } = pod.metadata;
  const counted = shadow !== undefined && controllerOf(pod)?.uid === shadow.metadata.uid;
  return {
    key: podKey(pod),
    uid,
    creator: labels?.[Label.creatorUser] ?? "",
    demand: demandOf(pod.spec).total,
    released: counted || hasEnded(pod.status?.phase),
  };
}

function podKey(pod: Pod): string {
  return `pod ${keyOf(pod)}`;
}

function hasEnded(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

/** A stored pod whose quantities can't be read was not admitted by us; it counts as nothing rather than stopping everything. */
function demandOf(spec: WholePodSpec | undefined): PodDemand {
  try {
    return podDemand(spec);
  } catch {
    return NO_DEMAND;
  }
}

function byAge(a: Quota, b: Quota): number {
  return (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");
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

function identityOf({ name, namespace, uid, resourceVersion, labels }: ShadowPod["metadata"]) {
  const creator = labels?.[Label.creatorUser];
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    ...(creator === undefined ? {} : { labels: { [Label.creatorUser]: creator } }),
  };
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
