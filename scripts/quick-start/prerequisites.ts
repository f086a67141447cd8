import { kindUsable } from "../../provider/local-cluster/kind/kind-backend";
import { clusterSpec, type ClusterSpecInput } from "../../provider/local-cluster/cluster-spec";
import { listClusters } from "../../provider/local-cluster/local-clusters";
import { findFabric } from "../../provider/local-cluster/native/fabric";
import { hostRoutes } from "../../provider/local-cluster/native/host-network";
import { nativeLayout } from "../../provider/local-cluster/native/layout";
import { machineFacts, machineFaults } from "../../provider/local-cluster/native/machine-checks";

/** What the quick start needs, for the user to know before it begins. */
export const NEEDS = `Needs: Linux; root, or Docker for kind clusters; 4 GB of free memory; 10 GB of free disk, half of it for tools that are
built the first time where they cannot be downloaded (about 30 minutes on two cores, and Go), unless PULUMI_LIQO_TOOLS names a folder that has
them. Opens no port to other machines. Changes nothing that it did not make; system packages that are missing are installed on Debian and
Ubuntu, and named elsewhere.`;

const MEMORY_MB = 4_000;
const DISK_MB = 10_000;

/**
 * Everything that keeps the clusters from being made here, one line each; nothing if they run already. Changes nothing.
 */
export async function missingPrerequisites(specs: readonly ClusterSpecInput[]): Promise<string[]> {
  const known = new Set((await listClusters()).map(({ name }) => name));
  const wanted = specs.filter(({ name }) => !known.has(name)).map((spec) => clusterSpec.parse(spec));
  if (wanted.length === 0 || (await kindUsable())) return [];
  const linux = process.platform === "linux";
  const routes = linux ? await hostRoutes() : [];
  const fabric = linux ? await findFabric(nativeLayout()) : undefined;
  const facts = await machineFacts({ routes, fabric: fabric?.range });
  const faults = new Set(wanted.flatMap((spec) => machineFaults(spec, facts)));
  if (faults.size === 0 && facts.availableMemoryMb < MEMORY_MB) {
    faults.add(
      `${facts.availableMemoryMb} MB of memory are available, ${MEMORY_MB} MB are needed; stop something`,
    );
  }
  if (faults.size === 0 && facts.availableDiskMb < DISK_MB) {
    faults.add(
      `${facts.availableDiskMb} MB of disk are free below ${facts.stateFolder}, ${DISK_MB} MB are needed; free some, or set PULUMI_LIQO_STATE and PULUMI_LIQO_CACHE to folders elsewhere`,
    );
  }
  return [...faults];
}
