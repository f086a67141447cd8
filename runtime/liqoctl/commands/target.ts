/** Commands about one object for a peer, in a namespace that is chosen or is the peer's tenant namespace. */
import { Option } from "commander";

import { Name, tenantNamespaceName } from "../../api/keys";
import { type Cluster, withCluster } from "../cluster/cluster";
import {
  ensureTenantNamespace,
  findTenantNamespace,
  requireTenantNamespace,
} from "../cluster/tenant-namespace";
import type { GlobalFlags, OutputFormat } from "../options";
import type { Run } from "../run";

export interface TargetFlags {
  namespace?: string;
  liqoNamespace: string;
}

export function targetOptions(): Option[] {
  return [
    new Option(
      "-n, --namespace <name>",
      "namespace of the object; by default the tenant namespace of the peer",
    ),
    new Option("--liqo-namespace <name>", "namespace that Liqo is installed in").default(Name.liqoNamespace),
  ];
}

export async function withTarget<T>(
  run: Run,
  flags: TargetFlags & GlobalFlags,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  return await withCluster(run, flags, flags.liqoNamespace, work);
}

/** The namespace given, or the peer's, made where it is missing: `default` means that none was given, as for upstream. */
export async function targetNamespace(
  run: Run,
  cluster: Cluster,
  flags: TargetFlags,
  peer: string,
): Promise<string> {
  if (flags.namespace !== undefined && flags.namespace !== "default") return flags.namespace;
  return (await ensureTenantNamespace(run, cluster, peer)).name;
}

/**
 * The same for what means nothing without a peering. A manifest that is printed only goes where the namespace will be.
 *
 * @throws CommandError where the peer has none: most often its ID is mistyped
 */
export async function peeredNamespace(
  run: Run,
  cluster: Cluster,
  flags: TargetFlags & { output?: OutputFormat },
  peer: string,
): Promise<string> {
  if (flags.namespace !== undefined && flags.namespace !== "default") return flags.namespace;
  if (flags.output === undefined) return await requireTenantNamespace(run, cluster, peer);
  return (await findTenantNamespace(run, cluster, peer)) ?? tenantNamespaceName(peer);
}
