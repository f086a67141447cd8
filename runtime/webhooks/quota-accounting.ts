import { Quota, ShadowPod } from "../api";
import { type Informer, type InformerSet, type KubeClient, keyOf } from "../kube";
import { creatorUserLabel } from "../plan/peer-objects";
import { bookedAlike, bookedShadowPod, hasEnded, type QuotaLedger, whatCounts } from "./quota-ledger";
import { OrphanedPods, type OrphanedPodsContext, podsThere } from "./orphaned-pods";
import type { QuotaLimits } from "./quota-check";

const BY_CREATOR = "creator";

export interface AccountingContext extends OrphanedPodsContext {
  client: KubeClient;
  informers: InformerSet;
}

/**
 * Updates a ledger from the ShadowPods of the cluster and their orphaned pods, and finds the Quota of a creator.
 *
 * A ShadowPod counts until it is gone or its pod has ended, whether it is being deleted or not. After it is gone, its pod counts for as long as it exists.
 */
export class QuotaAccounting {
  private readonly shadowPods: Informer<ShadowPod>;
  private readonly quotas: Informer<Quota>;
  private readonly orphaned: OrphanedPods;

  constructor(
    context: AccountingContext,
    private readonly ledger: QuotaLedger,
  ) {
    const { client, informers, signal } = context;
    this.quotas = informers.informer(Quota);
    this.quotas.addIndex(BY_CREATOR, ({ spec }) => [creatorUserLabel(spec.user) ?? ""]);
    this.shadowPods = informers.informer(ShadowPod, { project: whatCounts });
    this.orphaned = new OrphanedPods(
      context,
      podsThere(client, signal),
      ledger,
      (key) => this.shadowPods.getByKey(key)?.metadata.uid,
    );
    this.shadowPods.on({
      added: (shadow) => this.store(shadow),
      updated: (before, after) => {
        if (!bookedAlike(before, after)) this.store(after);
      },
      deleted: (shadow) => this.remove(shadow),
      listed: () => this.orphaned.survey(),
    });
  }

  /** Whether the caches and the ledger hold everything that is stored. */
  get ready(): boolean {
    return this.shadowPods.synced && this.orphaned.ready && this.quotas.synced;
  }

  /** The Quota of a user, by its creator label; of several, the oldest. */
  quotaOf(creator: string): QuotaLimits | undefined {
    const [oldest] = this.quotas.byIndex(BY_CREATOR, creator).sort(byAge);
    return oldest?.spec;
  }

  /** Finds out which orphaned pods are gone. Resolves with whether that made room. */
  makeRoom(creator: string): Promise<boolean> {
    return this.orphaned.look(creator);
  }

  private store(shadow: ShadowPod): void {
    this.ledger.store(bookedShadowPod(shadow));
    this.orphaned.shadowThere(shadow, keyOf(shadow));
  }

  private remove(shadow: ShadowPod): void {
    const { status, metadata } = shadow;
    const { uid = "" } = metadata;
    const key = keyOf(shadow);
    const stored = this.ledger.stored(key);
    // The orphaned pod counts before the ShadowPod ceases to.
    if (stored?.uid === uid && !hasEnded(status?.phase))
      this.orphaned.shadowGone({ ...stored, key }, status?.phase === "Running");
    this.ledger.remove(key, uid);
  }
}

function byAge(a: Quota, b: Quota): number {
  return (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");
}
