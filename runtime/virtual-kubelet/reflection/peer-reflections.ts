import type { VirtualNode } from "../../api";
import type { KubeObject } from "../../api/meta";
import type { Cidr } from "../../ipam/cidr";
import type { Informer, RuntimeContext } from "../../kube";
import type { NodeSettings } from "../node-settings";
import type { NamespaceListener, Peer } from "../peer/peer";
import { OrphanSweeper } from "../pods/orphan-sweeper";
import { configMapReflection } from "./config-map-reflection";
import { EndpointSliceReflection } from "./endpoint-slice-reflection";
import { EventReflector } from "./event-reflector";
import { ingressReflection } from "./ingress-reflection";
import { ObjectReflector } from "./object-reflector";
import type { ReflectedKind } from "./reflected-kind";
import type { ReflectionReports } from "./report";
import { secretReflection } from "./secret-reflection";
import { serviceReflection } from "./service-reflection";

interface Parts {
  context: RuntimeContext;
  peer: Peer;
  virtualNodes: Informer<VirtualNode>;
  reports: ReflectionReports;
  /** This cluster's pod networks. */
  podCidrs: readonly Cidr[];
}

type Reflector = NamespaceListener & { stop(): Promise<void> };

/**
 * Runs what is bound to no virtual node, once for each peer, for one term of its leadership: the kinds that are reflected by namespace (offloading
 * reference 6.3).
 */
export function reflectForPeer(parts: Parts, term: AbortSignal): void {
  const { peer, virtualNodes, context, reports } = parts;
  const settings = settingsOf(peer);
  if (settings === undefined || term.aborted) return;
  const { flags } = settings();
  const scoped = { ...context, signal: AbortSignal.any([context.signal, term]) };
  const clusterId = peer.identity.clusterId;
  const firstNode = () => peer.hosted[0]?.nodeName ?? "";

  const reflectors: Reflector[] = [
    new OrphanSweeper({ peer, virtualNodes, localClient: context.client, context: scoped }),
  ];
  const reflect = <T extends KubeObject, R extends KubeObject>(reflected: ReflectedKind<T, R>) => {
    if (reflected.workers(settings()) === 0) return;
    const report = reports.of(reflected.resource, clusterId, firstNode);
    const shared = { peer, settings, report, context: scoped, localInformers: context.informers };
    reflectors.push(new ObjectReflector({ reflected, ...shared }));
  };
  reflect(configMapReflection(peer.pair.origin));
  reflect(secretReflection);
  reflect(serviceReflection);
  reflect(ingressReflection);
  reflect(
    new EndpointSliceReflection({
      informers: context.informers,
      pair: peer.pair,
      podCidrs: parts.podCidrs,
      report: reports.of("EndpointSlice", clusterId, firstNode),
    }),
  );
  if (flags.eventReflectionWorkers > 0) {
    reflectors.push(
      new EventReflector({
        peer,
        settings,
        report: reports.of("Event", clusterId, firstNode),
        context: scoped,
        localClient: context.client,
        localInformers: context.informers,
      }),
    );
  }
  const ends = reflectors.map((reflector) => peer.onNamespaces(reflector));
  const stop = () => {
    for (const end of ends) end();
    for (const reflector of reflectors) void reflector.stop();
  };
  scoped.signal.addEventListener("abort", stop, { once: true });
}

/** The settings of the peer's first node; when all are gone, the last ones. */
function settingsOf(peer: Peer): (() => NodeSettings) | undefined {
  let last = peer.hosted[0]?.settings();
  if (last === undefined) return undefined;
  return () => (last = peer.hosted[0]?.settings() ?? last) as NodeSettings;
}
