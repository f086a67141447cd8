import type { PodStatus } from "kubernetes-types/core/v1";

import { Label, LabelValue } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import type { Clock, KubeClient, Outcome } from "../../kube";
import type { PodMemory } from "./pod-memory";
import { statusPatch } from "./status-patch";
import { isUrgent } from "./status-urgency";

/** How long a change of status that nobody waits for may be held back for what follows it, in milliseconds. */
const HOLD_MS = 5_000;
/** When many pods start at once each of them takes longer, so it is held back longer by this for each that is held. */
const HOLD_PER_POD_MS = 20;

/** Writes the status of local pods, as seldom as it can be done. */
export class LocalStatusWriter {
  private held = 0;

  constructor(
    private readonly client: KubeClient,
    private readonly clock: Clock,
  ) {}

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
      this.forget(memory);
      return;
    }
    if (!isUrgent(current, desired)) {
      const left = this.hold(memory);
      if (left > 0) return { requeueAfterMs: left };
    }
    const body = {
      metadata: { uid, ...(label ? { labels: { [Label.shadowPod]: LabelValue.true } } : {}) },
      ...(status === undefined ? {} : { status }),
    };
    await this.client.patch(Pod, { name, namespace }, body, { type: "strategic", subresource: "status" });
    this.forget(memory);
    memory.written = { version: resourceVersion, status: desired };
  }

  /** Nothing is held back for a pod any more, because it was written, or because it is gone. */
  forget(memory: PodMemory): void {
    if (memory.heldSince === undefined) return;
    delete memory.heldSince;
    this.held -= 1;
  }

  /** @returns how much longer, in milliseconds */
  private hold(memory: PodMemory): number {
    const now = this.clock.monotonic();
    if (memory.heldSince === undefined) {
      memory.heldSince = now;
      this.held += 1;
    }
    return memory.heldSince + HOLD_MS + this.held * HOLD_PER_POD_MS - now;
  }
}
