import { Quota, ShadowPod } from "../api";
import { type Informer, type InformerSet, type KubeClient, keyOf } from "../kube";
import { creatorUserLabel } from "../plan/creator-user";
import { bookedAlike, bookedShadowPod, hasEnded, type QuotaLedger, whatCounts } from "./quota-ledger";
import { LeftPods, type LeftPodsContext, podsThere } from "./left-pods";
import type { QuotaLimits } from "./quota-check";

const BY_CREATOR = "creator";

export interface AccountingContext extends LeftPodsContext {
  client: KubeClient;
  informers: InformerSet;
}

/**
 * Keeps a ledger in step with the ShadowPods of the cluster and the pods that they leave, and finds the Quota of a creator.
 *
 * A ShadowPod counts until it is gone or its pod has ended, a deletion that was asked for or not. Then its pod counts for as long as it is there.
 */
export class QuotaAccounting {
  private readonly shadowPods: Informer<ShadowPod>;
  private readonly quotas: Informer<Quota>;
  private readonly left: LeftPods;

  constructor(
    context: AccountingContext,
    private readonly ledger: QuotaLedger,
  ) {
    const { client, informers, signal } = context;
    this.quotas = informers.informer(Quota);
    this.quotas.addIndex(BY_CREATOR, ({ spec }) => [creatorUserLabel(spec.user) ?? ""]);
    this.shadowPods = informers.informer(ShadowPod, { project: whatCounts });
    this.left = new LeftPods(
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
      listed: () => this.left.survey(),
    });
  }

  /** Whether everything stored has been seen. */
  get ready(): boolean {
    return this.shadowPods.synced && this.left.ready && this.quotas.synced;
  }

  /** The Quota of a user, by its creator label; of several, the oldest. */
  quotaOf(creator: string): QuotaLimits | undefined {
    const [oldest] = this.quotas.byIndex(BY_CREATOR, creator).sort(byAge);
    return oldest?.spec;
  }

  /** Asks which pods without ShadowPods are gone; whether that made room. */
  makeRoom(creator: string): Promise<boolean> {
    return this.left.look(creator);
  }

  private store(shadow: ShadowPod): void {
    this.ledger.store(bookedShadowPod(shadow));
    this.left.shadowThere(shadow, keyOf(shadow));
  }

  private remove(shadow: ShadowPod): void {
    const { status, metadata } = shadow;
    const { uid = "" } = metadata;
    const key = keyOf(shadow);
    const stored = this.ledger.stored(key);
    // What takes over counts before the other ceases to.
    if (stored?.uid === uid && !hasEnded(status?.phase))
      this.left.shadowGone({ ...stored, key }, status?.phase === "Running");
    this.ledger.remove(key, uid);
  }
}

function byAge(a: Quota, b: Quota): number {
  return (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");
}
