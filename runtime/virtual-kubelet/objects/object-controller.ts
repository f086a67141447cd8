import type { Desired, KubeObject } from "../../api/meta";
import {
  type Controller,
  type ControllerContext,
  type Informer,
  type InformerSet,
  isAlreadyExists,
  isConflict,
  keyOfRef,
  type KubeClient,
  mergePatch,
  type Outcome,
  refOfKey,
  runController,
} from "../../kube";
import type { NodeSettings } from "../settings/node-settings";
import type { NamespaceListener, Peer } from "../peer/peer";
import type { RemoteNamespace } from "../peer/remote-namespace";
import {
  isReflected,
  metadataPatch,
  reflectionLabels,
  without,
  withSourceRecord,
} from "../reflection/reflected-metadata";
import type { ReflectionReport } from "../reflection/reflection-report";
import { ContradictoryAnnotations, type ReflectedKind, type RelatedObjects } from "./reflected-kind";
import { WriteBackoff } from "./write-backoff";

interface Parts<T extends KubeObject, R extends KubeObject> {
  reflected: ReflectedKind<T, R>;
  peer: Peer;
  localInformers: InformerSet;
  settings: () => NodeSettings;
  report: ReflectionReport;
  context: ControllerContext;
}

interface Caches<T extends KubeObject, R extends KubeObject> {
  namespace: RemoteNamespace;
  local: Informer<T>;
  remote: Informer<R>;
  relatedObjects: RelatedObjects | undefined;
}

/**
 * Reflects the objects of one kind to one provider, in all namespaces that are offloaded there (offloading reference 9.4). It writes only what differs
 * from what the provider holds; an object of that name which is none of ours is left alone.
 */
export class ObjectController<T extends KubeObject, R extends KubeObject = T> implements NamespaceListener {
  private readonly caches = new Map<string, Caches<T, R>>();
  private readonly controller: Controller;
  /** Versions of both objects after a write that did not make them equal: an admission at the provider changes what we write. */
  private readonly disputed = new Map<string, string>();
  private readonly backoff: WriteBackoff;

  constructor(private readonly parts: Parts<T, R>) {
    const { reflected, context, report, settings } = parts;
    this.backoff = new WriteBackoff(() => context.clock.monotonic());
    this.controller = runController(
      {
        name: `${reflected.resource.toLowerCase()}-reflection`,
        workers: reflected.workers(settings()),
        sources: [],
        reconcile: (key) => report.counting(key, () => this.reconcile(key)),
      },
      context,
    );
  }

