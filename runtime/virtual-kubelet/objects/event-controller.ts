import type { EventSource, ObjectReference } from "kubernetes-types/core/v1";

import { ShadowPod } from "../../api";
import {
  ConfigMap,
  EndpointSlice,
  Event,
  Ingress,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from "../../api/kubernetes";
import type { Kind, KubeObject } from "../../api/meta";
import {
  type Controller,
  type ControllerContext,
  type Informer,
  type InformerSet,
  isAlreadyExists,
  isConflict,
  isNotFound,
  keyOfRef,
  type KubeClient,
  type Outcome,
  refOfKey,
  runController,
} from "../../kube";
import type { NodeSettings } from "../settings/node-settings";
import type { NamespaceListener, Peer } from "../peer/peer";
import type { RemoteNamespace } from "../peer/remote-namespace";
import {
  defined,
  isReflected,
  reflectionLabels,
  reflectionSelector,
  remoteRootCaName,
  without,
} from "../reflection/reflected-metadata";
import type { ReflectionReport } from "../reflection/reflection-report";
import { isAllowed } from "./reflected-kind";

interface Parts {
  peer: Peer;
  localClient: KubeClient;
  localInformers: InformerSet;
  settings: () => NodeSettings;
  report: ReflectionReport;
  context: ControllerContext;
}

interface Caches {
  namespace: RemoteNamespace;
  /** Only the copies that we made. */
  local: Informer<Event>;
  remote: Informer<Event>;
}

/** Kinds whose remote events are shown on the local object of that name (offloading reference 10.6). */
const SUBJECTS: readonly Kind<KubeObject>[] = [
  ConfigMap,
  Secret,
  Service,
  PersistentVolumeClaim,
  Pod,
  EndpointSlice,
  Ingress,
];
/** The same by `apiVersion/kind` of what an event at the provider is about. */
const BY_REFERENCE: ReadonlyMap<string, Kind<KubeObject>> = new Map<string, Kind<KubeObject>>([
  ...SUBJECTS.map((kind): [string, Kind<KubeObject>] => [`${kind.apiVersion}/${kind.kind}`, kind]),
  [`${ShadowPod.apiVersion}/${ShadowPod.kind}`, Pod],
]);

/** The local scheduler has reported the same pod already. */
const OF_INTEREST = "reason!=Scheduled";
/** The shortest time between two updates of the count of a copy, in milliseconds. */
const RECOUNT_MS = 60_000;

/** Shows events about our objects at the provider on the local objects (offloading reference 10.6). */
export class EventController implements NamespaceListener {
  private readonly caches = new Map<string, Caches>();
  private readonly controller: Controller;

  constructor(private readonly parts: Parts) {
    const { context, report, settings } = parts;
    this.controller = runController(
      {
        name: "event-reflection",
        workers: settings().flags.eventReflectionWorkers,
        sources: [],
        reconcile: (key) => report.counting(key, () => this.reconcile(key)),
      },
      context,
    );
  }

  started(namespace: RemoteNamespace): void {
    const { localInformers, peer } = this.parts;
    const local = localInformers.informer(Event, {
      namespace: namespace.local,
      labelSelector: reflectionSelector(peer.pair),
    });
    const remote = namespace.informers.informer(Event, {
      namespace: namespace.remote,
      fieldSelector: OF_INTEREST,
    });
    this.caches.set(namespace.local, { namespace, local, remote });
    const enqueue = ({ metadata }: Event) =>
      this.controller.enqueue(keyOfRef({ namespace: namespace.local, name: metadata.name }));
    remote.on({
      added: (event) => subjectOf(event) !== undefined && enqueue(event),
      updated: (_before, event) => subjectOf(event) !== undefined && enqueue(event),
      deleted: (event) => {
        if (local.get(event.metadata.name, namespace.local) !== undefined) enqueue(event);
      },
    });
    // After a start this finds copies whose original was deleted meanwhile.
    Promise.all([local.whenSynced(), remote.whenSynced()]).then(
      () => {
        for (const event of [...local.list(), ...remote.list()]) enqueue(event);
      },
      () => undefined, // stopped before
    );
  }

  stopped({ local }: RemoteNamespace): void {
    const caches = this.caches.get(local);
    if (caches === undefined) return;
    this.caches.delete(local);
    caches.local.release();
    caches.remote.release();
  }

  async stop(): Promise<void> {
    await this.controller.stop();
    for (const { namespace } of [...this.caches.values()]) this.stopped(namespace);
  }

  private async reconcile(key: string): Promise<Outcome> {
    const { namespace = "", name } = refOfKey(key);
    const caches = this.caches.get(namespace);
    if (caches === undefined || !caches.local.synced || !caches.remote.synced) return;
    const local = caches.local.get(name, namespace);
    const remote = caches.remote.get(name, caches.namespace.remote);
    if (remote === undefined || remote.metadata.deletionTimestamp != null) {
      if (local !== undefined && !isExpired(local, this.parts.context.clock.now())) await this.remove(local);
      return;
    }
    if (!isAllowed(this.parts.settings().flags.eventReflectionType, remote.metadata.annotations)) return;
    return local === undefined
      ? await this.create(remote, caches.namespace)
      : await this.recount(local, remote);
  }

  private async create(remote: Event, { local: namespace }: RemoteNamespace): Promise<void> {
    const { localClient, peer, settings } = this.parts;
    const subject = subjectOf(remote);
    if (subject === undefined || isExpired(remote, this.parts.context.clock.now())) return;
    const object = await this.find(subject, namespace);
    if (object === undefined) return;
    const { metadata } = remote;
    const { notReflected } = settings();
    try {
      await localClient.create(Event, {
        apiVersion: Event.apiVersion,
        kind: Event.kind,
        metadata: {
          name: metadata.name,
          namespace,
          labels: { ...without(metadata.labels, notReflected.labels), ...reflectionLabels(peer.pair) },
          annotations: without(metadata.annotations, notReflected.annotations),
        },
        ...localEventContent(remote, { ...object, namespace }),
      });
    } catch (error) {
      // A local event of that name, or the copy that the cache does not show yet; or the namespace is on its way out.
      if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
    }
  }

  /** Repeated events raise a count. The copy follows at most once in {@link RECOUNT_MS}. */
  private async recount(local: Event, remote: Event): Promise<Outcome> {
    if ((remote.count ?? 0) <= (local.count ?? 0) && !isNewer(remote.series, local.series)) return;
    const { clock } = this.parts.context;
    const age = clock.now() - Date.parse(local.lastTimestamp ?? local.series?.lastObservedTime ?? "");
    if (age < RECOUNT_MS) return { requeueAfterMs: RECOUNT_MS - age };
    const { name, namespace, uid } = local.metadata;
    const { count, lastTimestamp, series, message } = remote;
    const body = { metadata: { uid }, count, lastTimestamp, series, message };
    try {
      await this.parts.localClient.patch(Event, { name, namespace }, body, { type: "merge" });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  /** The local object, whose UID makes the event show up with it. */
  private async find(
    { kind, name }: LocalSubject,
    namespace: string,
  ): Promise<{ apiVersion: string; kind: string; name: string; uid: string } | undefined> {
    const { peer, localClient } = this.parts;
    const localName =
      kind.kind === "ConfigMap" && name === remoteRootCaName(peer.pair.origin) ? "kube-root-ca.crt" : name;
    const cached = kind.kind === "Pod" ? peer.localPod(keyOfRef({ namespace, name })) : undefined;
    const object = cached ?? (await localClient.get(kind, { namespace, name: localName }));
    if (object?.metadata.uid === undefined) return undefined;
    return { apiVersion: object.apiVersion, kind: object.kind, name: localName, uid: object.metadata.uid };
  }

  private async remove(local: Event): Promise<void> {
    const { localClient, peer } = this.parts;
    if (!isReflected(local, peer.pair)) return;
    const { name, namespace, uid } = local.metadata;
    try {
      await localClient.delete(Event, { name, namespace }, { uid });
    } catch (error) {
      if (!isConflict(error)) throw error; // another event by now
    }
  }
}

function isNewer(a: Event["series"], b: Event["series"]): boolean {
  return (a?.count ?? 0) > (b?.count ?? 0);
}

/** The local object that a remote event is about. */
interface LocalSubject {
  kind: Kind<KubeObject>;
  name: string;
}

/** Undefined where an event is of no interest here. */
export function subjectOf(event: Event): LocalSubject | undefined {
  const { apiVersion = "", kind = "", name } = event.involvedObject;
  const local = BY_REFERENCE.get(`${apiVersion}/${kind}`);
  if (local === undefined || !name) return undefined;
  return { kind: local, name };
}

/** What a local copy has beside its metadata. */
export function localEventContent(
  event: Event,
  subject: { apiVersion: string; kind: string; name: string; namespace: string; uid: string },
): Omit<Event, "apiVersion" | "kind" | "metadata"> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, involvedObject, ...rest } = event;
  return {
    ...rest,
    source: remoteSource(event),
    involvedObject: localReference(involvedObject, subject),
  };
}

function remoteSource({ source, reportingComponent }: Event): EventSource {
  const component = source?.component || reportingComponent || "unknown";
  return { ...source, component: `${component} (remote)` };
}

function localReference(
  remote: ObjectReference,
  {
    apiVersion,
    kind,
    name,
    namespace,
    uid,
  }: { apiVersion: string; kind: string; name: string; namespace: string; uid: string },
): ObjectReference {
  return defined({ apiVersion, kind, name, namespace, uid, fieldPath: remote.fieldPath });
}

/** How long API servers keep events by default is an hour; what is nearly that old has expired rather than been deleted, as its copy will. */
const NEARLY_EXPIRED_MS = 50 * 60_000;

/** Whether an event is old enough that its disappearance needs no answer. */
export function isExpired({ lastTimestamp, eventTime, firstTimestamp }: Event, now: number): boolean {
  const at = Date.parse(lastTimestamp ?? eventTime ?? firstTimestamp ?? "");
  return Number.isFinite(at) && now - at >= NEARLY_EXPIRED_MS;
}
