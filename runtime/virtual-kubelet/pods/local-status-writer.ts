import type { PodStatus } from "kubernetes-types/core/v1";

import { Label, LabelValue } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import type { Clock, KubeClient, Outcome } from "../../kube";
import type { PodMemory } from "./pod-memory";
import { statusPatch } from "./status-patch";
import { isUrgent } from "./status-urgency";

/** How long a change of status that nobody waits for may be held back for what follows it, in milliseconds. */
const HOLD_MS = 2_000;

/** Writes the status of local pods, as seldom as it can be done. */
export class LocalStatusWriter {
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
      delete memory.heldSince;
      return;
    }
    if (!isUrgent(current, desired)) {
      memory.heldSince ??= this.clock.monotonic();
      const left = memory.heldSince + HOLD_MS - this.clock.monotonic();
      if (left > 0) return { requeueAfterMs: left };
    }
    const body = {
      metadata: { uid, ...(label ? { labels: { [Label.shadowPod]: LabelValue.true } } : {}) },
      ...(status === undefined ? {} : { status }),
    };
    await this.client.patch(Pod, { name, namespace }, body, { type: "strategic", subresource: "status" });
    delete memory.heldSince;
    memory.written = { version: resourceVersion, status: desired };
  }
}
