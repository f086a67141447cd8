import type { VirtualNode } from "../../api";
import { Name } from "../../api/keys";
import type { KubeObject } from "../../api/meta";
import type { Cidr } from "../../ipam/cidr";
import type { Informer, LeaderElectionOptions, RuntimeContext } from "../../kube";
import type { NodeSettings } from "../settings/node-settings";
import { EndpointSliceReflection } from "../objects/endpoint-slice-reflection";
import { EventController } from "../objects/event-controller";
import { ObjectController } from "../objects/object-controller";
import { OrphanController } from "../objects/orphan-controller";
import type { ReflectedKind } from "../objects/reflected-kind";
import { reflectKinds } from "../objects/reflected-kinds";
import type { NamespaceListener, Peer } from "../peer/peer";
import type { ReflectionReports } from "../reflection/reflection-report";

interface Parts {
  context: RuntimeContext;
  peer: Peer;
  virtualNodes: Informer<VirtualNode>;
  /** Identity of this replica. */
  identity: string;
  timing: Pick<LeaderElectionOptions, "leaseDurationMs" | "renewDeadlineMs" | "retryMs" | "renewMs">;
  lead: (term: AbortSignal) => void;
}

/**
 * Decides which replica reflects the objects of a peer that are bound to no virtual node. With one virtual node in the tenant namespace its host leads
 * without a Lease. Several nodes may have several hosts, which elect a leader.
 */
export class PeerLeadership {
  private readonly closing = new AbortController();
  private readonly unsubscribe: () => void;
  private mode: { alone: boolean; end: AbortController } | undefined;

  constructor(private readonly parts: Parts) {
    const { virtualNodes, context } = parts;
    const look = () => this.look();
    this.unsubscribe = virtualNodes.on({ added: look, updated: look, deleted: look });
    context.signal.addEventListener("abort", this.close, { once: true });
  }

  readonly close = (): void => {
    this.unsubscribe();
    this.parts.context.signal.removeEventListener("abort", this.close);
    this.closing.abort();
    this.mode?.end.abort();
  };

  /** To be called when a node of the peer was joined, too: before there is none to read settings of. */
  look(): void {
    const { virtualNodes, peer, lead } = this.parts;
    if (this.closing.signal.aborted || peer.hosted.length === 0) return;
    const { namespace, clusterId } = peer.identity;
    const nodes = virtualNodes
      .list()
      .filter(({ metadata, spec }) => metadata.namespace === namespace && spec.clusterID === clusterId);
    const alone = nodes.length <= 1;
    if (this.mode?.alone === alone) return;
    this.mode?.end.abort();
    const end = new AbortController();
    this.mode = { alone, end };
    if (alone) lead(end.signal);
    else this.stand(end.signal);
  }

  private stand(end: AbortSignal): void {
    const { context, peer, identity, timing, lead } = this.parts;
    context.elections.stand({
      lease: { name: Name.reflectionLease, namespace: peer.identity.namespace },
      identity,
      onElected: ({ signal }) => lead(signal),
      ...timing,
      until: end,
    });
  }
}

interface ReflectionParts {
  context: RuntimeContext;
  peer: Peer;
  virtualNodes: Informer<VirtualNode>;
  reports: ReflectionReports;
  /** This cluster's pod networks. */
  podCidrs: readonly Cidr[];
}

type NamespaceController = NamespaceListener & { stop(): Promise<void> };

/**
 * Runs the controllers of a peer that are bound to no virtual node, for one term of the leadership: the kinds that are reflected by namespace (offloading
 * reference 6.3).
 */
export function reflectForPeer(parts: ReflectionParts, term: AbortSignal): void {
  const { peer, virtualNodes, context, reports } = parts;
  const settings = settingsOf(peer);
  if (settings === undefined || term.aborted) return;
  const { flags } = settings();
  const scoped = { ...context, signal: AbortSignal.any([context.signal, term]) };
  const clusterId = peer.identity.clusterId;
  const firstNode = () => peer.hosted[0]?.nodeName ?? "";

  const controllers: NamespaceController[] = [
    new OrphanController({ peer, virtualNodes, localClient: context.client, context: scoped }),
  ];
  const reflect = <T extends KubeObject, R extends KubeObject>(reflected: ReflectedKind<T, R>) => {
    if (reflected.workers(settings()) === 0) return;
    const report = reports.of(reflected.resource, clusterId, firstNode);
    const shared = { peer, settings, report, context: scoped, localInformers: context.informers };
    controllers.push(new ObjectController({ reflected, ...shared }));
  };
  reflectKinds(peer.pair.origin, reflect);
  reflect(
    new EndpointSliceReflection({
      informers: context.informers,
      pair: peer.pair,
      podCidrs: parts.podCidrs,
      report: reports.of("EndpointSlice", clusterId, firstNode),
    }),
  );
  if (flags.eventReflectionWorkers > 0) {
    controllers.push(
      new EventController({
        peer,
        settings,
        report: reports.of("Event", clusterId, firstNode),
        context: scoped,
        localClient: context.client,
        localInformers: context.informers,
      }),
    );
  }
  const ends = controllers.map((controller) => peer.onNamespaces(controller));
  const stop = () => {
    for (const end of ends) end();
    for (const controller of controllers) void controller.stop();
  };
  scoped.signal.addEventListener("abort", stop, { once: true });
}

/** The settings of the peer's first node; when all are gone, the last ones. */
function settingsOf(peer: Peer): (() => NodeSettings) | undefined {
  let last = peer.hosted[0]?.settings();
  if (last === undefined) return undefined;
  return () => (last = peer.hosted[0]?.settings() ?? last) as NodeSettings;
}
