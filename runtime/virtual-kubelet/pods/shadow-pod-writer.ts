import { ShadowPod } from "../../api";
import { Label } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import type { ObjectMeta, ObjectRef } from "../../api/meta";
import { type Clock, isAlreadyExists, isConflict, type KubeClient, type Outcome } from "../../kube";
import type { NodeSettings } from "../node-settings";
import type { Peer } from "../peer/peer";
import { isWhole } from "../peer/projections";
import type { ProviderAccess } from "../peer/provider-access";
import { isReflected } from "../reflection/reflected-metadata";
import type { ReflectionReport } from "../reflection/report";
import { metadataPatch, sourceRecordOf } from "../reflection/source-record";
import type { ApiServerOffer } from "./api-server-support";
import type { ReportedAddress } from "./pod-address";
import type { PodMemory } from "./pod-memory";
import { shadowPodMetadata } from "./shadow-pod-metadata";
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
const LOOK_AGAIN_MS = 1_000;

/** Writes the ShadowPods of a virtual node: one request for each, and none where nothing differs. */
export class ShadowPodWriter {
  constructor(private readonly parts: ShadowPodParts) {}

  async create(
    local: Pod,
    ref: Required<ObjectRef>,
    memory: PodMemory,
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
      this.expect(memory, made, local);
      report.succeeded(local);
    } catch (error) {
      if (isAlreadyExists(error)) return await this.adopt(local, ref, memory, client);
      report.failed(local, error);
      throw error;
    }
  }

  /** The name is taken: by the ShadowPod that we made a moment ago, or by a stranger. */
  private async adopt(local: Pod, ref: ObjectRef, memory: PodMemory, client: KubeClient): Promise<Outcome> {
    const existing = await client.get(ShadowPod, ref);
    if (existing !== undefined && isReflected(existing, this.parts.peer.pair)) {
      if (sourceRecordOf(existing)?.uid === local.metadata.uid) this.expect(memory, existing.metadata, local);
      return { requeueAfterMs: LOOK_AGAIN_MS };
    }
    if (existing === undefined) return { requeueAfterMs: LOOK_AGAIN_MS };
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

  private expect(memory: PodMemory, { uid, resourceVersion }: ObjectMeta, local: Pod): void {
    memory.created = {
      uid: uid ?? "",
      version: resourceVersion ?? "",
      sourceUid: local.metadata.uid ?? "",
      at: this.parts.clock.monotonic(),
    };
  }
}
