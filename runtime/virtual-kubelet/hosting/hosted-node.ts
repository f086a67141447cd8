import type { VirtualNode } from "../../api";
import { Label } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import {
  type Controller,
  type ControllerContext,
  HeldKeys,
  type Informer,
  isRefusal,
  keyOf,
  runController,
  type Source,
  watches,
} from "../../kube";
import type { NodeSettings } from "../settings/node-settings";
import { keepNodeAlive, ProviderPing } from "../node/node-heartbeat";
import { HEARTBEAT_MS, NodeWriter } from "../node/node-writer";
import type { Peer, PeerMember } from "../peer/peer";
import { projectLocalPod } from "../peer/projections";
import type { ProviderAccess } from "../peer/provider-access";
import { PodReconciler } from "../pods/pod-reconciler";
import { TokenReconciler } from "../tokens/token-reconciler";
import { NodeDependencies, type Services } from "./node-dependencies";

/** Reason of the event when the provider does not answer and the node gets no heartbeats. */
const PROVIDER_UNREACHABLE = "ProviderUnreachable";
/** Reason of the event when the API server refuses to create or change the Node. */
const NODE_REFUSED = "NodeRefused";

/**
 * One virtual node, for as long as this process hosts it: its Node, its Lease, its pods and their tokens. Nodes share watches and nothing else, so a slow
 * provider delays no other node.
 */
export class HostedNode implements PeerMember {
  readonly nodeName: string;
  readonly localPods: Informer<Pod>;
  private readonly peer: Peer;
  private readonly access: ProviderAccess;
  private readonly secretName: string;
  private readonly ping: ProviderPing;
  private readonly nodeWriter: NodeWriter;
  private readonly pods: Controller;
  private readonly tokens: Controller;
  private readonly tokenRemovals: HeldKeys;
  private readonly node: Controller;
  private readonly dependencies: NodeDependencies;
  /** What pods depend on, as it was when they were last looked at for its sake. */
  private seen: { settings: string; translate: unknown } | undefined;

  constructor(
    private readonly services: Services,
    virtualNode: VirtualNode,
    term: AbortSignal,
  ) {
    const { context, flags, peers } = services;
    this.dependencies = new NodeDependencies(services, virtualNode);
    const settings = this.dependencies.settings();
    this.nodeName = settings.name;
    this.secretName = settings.kubeconfigSecret;
    this.peer = peers.take({ namespace: settings.namespace, clusterId: settings.clusterId });
    this.access = this.peer.access(this.secretName);
    this.localPods = context.informers.informer(Pod, {
      fieldSelector: `spec.nodeName=${this.nodeName}`,
      project: projectLocalPod,
    });

    this.tokenRemovals = new HeldKeys(context.clock, (key) => this.tokens.enqueue(key));
    this.localPods.on({ deleted: () => this.tokenRemovals.busy() });

    const log = context.log.child({ virtualNode: this.nodeName, provider: settings.clusterId });
    const scoped: ControllerContext = { ...context, log, signal: term };
    this.ping = new ProviderPing({
      access: this.access,
      foreignCluster: () => this.dependencies.foreignCluster(),
      clock: context.clock,
      log,
      intervalMs: flags.nodePingInterval,
      timeoutMs: flags.nodePingTimeout,
      onChange: () => this.node.enqueue(this.nodeName),
      onFailure: (problem) => context.events.warning(virtualNode, PROVIDER_UNREACHABLE, problem),
    });
    this.nodeWriter = new NodeWriter(context.client, context.clock);
    this.node = this.runNode(scoped);
    this.pods = this.runPods(scoped);
    this.tokens = this.runTokens(scoped);
    this.peer.join(this);
    const endAccess = this.access.onChange(() => this.enqueueAll());
    this.enqueueAll();

    void this.ping.run(term);
    const heartbeat = {
      client: services.leaseClient,
      clock: context.clock,
      log: context.log,
      ping: this.ping,
      node: () => (this.settings().createNode ? services.caches.nodes.get(this.nodeName) : undefined),
      leaseDurationMs: flags.nodeLeaseDuration,
    };
    void keepNodeAlive(heartbeat, term);
    term.addEventListener(
      "abort",
      () => {
        endAccess();
        this.end();
      },
      { once: true },
    );
  }

  /** The peer, for the kubelet endpoint. */
  get provider(): { peer: Peer; access: ProviderAccess } {
    return { peer: this.peer, access: this.access };
  }

  settings(): NodeSettings {
    return this.dependencies.settings();
  }

  localPod(key: string): Pod | undefined {
    return this.localPods.getByKey(key);
  }

  podChanged(key: string): void {
    this.pods.enqueue(key);
  }

  podGone(key: string): void {
    this.tokenRemovals.busy();
    this.pods.enqueue(key);
  }

  tokensChanged(key: string): void {
    this.tokens.enqueue(key);
  }

  namespaceChanged(namespace: string): void {
    for (const pod of this.localPods.list()) {
      if (namespace !== "" && pod.metadata.namespace !== namespace) continue;
      this.pods.enqueue(keyOf(pod));
      this.tokens.enqueue(keyOf(pod));
    }
    // ShadowPods whose local pod is gone.
    const remote = this.peer.cacheOf(namespace);
    if (remote?.synced !== true) return;
    for (const shadow of remote.shadowPods.list()) {
      if (shadow.metadata.labels?.[Label.reflectionNodeName] !== this.nodeName) continue;
      this.pods.enqueue(`${namespace}/${shadow.metadata.name}`);
    }
  }

