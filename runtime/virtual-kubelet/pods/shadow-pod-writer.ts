import { ShadowPod } from "../../api";
import { Label } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import type { ObjectMeta, ObjectRef } from "../../api/meta";
import { type Clock, isAlreadyExists, isConflict, type KubeClient, type Outcome } from "../../kube";
import type { NodeSettings } from "../settings/node-settings";
import type { Peer } from "../peer/peer";
import type { ReportedAddress } from "../peer/peer-network";
import { isWhole } from "../peer/projections";
import type { ProviderAccess } from "../peer/provider-access";
import {
  isReflected,
  metadataPatch,
  type NotReflected,
  reflectionLabels,
  type ReflectionPair,
  type RemoteMetadata,
  sourceRecordOf,
  without,
  withSourceRecord,
} from "../reflection/reflected-metadata";
import type { ReflectionReport } from "../reflection/reflection-report";
import type { ApiServerOffer } from "./api-server-access";
import type { PodExpectations } from "./pod-expectations";
import { shadowPodSpec } from "./shadow-pod-spec";

/** What the pods of a virtual node depend on besides themselves; read at each reconcile. */
export interface PodDependencies {
  settings: NodeSettings;
  nodeIp: string;
  translateIp: ReportedAddress;
  /** @throws where the consumer's API server is to be offered and no address of it is known yet */
  apiServer: () => ApiServerOffer;
}

export interface ShadowPodParts {
  nodeName: string;
  consumerId: string;
  localClient: KubeClient;
  peer: Peer;
  access: ProviderAccess;
  dependencies: () => PodDependencies;
  report: ReflectionReport;
  clock: Clock;
}

/** How soon a name that is taken at the provider is tried again. Its release is an event; this is for what went unseen. */
export const CONFLICT_RETRY_MS = 60_000;
/** How soon a pod is looked at again whose name is taken by its own ShadowPod, or is free again, in milliseconds. The cache shows that a moment later. */
const UNSEEN_RETRY_MS = 1_000;

/** Writes the ShadowPods of a virtual node: one request for each, and none where nothing differs. */
export class ShadowPodWriter {
  constructor(private readonly parts: ShadowPodParts) {}

  async create(
    local: Pod,
    ref: Required<ObjectRef>,
    expected: PodExpectations,
    client: KubeClient,
  ): Promise<Outcome> {
    const { consumerId, report, access } = this.parts;
    const { creator } = access;
    const { settings, apiServer } = this.parts.dependencies();
    const whole = await this.wholePod(local);
    if (whole === undefined) return;
    try {
      const metadata = this.desiredMetadata(local, settings);
      const made = await client.createForMetadata(ShadowPod, {
        apiVersion: ShadowPod.apiVersion,
        kind: ShadowPod.kind,
        metadata: {
          ...ref,
          annotations: metadata.annotations,
          labels: { ...metadata.labels, ...(creator === undefined ? {} : { [Label.creatorUser]: creator }) },
        },
        spec: {
          pod: shadowPodSpec(
            {
              name: ref.name,
              annotations: local.metadata.annotations,
              spec: whole.spec,
              remoteLabels: metadata.labels,
            },
            { consumerId, offloadingPatch: settings.offloadingPatch, apiServer: apiServer() },
          ),
        },
      });
      this.expect(expected, made, local);
      report.succeeded(local);
    } catch (error) {
      if (isAlreadyExists(error)) return await this.adopt(local, ref, expected, client);
      report.failed(local, error);
      throw error;
    }
  }

  /** The name is taken: by the ShadowPod that we created a moment ago, or by a foreign object. */
  private async adopt(
    local: Pod,
    ref: ObjectRef,
    expected: PodExpectations,
    client: KubeClient,
  ): Promise<Outcome> {
    const existing = await client.get(ShadowPod, ref);
    if (existing !== undefined && isReflected(existing, this.parts.peer.pair)) {
      if (sourceRecordOf(existing)?.uid === local.metadata.uid)
        this.expect(expected, existing.metadata, local);
      return { requeueAfterMs: UNSEEN_RETRY_MS };
    }
    if (existing === undefined) return { requeueAfterMs: UNSEEN_RETRY_MS };
    this.parts.report.conflict(local);
    return { requeueAfterMs: CONFLICT_RETRY_MS };
  }

