import { Configuration, Label, Namespace, Pod, ShadowPod, WellKnownLabel } from "../api";
import {
  type Controller,
  controllerOf,
  exceptStatus,
  HeldKeys,
  type Informer,
  isAlreadyExists,
  isConflict,
  isDeleting,
  isForbidden,
  isNotFound,
  keyOf,
  messageOf,
  type Outcome,
  runController,
  type SourceEvent,
  Terminal,
  watches,
} from "../kube";
import { DEFAULT_POD_POLICY, podFault, type PodPolicy } from "../plan/pod-policy";
import type { OffloadingContext, OffloadingOptions } from "./context";
import { podOutcome } from "./shadow-pod-phase";
import { podChanged, shadowedPods, shadowPods } from "./shadow-pod-caches";
import { isTerminal, phaseToReport } from "./shadow-pod-phase";

import {
  additions,
  withReachableHome,
  podLabels,
  desiredPod,
  type StringsPatch,
  surplus,
  writtenByCreator,
} from "./shadow-pod-desired";

import { ShadowPodExpectations } from "./shadow-pod-expectations";

const BY_CLUSTER = "cluster";
/** The deletion of a pod that is not ours, and holds the name, is not watched: we retry after this time. */
const TAKEN_AGAIN_MS = 15_000;
/** The garbage collector deletes the pod of a deleted ShadowPod at once, except in the first half minute of a cluster: it does not know our kinds yet. */
const COLLECTION_MS = 2_000;
/** People read that a pod runs. While other pods are created or start, this write waits, but no longer than this. */
const RUNNING_LATEST_MS = 60_000;
/** A pod that a Pod Security Standard forbids stays forbidden until the standard changes, which is a watch event. */
const FORBIDDEN_AGAIN_MS = 300_000;
/** The garbage collector needs about this long for the pod of an earlier ShadowPod. */
const COLLECTED_MS = 250;

/**
 * Creates the pod of each ShadowPod and reports its phase: one request to create, one when the pod runs and one when it has ended. It recreates a
 * pod that is deleted before it has ended, and never touches a pod that is not the ShadowPod's own.
 *
 * @see offloading reference 12.1
 */
export function shadowPodController(
  context: OffloadingContext,
  options: Pick<OffloadingOptions, "shadowPodWorkers" | "podPolicy">,
): Controller {
  const shadows = shadowPods(context.informers);
  const pods = shadowedPods(context.informers);
  const expectations = new ShadowPodExpectations(context.clock);
  rememberEnded(shadows, pods, expectations);
  const held = new HeldKeys(context.clock, (key) => controller.enqueue(key));
  context.signal.addEventListener("abort", () => held.end(), { once: true });
  const configurations = context.informers.informer(Configuration);
  configurations.addIndex(BY_CLUSTER, ({ metadata }) => [metadata.labels?.[Label.remoteClusterID] ?? ""]);
  const configurationOf = (cluster: string) => configurations.byIndex(BY_CLUSTER, cluster)[0];
  const policy = options.podPolicy ?? DEFAULT_POD_POLICY;
  const reconciler = new ShadowPodReconciler(context, pods, expectations, configurationOf, held, policy);
  const namespaces = context.informers.informer(Namespace, { labelSelector: Label.remoteClusterID });
  const controller = runController(
    {
      name: "shadowpod",
      workers: options.shadowPodWorkers ?? 10,
      sources: [
        watches(shadows, { when: exceptStatus }),
        watches(pods, { when: podChanged }),
        watches(namespaces, {
          keys: (namespace) => podless(namespace, shadows, pods),
          when: standardChanged,
        }),
      ],
      objectOf: (key) => shadows.getByKey(key),
      reconcile: (key) => reconciler.reconcile(key, shadows.getByKey(key)),
    },
    context,
  );
  return controller;
}

/** The ShadowPods of a namespace that have no pod. */
function podless({ metadata }: Namespace, shadows: Informer<ShadowPod>, pods: Informer<Pod>): string[] {
  return shadows
    .list()
    .filter(({ metadata: { namespace } }) => namespace === metadata.name)
    .map(keyOf)
    .filter((key) => pods.getByKey(key) === undefined);
}

