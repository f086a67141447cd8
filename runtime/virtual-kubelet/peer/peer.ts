import { NamespaceMap, NamespaceOffloading } from "../../api";
import { Label, Name } from "../../api/keys";
import type { Pod } from "../../api/kubernetes";
import type { Informer, InformerSet, KubeClient, RuntimeContext } from "../../kube";
import { askedNames } from "../../plan/peer-objects";
import type { NodeSettings } from "../settings/node-settings";
import type { ReflectionPair } from "../reflection/reflected-metadata";
import { acceptedName, acceptedNamespaces, mapToProvider } from "./offloaded-namespaces";
import { ProviderAccess } from "./provider-access";
import { RemoteNamespace } from "./remote-namespace";

/** A virtual node of the peer that this process hosts. */
export interface PeerMember {
  readonly nodeName: string;
  settings(): NodeSettings;
  /** A local pod that is bound to the node. */
  localPod(key: string): Pod | undefined;
  /** A pod of that key (`namespace/name`, both local) may have changed at the provider. */
  podChanged(key: string): void;
  /** A pod of that key, or its ShadowPod, went at the provider. */
  podGone(key: string): void;
  tokensChanged(key: string): void;
  /** A namespace began or ceased to be offloaded, or its caches filled. */
  namespaceChanged(namespace: string): void;
}

/** Told of the namespaces that are offloaded and watched. */
export interface NamespaceListener {
  started(namespace: RemoteNamespace): void;
  stopped(namespace: RemoteNamespace): void;
}

export interface PeerIdentity {
  /** Tenant namespace here. */
  namespace: string;
  /** Provider. */
  clusterId: string;
}

/** What says which namespaces are offloaded: what this cluster asks for, and what the provider answers. */
export interface OffloadingSources {
  maps: Informer<NamespaceMap>;
  offloadings: Informer<NamespaceOffloading>;
}

type Context = Pick<RuntimeContext, "clock" | "informers" | "log" | "metrics">;

/**
 * A provider as the virtual nodes of one tenant namespace see it: its clients, the namespaces that it accepted, and what it holds in them. The nodes
 * share the watches; each writes pods with its own identity, because quotas are by identity.
 */
export class Peer {
  /** Whether it is known which namespaces are offloaded: both lists have come, and {@link remoteNamespaceOf} says what follows from them. */
  known = false;
  private readonly members = new Set<PeerMember>();
  private readonly accesses = new Map<string, { access: ProviderAccess; users: number }>();
  private readonly listeners = new Set<NamespaceListener>();
  private readonly running = new Map<string, RemoteNamespace>();
  private accepted: ReadonlyMap<string, string> = new Map();
  private map: NamespaceMap | undefined;
  private reader: ProviderAccess | undefined;
  private readerInformers: InformerSet | undefined;

  constructor(
    private readonly context: Context,
    readonly identity: PeerIdentity,
    readonly pair: ReflectionPair,
    private readonly sources: OffloadingSources,
  ) {
    const { maps, offloadings } = sources;
    const relevant = ({ metadata }: NamespaceMap) => {
      if (metadata.namespace === identity.namespace) this.refresh();
    };
    maps.on({ added: relevant, updated: (_before, map) => relevant(map), deleted: relevant });
    const asked = ({ metadata }: NamespaceOffloading) => this.askedChanged(metadata);
    offloadings.on({ added: asked, updated: (_before, offloading) => asked(offloading), deleted: asked });
    // Before both first lists, the absence of a namespace says nothing.
    Promise.all([maps.whenSynced(), offloadings.whenSynced()]).then(
      () => {
        this.refresh();
        for (const member of this.members) member.namespaceChanged("");
      },
      () => undefined,
    );
  }

  /** Client for what is bound to no node; undefined while no member has one. */
  get client(): KubeClient | undefined {
    return this.reader?.client;
  }

  /** By node name. */
  get hosted(): readonly PeerMember[] {
    return [...this.members].sort((a, b) => (a.nodeName < b.nodeName ? -1 : 1));
  }

  /** A local pod that is bound to one of the nodes. */
  localPod(key: string): Pod | undefined {
    for (const member of this.members) {
      const pod = member.localPod(key);
      if (pod !== undefined) return pod;
    }
    return undefined;
  }

  /** Undefined where the namespace is not offloaded to this peer. */
  remoteNamespaceOf(local: string): string | undefined {
    return this.accepted.get(local);
  }

  /** Whether the namespace is to be offloaded to this peer; {@link remoteNamespaceOf} tells whether it is. */
  isToBeOffloaded(local: string): boolean {
    return this.map !== undefined && askedNames(this.map, local, this.offloadingOf(local)).length > 0;
  }

  /** Undefined where the namespace is not offloaded, or the provider is not reached yet. */
  cacheOf(local: string): RemoteNamespace | undefined {
    return this.running.get(local);
  }

  get namespaces(): readonly RemoteNamespace[] {
    return [...this.running.values()];
  }

  /** Access with the kubeconfig of a Secret in the tenant namespace; give it back with {@link releaseAccess}. */
  access(secretName: string): ProviderAccess {
    let shared = this.accesses.get(secretName);
    if (shared === undefined) {
      const access = new ProviderAccess(this.context, {
        name: secretName,
        namespace: this.identity.namespace,
      });
      access.onChange(() => this.refresh());
      shared = { access, users: 0 };
      this.accesses.set(secretName, shared);
    }
    shared.users += 1;
    this.refresh();
    return shared.access;
  }