  private end(): void {
    this.peer.leave(this);
    this.localPods.release();
    this.tokenRemovals.end();
    void Promise.all([this.pods.stop(), this.tokens.stop(), this.node.stop()]).then(() => {
      this.peer.releaseAccess(this.secretName);
      this.services.peers.release(this.peer);
    });
  }

  private enqueueAll(): void {
    this.namespaceChanged("");
    for (const { local } of this.peer.namespaces) this.namespaceChanged(local);
  }

  private runPods(context: ControllerContext): Controller {
    const { flags, reports } = this.services;
    const pods = new PodReconciler({
      nodeName: this.nodeName,
      consumerId: flags.clusterId,
      localPods: this.localPods,
      localClient: this.services.context.client,
      peer: this.peer,
      access: this.access,
      dependencies: () => ({
        settings: this.settings(),
        nodeIp: flags.nodeIp,
        translateIp: this.dependencies.network().translate,
        apiServer: () => this.dependencies.apiServer(),
      }),
      report: reports.of("Pod", this.peer.identity.clusterId, () => this.nodeName),
      clock: context.clock,
      enqueue: (key) => this.pods.enqueue(key),
    });
    return runController(
      {
        name: "pod-reflection",
        workers: this.settings().flags.podReflectionWorkers,
        sources: [watches(this.localPods)],
        reconcile: (key) => pods.reconcile(key),
      },
      context,
    );
  }

  private runTokens(context: ControllerContext): Controller {
    const { reports } = this.services;
    const tokens = new TokenReconciler({
      nodeName: this.nodeName,
      localPods: this.localPods,
      localClient: this.services.context.client,
      peer: this.peer,
      access: this.access,
      enabled: () => this.settings().flags.enableApiserverSupport,
      stays: () => !this.isLeaving(),
      removals: this.tokenRemovals,
      report: reports.of("ServiceAccount", this.peer.identity.clusterId, () => this.nodeName),
      clock: context.clock,
    });
    return runController(
      {
        name: "token-reflection",
        workers: this.settings().flags.serviceaccountReflectionWorkers,
        sources: [watches(this.localPods, { when: ({ type }) => type !== "updated" })],
        reconcile: (key) => tokens.reconcile(key),
      },
      context,
    );
  }

  private runNode(context: ControllerContext): Controller {
    const { caches } = this.services;
    const self = () => [this.nodeName];
    const concerns = (clusterId: string | undefined) =>
      clusterId === this.peer.identity.clusterId ? self() : [];
    const sources: Source[] = [
      watches(caches.virtualNodes, {
        keys: ({ metadata }) => (metadata.name === this.nodeName ? self() : []),
      }),
      watches(caches.nodes, { keys: ({ metadata }) => (metadata.name === this.nodeName ? self() : []) }),
      watches(caches.foreignClusters, { keys: ({ spec }) => concerns(spec.clusterID) }),
      watches(caches.configurations, {
        keys: ({ metadata }) => concerns(metadata.labels?.[Label.remoteClusterID]),
      }),
    ];
    return runController(
      {
        name: "virtual-node",
        workers: 1,
        sources,
        reconcile: async () => {
          this.followDependencies();
          if (this.isLeaving()) this.tokenRemovals.flush();
          try {
            if (await this.writeNode()) return { requeueAfterMs: HEARTBEAT_MS };
          } catch (error) {
            const virtualNode = this.dependencies.virtualNode();
            if (isRefusal(error) && virtualNode !== undefined)
              this.services.context.events.warning(virtualNode, NODE_REFUSED, error.message);
            throw error;
          }
        },
      },
      context,
    );
  }

  private isLeaving(): boolean {
    const virtualNode = this.dependencies.virtualNode();
    return virtualNode === undefined || virtualNode.metadata.deletionTimestamp != null;
  }

  /** @returns whether there is a Node to keep */
  private async writeNode(): Promise<boolean> {
    const { caches, flags, kubeletPort, kubeletVersion } = this.services;
    const settings = this.settings();
    const observed = caches.nodes.get(this.nodeName);
    if (!settings.createNode || (observed === undefined && this.isLeaving())) return false;
    // While the provider does not answer, the heartbeat of the Node must age.
    if (!this.ping.reachable) return false;
    const network = this.dependencies.network();
    await this.nodeWriter.write(observed, {
      settings,
      networkReady: settings.checkNetwork && network.enabled ? network.ready : undefined,
      address: flags.nodeIp,
      port: kubeletPort,
      kubeletVersion,
    });
    return true;
  }

  /** What pods show depends on the settings and on the network; when those change, all of them are looked at. */
  private followDependencies(): void {
    const { notReflected, flags } = this.settings();
    const settings = JSON.stringify([notReflected, flags.disableIpReflection]);
    const { translate } = this.dependencies.network();
    if (this.seen?.settings === settings && this.seen.translate === translate) return;
    if (this.seen !== undefined) this.enqueueAll();
    this.seen = { settings, translate };
  }
}