function standardChanged(event: SourceEvent<Namespace>): boolean {
  const of = ({ metadata }: Namespace) => metadata.labels?.[WellKnownLabel.podSecurityEnforce];
  return event.type === "updated" && of(event.before) !== of(event.object);
}

/** Records what only a deletion event shows: how a deleted pod ended, and that a deleted ShadowPod left its pod. */
function rememberEnded(
  shadows: Informer<ShadowPod>,
  pods: Informer<Pod>,
  expectations: ShadowPodExpectations,
): void {
  shadows.on({
    deleted: (shadow) => {
      const key = keyOf(shadow);
      const { uid = "" } = shadow.metadata;
      expectations.forget(key);
      // A ShadowPod with a deletion timestamp may have been deleted with orphaning: the garbage collector decides about its pod.
      if (!isDeleting(shadow) && controllerOf(pods.getByKey(key))?.uid === uid)
        expectations.abandon(key, uid);
    },
  });
  const gone = (pod: Pod) => {
    expectations.seen(keyOf(pod));
    const outcome = podOutcome(pod);
    const owner = controllerOf(pod);
    const wanted = shadows.getByKey(keyOf(pod))?.metadata.uid;
    if (outcome !== undefined && wanted !== undefined && owner?.uid === wanted)
      expectations.ended(keyOf(pod), wanted, outcome);
  };
  pods.on({
    added: (pod) => expectations.seen(keyOf(pod)),
    updated: (before, after) => {
      if (before.metadata.uid !== after.metadata.uid) gone(before);
    },
    deleted: (pod) => {
      gone(pod);
      expectations.gone(keyOf(pod), controllerOf(pod)?.uid);
    },
  });
}

class ShadowPodReconciler {
  constructor(
    private readonly context: OffloadingContext,
    private readonly pods: Informer<Pod>,
    private readonly expectations: ShadowPodExpectations,
    private readonly configurationOf: (cluster: string) => Configuration | undefined,
    private readonly held: HeldKeys,
    private readonly policy: PodPolicy,
  ) {}

  async reconcile(key: string, shadow: ShadowPod | undefined): Promise<Outcome> {
    const pod = this.pods.getByKey(key);
    if (shadow === undefined) return pod && (await this.removeAbandoned(key, pod));
    if (isDeleting(shadow) || isTerminal(shadow.status?.phase)) return;
    const uid = shadow.metadata.uid ?? "";
    const ended = this.expectations.outcome(key, uid);
    if (ended !== undefined) return await this.report(key, shadow, ended);
    if (pod === undefined) return await this.create(key, shadow);
    if (controllerOf(pod)?.uid !== uid)
      return (await this.removeAbandoned(key, pod)) ?? this.taken(shadow, pod);
    await this.follow(key, shadow, pod);
    const phase = phaseToReport(shadow.status?.phase, pod);
    if (phase === undefined) return;
    return phase === "Running"
      ? await this.reportRunning(key, shadow, uid)
      : await this.report(key, shadow, phase);
  }

  private async reportRunning(key: string, shadow: ShadowPod, uid: string): Promise<Outcome> {
    const runsForMs = this.expectations.runsForMs(key, uid);
    if (runsForMs === 0) this.held.busy();
    const leftMs = RUNNING_LATEST_MS - runsForMs;
    if (leftMs > 0 && this.held.hold(key)) return { requeueAfterMs: leftMs };
    await this.report(key, shadow, "Running");
  }

  /** Of a pod whose ShadowPod was seen to go; the others are left to the garbage collector. */
  private async removeAbandoned(key: string, pod: Pod): Promise<Outcome> {
    const { uid } = pod.metadata;
    const abandonedForMs = this.expectations.abandonedForMs(key, controllerOf(pod)?.uid);
    if (abandonedForMs === undefined || uid === undefined || isDeleting(pod)) return;
    if (abandonedForMs < COLLECTION_MS) return { requeueAfterMs: COLLECTION_MS - abandonedForMs };
    // The garbage collector is working through many pods: a second deletion would only delay it.
    if (this.expectations.isCollecting) return { requeueAfterMs: COLLECTION_MS };
    this.expectations.removing(key);
    try {
      await this.context.client.delete(Pod, pod.metadata, { uid });
    } catch (error) {
      if (!isConflict(error)) throw error; // another pod of the name by now
    }
  }

