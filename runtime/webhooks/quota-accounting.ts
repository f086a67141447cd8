import { Label, Quota, ShadowPod } from "../api";
import type { Informer, InformerSet } from "../kube";
import { creatorUserLabel } from "../plan/creator-user";
import { type PodDemand, podDemand } from "./pod-demand";
import type { QuotaLedger } from "./quota-ledger";
import type { QuotaLimits } from "./quota-rules";

const BY_CREATOR = "creator";
const NO_DEMAND: PodDemand = { containers: [], initContainers: [], total: new Map() };

/** Keeps a ledger in step with the ShadowPods of the cluster, and finds the Quota of a creator. */
export class QuotaAccounting {
  private readonly shadowPods: Informer<ShadowPod>;
  private readonly quotas: Informer<Quota>;

  constructor(
    informers: InformerSet,
    private readonly ledger: QuotaLedger,
  ) {
    this.quotas = informers.informer(Quota);
    this.quotas.addIndex(BY_CREATOR, ({ spec }) => [creatorUserLabel(spec.user) ?? ""]);
    this.shadowPods = informers.informer(ShadowPod, { project: whatCounts });
    this.shadowPods.on({
      added: (pod) => this.store(pod),
      updated: (before, after) => {
        if (before.metadata.uid !== after.metadata.uid) this.remove(before);
        this.store(after);
      },
      deleted: (pod) => this.remove(pod),
    });
  }

  /** Whether everything stored has been seen. */
  get ready(): boolean {
    return this.shadowPods.synced && this.quotas.synced;
  }

  /** The Quota of a user, by its creator label; of several, the oldest. */
  quotaOf(creator: string): QuotaLimits | undefined {
    const [oldest] = this.quotas.byIndex(BY_CREATOR, creator).sort(byAge);
    return oldest?.spec;
  }

  private store(pod: ShadowPod): void {
    const { namespace = "", name, uid = "", labels, deletionTimestamp } = pod.metadata;
    const phase = pod.status?.phase;
    this.ledger.store({
      key: `${namespace}/${name}`,
      uid,
      creator: labels?.[Label.creatorUser] ?? "",
      demand: demandOf(pod).total,
      // Given back when the deletion is asked for, as upstream does, and when the pod has ended.
      released: typeof deletionTimestamp === "string" || phase === "Succeeded" || phase === "Failed",
    });
  }

  private remove({ metadata: { namespace = "", name, uid = "" } }: ShadowPod): void {
    this.ledger.remove(`${namespace}/${name}`, uid);
  }
}

/** A stored pod whose quantities can't be read was not admitted by us; it counts as nothing rather than stopping everything. */
function demandOf(pod: ShadowPod): PodDemand {
  try {
    return podDemand(pod.spec.pod);
  } catch {
    return NO_DEMAND;
  }
}

function byAge(a: Quota, b: Quota): number {
  return (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");
}

/** Of each ShadowPod only what the ledger reads. */
function whatCounts(shadowPod: ShadowPod): ShadowPod {
  const { apiVersion, kind, metadata, spec, status } = shadowPod;
  const { name, namespace, uid, resourceVersion, deletionTimestamp, labels } = metadata;
  const creator = labels?.[Label.creatorUser];
  const resourcesOnly = (containers: PodContainers) =>
    containers?.map(({ name, resources, restartPolicy }) => ({ name, resources, restartPolicy }));
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      deletionTimestamp,
      ...(creator === undefined ? {} : { labels: { [Label.creatorUser]: creator } }),
    },
    spec:
      spec.pod === undefined
        ? {}
        : {
            pod: {
              containers: resourcesOnly(spec.pod.containers) ?? [],
              initContainers: resourcesOnly(spec.pod.initContainers),
            },
          },
    ...(status === undefined ? {} : { status }),
  };
}

type PodContainers = NonNullable<ShadowPod["spec"]["pod"]>["initContainers"];
