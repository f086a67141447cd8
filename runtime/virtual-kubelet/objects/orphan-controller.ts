import { ShadowPod, type VirtualNode } from "../../api";
import { Label } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import {
  type Controller,
  type ControllerContext,
  type Informer,
  isConflict,
  keyOf,
  type KubeClient,
  type Outcome,
  runController,
} from "../../kube";
import type { NamespaceListener, Peer } from "../peer/peer";
import type { RemoteNamespace } from "../peer/remote-namespace";
import { isReflected } from "../reflection/reflected-metadata";

interface Parts {
  peer: Peer;
  localClient: KubeClient;
  virtualNodes: Informer<VirtualNode>;
  context: ControllerContext;
}

/** How long after a start, or after it was last looked at, a ShadowPod without a node waits, in milliseconds. */
const GRACE_MS = 60_000;

/** Deletes ShadowPods whose virtual node and local pod are both gone: no pod controller runs for them any more. */
export class OrphanController implements NamespaceListener {
  private readonly controller: Controller;
  private readonly ends: (() => void)[] = [];
  private readonly seen = new Map<string, number>();

  constructor(private readonly parts: Parts) {
    this.controller = runController(
      { name: "orphaned-shadow-pod", workers: 5, sources: [], reconcile: (key) => this.reconcile(key) },
      parts.context,
    );
    const { virtualNodes, peer } = parts;
    this.ends.push(
      virtualNodes.on({
        deleted: ({ metadata }) => {
          if (metadata.namespace !== peer.identity.namespace) return;
          for (const namespace of peer.namespaces) this.enqueueAll(namespace);
        },
      }),
    );
  }

  started(namespace: RemoteNamespace): void {
    namespace.shadowPods.whenSynced().then(
      () => this.enqueueAll(namespace),
      () => undefined,
    );
  }

  stopped(): void {
    // Its keys find no cache and end.
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.controller.stop();
  }

  private enqueueAll(namespace: RemoteNamespace): void {
    for (const shadow of namespace.shadowPods.list()) {
      if (this.isOrphan(shadow)) this.controller.enqueue(`${namespace.local}\n${keyOf(shadow)}`);
    }
  }

  private isOrphan(shadow: ShadowPod): boolean {
    const { peer, virtualNodes } = this.parts;
    const node = shadow.metadata.labels?.[Label.reflectionNodeName];
    if (!virtualNodes.synced || node === undefined || !isReflected(shadow, peer.pair)) return false;
    return !virtualNodes.list().some(({ metadata }) => metadata.name === node);
  }

  private async reconcile(key: string): Promise<Outcome> {
    const { peer, localClient, context } = this.parts;
    const [localNamespace = "", remoteKey = ""] = key.split("\n");
    const shadow = peer.cacheOf(localNamespace)?.shadowPods.getByKey(remoteKey);
    if (shadow === undefined || !this.isOrphan(shadow) || peer.client === undefined) {
      this.seen.delete(key);
      return;
    }
    // The node may come back, as in a restart of its host.
    const since = this.seen.get(key) ?? context.clock.monotonic();
    this.seen.set(key, since);
    const left = since + GRACE_MS - context.clock.monotonic();
    if (left > 0) return { requeueAfterMs: left };

    const { name, namespace, uid } = shadow.metadata;
    const local = await localClient.get(Pod, { name, namespace: localNamespace });
    if (local?.spec.nodeName === shadow.metadata.labels?.[Label.reflectionNodeName])
      return { requeueAfterMs: GRACE_MS };
    try {
      await peer.client.delete(ShadowPod, { name, namespace }, { uid });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    this.seen.delete(key);
  }
}
