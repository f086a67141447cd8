import { setTimeout as pause } from "node:timers/promises";

import { Configuration, ForeignCluster, IP, VirtualNode } from "../api";
import { Label, LabelValue } from "../api/keys";
import { Node } from "../api/kubernetes";
import { parseCidr } from "../ipam/cidr";
import { type RuntimeContext, serverVersion } from "../kube";
import { leaseTiming, type ProcessFlags } from "./settings/flags";
import type { Caches, Services } from "./hosting/node-dependencies";
import { PeerLeadership, reflectForPeer } from "./hosting/peer-leader";
import { Replicas } from "./hosting/replicas";
import { VirtualNodeHost } from "./hosting/virtual-node-host";
import { KubeletEndpoint } from "./kubelet/kubelet-endpoint";
import { NodeReports } from "./kubelet/node-reports";
import { type Peer, Peers } from "./peer/peer";
import { ReflectionReports } from "./reflection/reflection-report";

/**
 * Starts the virtual kubelet: hosts the virtual nodes of the cluster, brings their pods to the providers, and serves their logs and sessions. Goes on
 * until the context's signal is aborted.
 *
 * @throws when the kubelet endpoint cannot listen
 */
export async function start(context: RuntimeContext, flags: ProcessFlags): Promise<void> {
  const { client, clock, log, metrics } = context;
  const caches = openCaches(context, flags);
  const reports = new ReflectionReports({
    client,
    clock,
    log,
    metrics,
    eventOnSuccess: flags.eventOnSuccess,
  });
  const podCidrs = flags.localPodcidr.filter((cidr) => !cidr.includes(":")).map(parseCidr);
  const leaderships = new Map<Peer, PeerLeadership>();
  const peers = new Peers(context, flags.clusterId, {
    opened: (peer) => {
      const lead = (term: AbortSignal) =>
        reflectForPeer({ context, peer, reports, podCidrs, virtualNodes: caches.virtualNodes }, term);
      leaderships.set(peer, leadership(peer, context, flags, caches, lead));
    },
    closed: (peer) => {
      leaderships.get(peer)?.close();
      leaderships.delete(peer);
    },
  });

  const hosting: { host?: VirtualNodeHost } = {};
  const backend = new NodeReports({
    nodes: () => hosting.host?.nodes ?? [],
    localClient: client,
    consumerId: flags.clusterId,
    log,
  });
  const { endpoint, port } = await KubeletEndpoint.start(context, flags, backend);
  const kubeletVersion = await apiServerVersion(context);
  const services: Services = {
    context,
    leaseClient: context.elections.client,
    flags,
    reports,
    peers,
    caches,
    kubeletPort: port,
    kubeletVersion,
  };
  const host = new VirtualNodeHost(services, (node) => {
    endpoint.certifyFor(node.nodeName);
    leaderships.get(node.provider.peer)?.look();
  });
  hosting.host = host;
  context.health.addReadiness("virtual nodes", () =>
    host.started ? undefined : "the VirtualNodes were not listed yet",
  );
  if (flags.replicas > 1) countReplicas(context, flags, (live) => host.share(live));
  log.info("virtual kubelet started", {
    cluster: flags.clusterId,
    replica: flags.podName,
    kubeletPort: port,
  });
}

function openCaches({ informers }: RuntimeContext, { liqoNamespace }: ProcessFlags): Caches {
  return {
    virtualNodes: informers.informer(VirtualNode),
    nodes: informers.informer(Node, { labelSelector: `${Label.nodeType}=${LabelValue.virtualNode}` }),
    foreignClusters: informers.informer(ForeignCluster),
    configurations: informers.informer(Configuration, { labelSelector: Label.remoteClusterID }),
    apiServerIps: informers.informer(IP, {
      namespace: liqoNamespace,
      labelSelector: `${Label.ipType}=${LabelValue.apiServer}`,
    }),
  };
}

function leadership(
  peer: Peer,
  context: RuntimeContext,
  flags: ProcessFlags,
  { virtualNodes }: Caches,
  lead: (term: AbortSignal) => void,
): PeerLeadership {
  return new PeerLeadership({
    context,
    peer,
    virtualNodes,
    lead,
    identity: flags.podName,
    timing: leaseTiming(flags),
  });
}

function countReplicas(
  { clock, elections, log, signal, shutdown }: RuntimeContext,
  flags: ProcessFlags,
  onCount: (live: number) => void,
): void {
  const { leaseDurationMs, renewMs } = leaseTiming(flags);
  const replicas = new Replicas({
    client: elections.client,
    clock,
    log,
    namespace: flags.liqoNamespace,
    identity: flags.podName,
    everyMs: renewMs,
    durationMs: leaseDurationMs,
    onCount,
  });
  shutdown.add(replicas.run(signal));
}

const RETRY_MS = 1_000;

/** Virtual nodes show the version of this cluster's API server, so it is worth waiting for. */
async function apiServerVersion({ client, log, signal }: RuntimeContext): Promise<string> {
  for (;;) {
    try {
      return await serverVersion(client, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn("the API server's version cannot be read", { error });
      await pause(RETRY_MS, undefined, { signal, ref: false });
    }
  }
}
