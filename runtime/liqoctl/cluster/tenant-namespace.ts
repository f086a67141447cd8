import { Label, tenantNamespaceName } from "../../api/keys";
import { Namespace } from "../../api/kubernetes";
import { isForbidden } from "../../kube";
import { tenantNamespace } from "../../plan/peering";
import { CommandError } from "../failure";
import type { Run } from "../run";
import type { Cluster } from "./cluster";

/**
 * The namespace for everything about a peer, by its labels, whatever its name (control plane reference 3.2). Whoever may not list namespaces
 * gets the one of the usual name.
 *
 * @returns undefined where there is none
 */
export async function findTenantNamespace(
  run: Run,
  { client }: Cluster,
  peer: string,
): Promise<string | undefined> {
  const labelSelector = `${Label.tenantNamespace},${Label.remoteClusterID}=${peer}`;
  const found = await client.list(Namespace, { labelSelector }, run.call).catch(async (error: unknown) => {
    if (!isForbidden(error)) throw error;
    const usual = await client.get(Namespace, { name: tenantNamespaceName(peer) }, run.call);
    const labels = usual?.metadata.labels ?? {};
    return usual !== undefined && Label.tenantNamespace in labels && labels[Label.remoteClusterID] === peer
      ? [usual]
      : [];
  });
  const names = found.map(({ metadata }) => metadata.name).sort();
  const [name, second] = names;
  if (second !== undefined) {
    throw new CommandError(
      `${client.server} has ${names.length} tenant namespaces for cluster ${peer}: ${names.join(", ")}`,
      `take the label ${Label.remoteClusterID} from all but one of them`,
    );
  }
  return name;
}

/** @throws CommandError where there is none */
export async function requireTenantNamespace(run: Run, cluster: Cluster, peer: string): Promise<string> {
  const name = await findTenantNamespace(run, cluster, peer);
  if (name !== undefined) return name;
  throw new CommandError(
    `${cluster.client.server} has no tenant namespace for cluster ${peer}`,
    `see the IDs of its peers with "liqoctl info", or peer with ${peer} first; the namespace is labelled ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=${peer}`,
  );
}

/** Makes it where there is none. */
export async function ensureTenantNamespace(
  run: Run,
  cluster: Cluster,
  peer: string,
): Promise<{ name: string; created: boolean }> {
  const present = await findTenantNamespace(run, cluster, peer);
  if (present !== undefined) return { name: present, created: false };
  const manifest = tenantNamespace(tenantNamespaceName(peer), peer);
  const { change } = await cluster.ensure(run, Namespace, manifest);
  return { name: manifest.metadata.name, created: change !== "none" };
}
