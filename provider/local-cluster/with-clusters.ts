import type { BackendOptions } from "./backend-options";
import type { ClusterSpecInput } from "./cluster-spec";
import { downCluster, upCluster } from "./local-clusters";
import type { RunningCluster } from "./running-cluster";

export interface WithClustersOptions extends BackendOptions {
  /**
   * Makes the clusters anew and removes them afterwards. By default clusters of the same specification that run are used as they
   * are, and stay: tests then use namespaces of their own.
   */
  fresh?: boolean;
}

/** Runs `work` with the named clusters, brought up in parallel. */
export async function withClusters<Name extends string, T>(
  specs: Record<Name, Omit<ClusterSpecInput, "name">>,
  work: (clusters: Record<Name, RunningCluster>) => Promise<T>,
  options: WithClustersOptions = {},
): Promise<T> {
  const names = Object.keys(specs) as Name[];
  if (options.fresh === true) await removeAll(names, options);
  try {
    const clusters = await Promise.all(
      names.map(async (name) => [name, await upCluster({ ...specs[name], name }, options)] as const),
    );
    return await work(Object.fromEntries(clusters) as Record<Name, RunningCluster>);
  } finally {
    if (options.fresh === true) await removeAll(names, options);
  }
}

async function removeAll(names: readonly string[], options: BackendOptions): Promise<void> {
  await Promise.all(names.map((name) => downCluster(name, options)));
}
