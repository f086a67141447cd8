import { type KubeClient, type RuntimeContext, serverVersion, sleep } from "../kube";
import { packageVersion } from "../api/package-root";
import { type PeerCounts, type TelemetryFacts, telemetryReport } from "./report";
import {
  Connection,
  ForeignCluster,
  type KubeObject,
  Label,
  Namespace,
  NamespaceOffloading,
  Node,
  Pod,
  ResourceSlice,
  VirtualNode,
} from "../api";
import { isSource } from "../plan/peer-objects";

export interface TelemetryOptions {
  /** Where reports go. */
  endpoint: string;
  /** A random UUID by which the receiver tells clusters apart. */
  identity: string;
  /** Milliseconds between two reports. */
  intervalMs: number;
  provider: string;
  modules: TelemetryModules;
}

/** The first report waits this long at most, in milliseconds: a process that keeps ending sends none. */
const FIRST_MS = 600_000;
const SEND_TIMEOUT_MS = 30_000;

/** Sends a report now and then. One that can't be sent is told in the log, and the next one is sent all the same. */
export async function runTelemetry(runtime: RuntimeContext, options: TelemetryOptions): Promise<void> {
  const { clock, log, signal } = runtime;
  await sleep(clock, Math.min(FIRST_MS, options.intervalMs), signal);
  while (!signal.aborted) {
    try {
      await report(runtime, options);
    } catch (error) {
      if (!signal.aborted) log.warn("telemetry not sent", { endpoint: options.endpoint, error });
    }
    await sleep(clock, options.intervalMs, signal);
  }
}

async function report({ client, log, signal }: RuntimeContext, options: TelemetryOptions): Promise<void> {
  const { endpoint, identity, provider, modules } = options;
  const [observed, kubernetesVersion] = await Promise.all([
    observeForTelemetry(client, modules),
    serverVersion(client, signal),
  ]);
  const report = telemetryReport({
    clusterID: identity,
    liqoVersion: packageVersion(),
    kubernetesVersion,
    provider,
    ...observed,
  });
  const answer = await fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(report),
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]),
  });
  await answer.body?.cancel();
  if (answer.status !== 200) throw new Error(`the receiver answered ${answer.status}, not 200`);
  log.info("telemetry sent", { endpoint });
}

/** Which modules the cluster has: kinds of the others may not be read. */
interface TelemetryModules {
  networking: boolean;
  authentication: boolean;
  offloading: boolean;
}

type Observed = Omit<TelemetryFacts, "clusterID" | "liqoVersion" | "kubernetesVersion" | "provider">;

/** Reads once what a report needs: nothing of it is kept, since a day lies between two. */
async function observeForTelemetry(client: KubeClient, modules: TelemetryModules): Promise<Observed> {
  const [nodes, foreignClusters, connections, slices, virtualNodes, offloadings, namespaces] =
    await Promise.all([
      client.list(Node),
      client.list(ForeignCluster),
      modules.networking ? client.list(Connection) : [],
      modules.authentication ? client.list(ResourceSlice) : [],
      modules.offloading ? client.list(VirtualNode) : [],
      modules.offloading ? client.list(NamespaceOffloading) : [],
      client.list(Namespace),
    ]);
  const pods = await Promise.all(
    nodes
      .filter((node) => peerOf(node) !== "")
      .map(async (node) => {
        const found = await client.list(Pod, { fieldSelector: `spec.nodeName=${node.metadata.name}` });
        return found.map(({ metadata }) => ({
          namespace: metadata.namespace ?? "",
          clusterID: peerOf(node),
        }));
      }),
  );
  const of = <T extends KubeObject>(objects: readonly T[], clusterId: string) =>
    objects.filter((object) => peerOf(object) === clusterId);
  const peers = new Map(
    foreignClusters.map(({ spec: { clusterID } }): [string, PeerCounts] => {
      const latency = of(connections, clusterID)[0]?.status?.latency?.value;
      return [
        clusterID,
        {
          ...(latency !== undefined && { latency }),
          nodes: of(nodes, clusterID).length,
          virtualNodes: virtualNodes.filter(({ spec }) => spec.clusterID === clusterID).length,
          resourceSlices: of(slices, clusterID).filter((slice) => isSource(slice)).length,
        },
      ];
    }),
  );
  return { nodes, foreignClusters, peers, offloadings, namespaces, offloadedPods: pods.flat() };
}

function peerOf({ metadata }: KubeObject): string {
  return metadata.labels?.[Label.remoteClusterID] ?? "";
}
