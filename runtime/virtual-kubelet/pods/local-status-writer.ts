import type { PodStatus } from "kubernetes-types/core/v1";

import { Label, LabelValue } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import type { Clock, KubeClient, Outcome } from "../../kube";
import type { PodMemory } from "./pod-memory";
import { statusPatch } from "./status-patch";
import { type Urgency, urgencyOf } from "./status-urgency";
import { WriteBatches } from "./write-batches";

/**
 * How long a change of status that nobody waits for is held back for what follows it: twice as long as the last pod took to start, within these
 * bounds, in milliseconds. When many pods start at once each of them takes longer.
 */
const HOLD_MS = { least: 5_000, most: 60_000 };

/** Writes the status of local pods, as seldom as it can be done. */
export class LocalStatusWriter {
  private lastStartMs = 0;
  private readonly starts: WriteBatches;

  constructor(
    private readonly client: KubeClient,
    private readonly clock: Clock,
  ) {
    this.starts = new WriteBatches(clock);
  }

  /**
   * Writes what differs, together with the label that marks the pod as taken over: one request, and none where nothing differs.
   *
   * @param takeOver whether the pod is to carry the label
   * @returns when to come again, where the change is held back
   */
  async write(pod: Pod, desired: PodStatus, memory: PodMemory, takeOver: boolean): Promise<Outcome> {
    const { uid, name, namespace, resourceVersion, labels } = pod.metadata;
    // The cache may be behind our own last write; what we wrote then stands.
    const stale = memory.written !== undefined && memory.written.version === resourceVersion;
    const current = stale ? memory.written?.status : pod.status;
    const status = statusPatch(current, desired);
    const label = takeOver && !stale && labels?.[Label.shadowPod] !== LabelValue.true;
    if (status === undefined && !label) {
      delete memory.heldSince;
      delete memory.startDueAt;
      return;
    }
    const waitMs = this.waitMs(urgencyOf(current, desired), memory);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const body = {
      metadata: { uid, ...(label ? { labels: { [Label.shadowPod]: LabelValue.true } } : {}) },
      ...(status === undefined ? {} : { status }),
    };
    await this.client.patchForMetadata(Pod, { name, namespace }, body, {
      type: "strategic",
      subresource: "status",
    });
    if (memory.heldSince !== undefined) this.lastStartMs = this.clock.monotonic() - memory.heldSince;
    delete memory.heldSince;
    delete memory.startDueAt;
    memory.written = { version: resourceVersion, status: desired };
  }

  private waitMs(urgency: Urgency, memory: PodMemory): number {
    switch (urgency) {
      case "now":
        return 0;
      case "soon":
        memory.startDueAt ??= this.starts.turn();
        return memory.startDueAt - this.clock.monotonic();
      case "later":
        return this.hold(memory);
    }
  }

  /** @returns how much longer, in milliseconds */
  private hold(memory: PodMemory): number {
    const now = this.clock.monotonic();
    memory.heldSince ??= now;
    const holdMs = Math.min(HOLD_MS.most, Math.max(HOLD_MS.least, 2 * this.lastStartMs));
    return memory.heldSince + holdMs - now;
  }
}