  started(namespace: RemoteNamespace): void {
    const { reflected, localInformers } = this.parts;
    const { local: localName, remote: remoteName } = namespace;
    const local = localInformers.informer(reflected.kind, { namespace: localName });
    const remote = namespace.informers.informer(reflected.remoteKind, {
      namespace: remoteName,
      project: reflected.projectRemote,
    });
    const enqueue = (name: string | undefined) => {
      if (name !== undefined) this.controller.enqueue(keyOfRef({ namespace: localName, name }));
    };
    const relatedObjects = reflected.relatedObjects?.(localName, enqueue);
    this.caches.set(localName, { namespace, local, remote, relatedObjects });
    const onLocal = ({ metadata }: T) => enqueue(metadata.name);
    local.on({ added: onLocal, updated: (_before, object) => onLocal(object), deleted: onLocal });
    const onRemote = ({ metadata }: R) => enqueue(reflected.localName(metadata.name));
    remote.on({ added: onRemote, updated: (_before, object) => onRemote(object), deleted: onRemote });
    Promise.all([local.whenSynced(), remote.whenSynced(), relatedObjects?.whenSynced()]).then(
      () => {
        for (const object of local.list()) onLocal(object);
        for (const object of remote.list()) onRemote(object);
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
    caches.relatedObjects?.release();
  }

  async stop(): Promise<void> {
    await this.controller.stop();
    for (const { namespace } of [...this.caches.values()]) this.stopped(namespace);
  }

  private async reconcile(key: string): Promise<Outcome> {
    const { reflected, peer, report } = this.parts;
    const { namespace = "", name } = refOfKey(key);
    const caches = this.caches.get(namespace);
    const { client } = peer;
    if (caches === undefined || client === undefined) return;
    if (!caches.local.synced || !caches.remote.synced || caches.relatedObjects?.synced === false) return;

    const local = caches.local.get(name, namespace);
    const found = caches.remote.get(reflected.remoteName(name), caches.namespace.remote);
    const remote = found !== undefined && reflected.isAnothers?.(found) === true ? undefined : found;
    if (remote !== undefined && !isReflected(remote, peer.pair)) {
      report.conflict(local);
      return;
    }
    if (local === undefined || this.isKept(local)) {
      this.disputed.delete(key);
      this.backoff.forget(key);
      if (remote !== undefined) await this.remove(client, remote);
      return;
    }
    try {
      return await this.align(key, local, remote, caches.namespace, client);
    } catch (error) {
      if (!isConflict(error)) report.failed(local, error);
      throw error;
    }
  }

  private isKept(local: T): boolean {
    const { reflected, report, settings } = this.parts;
    try {
      const kept = reflected.keptAtHome(local, settings());
      if (kept !== undefined) report.disabled(local, kept.why);
      return kept !== undefined;
    } catch (error) {
      // Only its owner can resolve the contradiction. Until then the object is not reflected.
      if (!(error instanceof ContradictoryAnnotations)) throw error;
      report.failed(local, error);
      return true;
    }
  }

  private async align(
    key: string,
    local: T,
    remote: R | undefined,
    namespace: RemoteNamespace,
    client: KubeClient,
  ): Promise<Outcome> {
    const { reflected, report } = this.parts;
    const desired = this.desired(local, namespace);
    if (remote === undefined) {
      const heldBack = this.heldBack(key, local, desired);
      if (heldBack !== undefined) return heldBack;
      const created = await this.create(local, desired, client);
      if (created === undefined) return;
      this.backoff.written(key, desired, created.metadata.resourceVersion);
      report.succeeded(local);
      return;
    }
    if (reflected.mustBeReplaced(remote, desired)) return await this.remove(client, remote);
    const patch = this.difference(remote, desired);
    if (patch === undefined) {
      this.disputed.delete(key);
      return;
    }
    if (this.disputed.get(key) === versions(local, remote)) return;
    const heldBack = this.heldBack(key, local, desired);
    if (heldBack !== undefined) return heldBack;
    const { name, namespace: at } = remote.metadata;
    const written = await client.patch(reflected.remoteKind, { name, namespace: at }, patch, {
      type: "merge",
    });
    this.backoff.written(key, desired, written.metadata.resourceVersion);
    if (this.difference(written, desired) !== undefined) this.disputed.set(key, versions(local, written));
    report.succeeded(local);
  }

  /** When to write content that another writer keeps undoing; undefined: now. */
  private heldBack(key: string, local: T, desired: Desired<R>): Outcome {
    const requeueAfterMs = this.backoff.delayMs(key, desired);
    if (requeueAfterMs === 0) return;
    this.parts.report.undone(local);
    return { requeueAfterMs };
  }

  /** @returns undefined where something is in the way */
  private async create(local: T, desired: Desired<R>, client: KubeClient): Promise<R | undefined> {
    const { reflected, peer, report } = this.parts;
    try {
      return await client.create(reflected.remoteKind, desired);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const { name = "", namespace } = desired.metadata;
      const existing = await client.get(reflected.remoteKind, { name, namespace });
      // One of ours: its event requeues the key as soon as the cache shows it.
      if (existing !== undefined && !isReflected(existing, peer.pair)) report.conflict(local);
      return undefined;
    }
  }

  private desired(local: T, { remote: namespace }: RemoteNamespace): Desired<R> {
    const { reflected, peer } = this.parts;
    const settings = this.parts.settings();
    const { name, uid = "", labels, annotations } = local.metadata;
    const metadata = withSourceRecord(uid, {
      labels: { ...without(labels, settings.notReflected.labels), ...reflectionLabels(peer.pair) },
      annotations: without(annotations, settings.notReflected.annotations),
    });
    return reflected.desired(local, { name: reflected.remoteName(name), namespace, ...metadata }, settings);
  }

  /** The merge patch that is needed, bound to this incarnation. */
  private difference(remote: R, desired: Desired<R>): Record<string, unknown> | undefined {
    const { metadata, ...content } = desired;
    const labels = { labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {} };
    const ofMetadata = metadataPatch(remote.metadata, labels);
    const observed: Record<string, unknown> = Object.fromEntries(Object.entries(remote));
    const { exact, absent } = this.parts.reflected;
    const ofContent = mergePatch({ ...content }, observed, { exact, absent });
    if (ofMetadata === undefined && ofContent === undefined) return undefined;
    return { ...ofContent, metadata: { uid: remote.metadata.uid, ...ofMetadata } };
  }

  private async remove(client: KubeClient, { metadata }: R): Promise<void> {
    if (metadata.deletionTimestamp != null) return;
    const { name, namespace, uid } = metadata;
    try {
      await client.delete(this.parts.reflected.remoteKind, { name, namespace }, { uid });
    } catch (error) {
      if (!isConflict(error)) throw error; // Another object by now, which has an event of its own.
    }
  }
}

function versions(local: KubeObject, remote: KubeObject): string {
  return `${local.metadata.resourceVersion} ${remote.metadata.resourceVersion}`;
}