  releaseAccess(secretName: string): void {
    const shared = this.accesses.get(secretName);
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users > 0) return;
    this.accesses.delete(secretName);
    this.refresh();
    shared.access.close();
  }

  join(member: PeerMember): void {
    this.members.add(member);
  }

  leave(member: PeerMember): void {
    this.members.delete(member);
  }

  /** Subscribes. The listener is called at once for namespaces that run already. */
  onNamespaces(listener: NamespaceListener): () => void {
    this.listeners.add(listener);
    for (const namespace of this.running.values()) listener.started(namespace);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.sources.maps.release();
    this.sources.offloadings.release();
    for (const namespace of [...this.running.values()]) this.stop(namespace);
    for (const { access } of this.accesses.values()) access.close();
    this.accesses.clear();
  }

  /** Starts and stops namespaces so that those run which are accepted, with the clients that there are. */
  private refresh(): void {
    this.chooseReader();
    const before = this.accepted;
    const inTenant = this.sources.maps
      .list()
      .filter(({ metadata }) => metadata.namespace === this.identity.namespace);
    this.map = mapToProvider(inTenant, this.identity.clusterId);
    this.known = this.sources.maps.synced && this.sources.offloadings.synced;
    this.accepted = this.known ? acceptedNamespaces(this.map, this.offloadingOf) : before;

    for (const namespace of [...this.running.values()]) {
      const moved = this.accepted.get(namespace.local) !== namespace.remote;
      if (moved || namespace.informers !== this.readerInformers) this.stop(namespace);
    }
    if (this.readerInformers !== undefined) {
      for (const [local, remote] of this.accepted) {
        if (!this.running.has(local)) this.start(this.readerInformers, local, remote);
      }
    }
    for (const local of new Set([...before.keys(), ...this.accepted.keys()])) {
      if (before.get(local) !== this.accepted.get(local)) this.tellNamespace(local);
    }
  }

  /** The NamespaceOffloading of one namespace changed; most such changes have no effect here. */
  private askedChanged({ name, namespace = "" }: NamespaceOffloading["metadata"]): void {
    if (name !== Name.namespaceOffloading || !this.known) return;
    const accepted = acceptedName(this.map, namespace, this.offloadingOf(namespace));
    if (accepted !== this.accepted.get(namespace)) this.refresh();
  }

  private readonly offloadingOf = (namespace: string): NamespaceOffloading | undefined =>
    this.sources.offloadings.get(Name.namespaceOffloading, namespace);

  /** The first access that has a client: any identity of ours sees the same. */
  private chooseReader(): void {
    const usable = [...this.accesses]
      .filter(([, { access }]) => access.informers !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { access }]) => access);
    if (this.reader === undefined || !usable.includes(this.reader)) this.reader = usable[0];
    this.readerInformers = this.reader?.informers;
  }

  private start(informers: InformerSet, local: string, remote: string): void {
    const key = (name: string) => `${local}/${name}`;
    const namespace = new RemoteNamespace(informers, local, remote, {
      podChanged: (name, node) => this.concerned(node, (member) => member.podChanged(key(name))),
      podGone: (name) => this.concerned(undefined, (member) => member.podGone(key(name))),
      tokensChanged: (name, node) => this.concerned(node, (member) => member.tokensChanged(key(name))),
      listed: () => this.tellNamespace(local),
    });
    this.running.set(local, namespace);
    for (const listener of this.listeners) listener.started(namespace);
  }

  private stop(namespace: RemoteNamespace): void {
    this.running.delete(namespace.local);
    for (const listener of this.listeners) listener.stopped(namespace);
    namespace.release();
  }

  private concerned(node: string | undefined, tell: (member: PeerMember) => void): void {
    for (const member of this.members) if (node === undefined || node === member.nodeName) tell(member);
  }

  private tellNamespace(local: string): void {
    for (const member of this.members) member.namespaceChanged(local);
  }
}

/** The providers of the virtual nodes that are hosted here; nodes of the same tenant namespace and provider share one. */
export class Peers {
  private readonly shared = new Map<string, { peer: Peer; users: number }>();

  constructor(
    private readonly context: RuntimeContext,
    private readonly consumerId: string,
    /** Told of peers that come and go. */
    private readonly listener: { opened(peer: Peer): void; closed(peer: Peer): void },
  ) {}

  /** Give it back with {@link release}. */
  take(identity: PeerIdentity): Peer {
    const key = keyOf(identity);
    let shared = this.shared.get(key);
    if (shared === undefined) {
      const { informers } = this.context;
      const sources = {
        maps: informers.informer(NamespaceMap, { labelSelector: Label.remoteClusterID }),
        offloadings: informers.informer(NamespaceOffloading),
      };
      const pair = { origin: this.consumerId, destination: identity.clusterId };
      shared = { peer: new Peer(this.context, identity, pair, sources), users: 0 };
      this.shared.set(key, shared);
      this.listener.opened(shared.peer);
    }
    shared.users += 1;
    return shared.peer;
  }

  release(peer: Peer): void {
    const key = keyOf(peer.identity);
    const shared = this.shared.get(key);
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users > 0) return;
    this.shared.delete(key);
    this.listener.closed(peer);
    peer.close();
  }
}

function keyOf({ namespace, clusterId }: PeerIdentity): string {
  return `${namespace}/${clusterId}`;
}