  private async create(key: string, shadow: ShadowPod): Promise<Outcome> {
    const { client, events } = this.context;
    const { uid = "", labels } = shadow.metadata;
    if (labels?.[Label.reflectionOrigin] === undefined) return;
    const waitMs = this.expectations.unseenForMs(key, uid);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const source = shadow.spec.pod === undefined ? await client.get(ShadowPod, shadow.metadata) : shadow;
    if (source === undefined || source.metadata.uid !== uid) return;
    if (source.spec.pod === undefined)
      throw new Terminal(FAILED_CREATE, "Failed to create pod: spec.pod is missing; delete the ShadowPod");
    // The webhook refuses these too. We check again, because the webhook may not have been called.
    const fault = podFault(source.spec.pod, this.policy);
    if (fault !== undefined) {
      await this.tellRefusal(shadow, fault);
      throw new Terminal(FAILED_CREATE, `Failed to create pod: ${fault}`);
    }
    try {
      const consumer = labels[Label.reflectionOrigin] ?? "";
      const spec = withReachableHome(source.spec.pod, consumer, this.configurationOf);
      this.held.busy();
      const pod = await client.createForMetadata(Pod, desiredPod(source, spec));
      this.expectations.created(key, uid);
      this.expectations.wrote(key, uid, {
        pod: pod.uid ?? "",
        labels: podLabels(source),
        annotations: source.metadata.annotations,
      });
      if (shadow.status?.reason !== undefined) await this.tellRefusal(shadow, undefined);
      return;
    } catch (error) {
      if (isAlreadyExists(error)) return await this.meetExisting(shadow);
      events.warning(shadow, FAILED_CREATE, `Failed to create pod: ${messageOf(error)}`);
      if (!violatesStandard(error)) throw error;
      await this.tellRefusal(shadow, `${messageOf(error)}; ${WITHIN_STANDARD}`);
      return { requeueAfterMs: FORBIDDEN_AGAIN_MS };
    }
  }

  /** To the consumer, whose virtual kubelet passes it on to the local pod; undefined when it is over. */
  private async tellRefusal(shadow: ShadowPod, why: string | undefined): Promise<void> {
    const { metadata, status } = shadow;
    if (status?.message === why) return;
    const reason = why === undefined ? null : FAILED_CREATE;
    const body = {
      metadata: { uid: metadata.uid },
      status: { phase: status?.phase ?? "Pending", reason, message: why ?? null },
    };
    await this.context.client.patchForMetadata(ShadowPod, metadata, body, {
      type: "merge",
      subresource: "status",
    });
  }

  /** A pod of the name exists that our watch does not show: it lags, or the pod lacks our label. */
  private async meetExisting(shadow: ShadowPod): Promise<Outcome> {
    const { client } = this.context;
    const pod = await client.get(Pod, shadow.metadata);
    if (pod === undefined) return { requeueAfterMs: COLLECTED_MS };
    if (controllerOf(pod)?.uid !== shadow.metadata.uid) return this.taken(shadow, pod);
    const labels = additions(pod.metadata.labels, podLabels(shadow));
    if (labels !== undefined) await this.patchPod(shadow, pod, { labels });
    return { requeueAfterMs: COLLECTED_MS };
  }

  private taken(shadow: ShadowPod, pod: Pod): Outcome {
    const owner = controllerOf(pod);
    // The garbage collector deletes the pod of an earlier ShadowPod; its deletion is a watch event, or comes within the delay.
    if (owner?.kind === shadow.kind || isDeleting(pod)) return { requeueAfterMs: COLLECTED_MS * 4 };
    const holder = owner === undefined ? "nobody" : `${owner.kind} ${owner.name}`;
    this.context.events.warning(
      shadow,
      FAILED_CREATE,
      `Failed to create pod: a pod of that name exists and belongs to ${holder}, not to this ShadowPod`,
    );
    return { requeueAfterMs: TAKEN_AGAIN_MS };
  }