  async alignMetadata(local: Pod, shadow: ShadowPod, client: KubeClient): Promise<void> {
    const { settings } = this.parts.dependencies();
    const patch = metadataPatch(shadow.metadata, this.desiredMetadata(local, settings));
    if (patch === undefined) return;
    const { name, namespace, uid } = shadow.metadata;
    try {
      await client.patch(ShadowPod, { name, namespace }, { metadata: { uid, ...patch } }, { type: "merge" });
    } catch (error) {
      if (!isConflict(error)) this.parts.report.failed(local, error);
      throw error;
    }
  }

  /** The cache drops the spec of a pod that was taken over; one that has to be made again is read again. */
  private async wholePod(local: Pod): Promise<Pod | undefined> {
    if (isWhole(local)) return local;
    const { name, namespace, uid } = local.metadata;
    const whole = await this.parts.localClient.get(Pod, { name, namespace });
    return whole?.metadata.uid === uid ? whole : undefined;
  }

  private desiredMetadata(local: Pod, settings: NodeSettings) {
    const { uid = "", labels, annotations } = local.metadata;
    const { nodeName, peer } = this.parts;
    return shadowPodMetadata({ uid, labels, annotations }, nodeName, settings.notReflected, peer.pair);
  }

  private expect(expected: PodExpectations, { uid, resourceVersion }: ObjectMeta, local: Pod): void {
    expected.created = {
      uid: uid ?? "",
      version: resourceVersion ?? "",
      sourceUid: local.metadata.uid ?? "",
      at: this.parts.clock.monotonic(),
    };
  }
}

interface LocalPod {
  uid: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** Labels that say something about the local pod alone. */
const LOCAL_LABELS = [Label.shadowPod, Label.remoteUnavailable];

/** Labels and annotations of the ShadowPod of a local pod (offloading reference 11.3). */
export function shadowPodMetadata(
  pod: LocalPod,
  nodeName: string,
  notReflected: NotReflected,
  pair: ReflectionPair,
): RemoteMetadata {
  const labels = without(
    { ...without(pod.labels, LOCAL_LABELS), [Label.reflectionNodeName]: nodeName },
    notReflected.labels,
  );
  return withSourceRecord(pod.uid, {
    labels: { ...labels, ...reflectionLabels(pair) },
    annotations: without(pod.annotations, notReflected.annotations),
  });
}

/** Kept well below the 500 absent owners that a garbage collector caches, of all kinds and all nodes together. */
const MOST = 100;
/** A pod that still exists after this time no longer counts: its garbage collector is slow anyway. In milliseconds. */
const EXPECTED_MS = 5_000;

/**
 * Limits how fast ShadowPods are deleted. The provider's garbage collector caches 500 absent owners. Past that it looks each owner up in the API
 * server, so we delete no faster than it follows.
 */
export class RemovalLimiter {
  /** Deleted ShadowPods whose pod may still exist, with the time of deletion on the monotonic clock, the oldest first. */
  private readonly left = new Map<string, number>();
  private readonly waiting = new Set<string>();

  /** @param release called with a key that had to wait, when it may go */
  constructor(
    private readonly clock: Clock,
    private readonly release: (key: string) => void,
  ) {}

  /** @returns 0 where the ShadowPod may be deleted, which is then counted; else how long to wait at most, in milliseconds */
  take(key: string): number {
    const now = this.clock.monotonic();
    const [oldest] = this.left;
    if (oldest !== undefined && this.left.size >= MOST) {
      const [late, since] = oldest;
      const leftMs = since + EXPECTED_MS - now;
      if (leftMs > 0) {
        this.waiting.add(key);
        return leftMs;
      }
      this.left.delete(late);
    }
    this.waiting.delete(key);
    this.left.delete(key);
    this.left.set(key, now);
    return 0;
  }

  /** The pod is gone or terminating too, or the ShadowPod was not deleted. */
  followed(key: string): void {
    this.waiting.delete(key);
    if (!this.left.delete(key)) return;
    const [next] = this.waiting;
    if (next === undefined) return;
    this.waiting.delete(next);
    this.release(next);
  }
}
