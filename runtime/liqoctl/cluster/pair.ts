import { tenantNamespaceName } from "../../api/keys";
import type { PeeringSides } from "../../plan/peering";
import { CommandError } from "../failure";
import type { ClusterFlags, RemoteFlags } from "../options";
import type { Run } from "../run";
import { type Cluster, localCluster, remoteCluster } from "./cluster";
import { ensureTenantNamespace, findTenantNamespace } from "./tenant-namespace";

/** The two clusters of a command: local consumes, remote provides. */
export interface Pair {
  consumer: Cluster;
  provider: Cluster;
  consumerId: string;
  providerId: string;
}

export type PairFlags = ClusterFlags & RemoteFlags & { namespace: string };

/** Connects to both and reads who they are; closes them afterwards. */
export async function withPair<T>(run: Run, flags: PairFlags, work: (pair: Pair) => Promise<T>): Promise<T> {
  const consumer = localCluster(run, flags, flags.namespace, "local");
  try {
    const provider = remoteCluster(run, flags);
    try {
      const consumerId = await identified(run, consumer);
      const providerId = await identified(run, provider);
      if (consumerId === providerId) {
        throw new CommandError(
          `both kubeconfigs lead to a cluster of the ID ${consumerId}: ${consumer.client.server} and ${provider.client.server}`,
          "give the other cluster by --remote-kubeconfig or --remote-context; two clusters of one ID cannot peer",
        );
      }
      return await work({ consumer, provider, consumerId, providerId });
    } finally {
      provider.close();
    }
  } finally {
    consumer.close();
  }
}

function identified(run: Run, cluster: Cluster): Promise<string> {
  return run.progress.step(
    cluster.scope,
    "read the cluster's ID",
    () => cluster.clusterId(run),
    (id) => `cluster ${id} at ${cluster.client.server}`,
  );
}

/** The tenant namespaces of both sides, made where they are missing: the consumer's first. */
export async function ensureSides(run: Run, pair: Pair): Promise<PeeringSides> {
  const { consumer, provider, consumerId, providerId } = pair;
  const one = (cluster: Cluster, peer: string) =>
    run.progress.step(
      cluster.scope,
      `make the tenant namespace for ${peer}`,
      () => ensureTenantNamespace(run, cluster, peer),
      ({ name, created }) => `tenant namespace ${name} ${created ? "made" : "is there already"}`,
    );
  const atConsumer = await one(consumer, providerId);
  const atProvider = await one(provider, consumerId);
  return {
    consumer: { clusterId: consumerId, tenantNamespace: atConsumer.name },
    provider: { clusterId: providerId, tenantNamespace: atProvider.name },
  };
}

/** The same without making any: where there is none, the name that it would have had, in which nothing is found. */
export async function presentSides(run: Run, pair: Pair): Promise<PeeringSides> {
  const { consumer, provider, consumerId, providerId } = pair;
  const [atConsumer, atProvider] = await Promise.all([
    findTenantNamespace(run, consumer, providerId),
    findTenantNamespace(run, provider, consumerId),
  ]);
  return {
    consumer: { clusterId: consumerId, tenantNamespace: atConsumer ?? tenantNamespaceName(providerId) },
    provider: { clusterId: providerId, tenantNamespace: atProvider ?? tenantNamespaceName(consumerId) },
  };
}