  /** Labels and annotations of the ShadowPod reach its pod, and leave it when they are taken away; the provider's own stay. */
  private async follow(key: string, shadow: ShadowPod, pod: Pod): Promise<void> {
    const { uid = "", annotations } = shadow.metadata;
    const labels = podLabels(shadow);
    const removable = await this.removable(key, shadow, pod, labels);
    const patch = {
      labels: merged(additions(pod.metadata.labels, labels), removable.labels),
      annotations: merged(additions(pod.metadata.annotations, annotations), removable.annotations),
    };
    if (patch.labels !== undefined || patch.annotations !== undefined)
      await this.patchPod(shadow, pod, patch);
    this.expectations.wrote(key, uid, { pod: pod.metadata.uid ?? "", labels, annotations });
  }

  private async removable(
    key: string,
    shadow: ShadowPod,
    pod: Pod,
    labels: Record<string, string>,
  ): Promise<{ labels: string[]; annotations: string[] }> {
    const extra = {
      labels: surplus(pod.metadata.labels, labels),
      annotations: surplus(pod.metadata.annotations, shadow.metadata.annotations),
    };
    if (extra.labels.length === 0 && extra.annotations.length === 0) return extra;
    const uid = shadow.metadata.uid ?? "";
    const written = this.expectations.written(key, uid, pod.metadata.uid ?? "");
    if (written !== undefined) {
      return {
        labels: extra.labels.filter((name) => written.labels?.[name] !== undefined),
        annotations: extra.annotations.filter((name) => written.annotations?.[name] !== undefined),
      };
    }
    // Written before this process started: managedFields say by whom.
    const live = await this.context.client.get(Pod, pod.metadata);
    const ours = writtenByCreator(live?.metadata.managedFields, uid);
    return {
      labels: extra.labels.filter((name) => ours.labels.has(name)),
      annotations: extra.annotations.filter((name) => ours.annotations.has(name)),
    };
  }

  private async patchPod(
    shadow: ShadowPod,
    { metadata: { name, namespace, uid } }: Pod,
    { labels, annotations }: { labels?: StringsPatch; annotations?: StringsPatch },
  ): Promise<void> {
    const { client, events } = this.context;
    try {
      const body = { metadata: { uid, labels, annotations } };
      await client.patch(Pod, { name, ...(namespace === undefined ? {} : { namespace }) }, body, {
        type: "merge",
      });
    } catch (error) {
      if (!isNotFound(error))
        events.warning(shadow, "FailedUpdatePod", `Failed to update pod: ${messageOf(error)}`);
      throw error;
    }
  }

  private async report(key: string, shadow: ShadowPod, phase: string): Promise<void> {
    const { uid = "", generation } = shadow.metadata;
    if (this.expectations.hasReported(key, uid, phase)) return;
    const body = { metadata: { uid }, status: { phase, observedGeneration: generation } };
    await this.context.client.patchForMetadata(ShadowPod, shadow.metadata, body, {
      type: "merge",
      subresource: "status",
    });
    this.expectations.reported(key, uid, phase);
  }
}

const FAILED_CREATE = "FailedCreatePod";
/** What to do about a pod that violates the standard of its namespace. */
const WITHIN_STANDARD =
  "take that out of the pod, or ask the provider's administrator for another Pod Security Standard";

/** Whether an API server refused a pod for the Pod Security Standard of its namespace. */
function violatesStandard(error: unknown): boolean {
  return isForbidden(error) && messageOf(error).includes("violates PodSecurity");
}

function merged(patch: StringsPatch | undefined, removed: readonly string[]): StringsPatch | undefined {
  if (removed.length === 0) return patch;
  return { ...patch, ...Object.fromEntries(removed.map((name) => [name, null])) };
}
