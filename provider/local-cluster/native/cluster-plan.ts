import { join } from "node:path";

import type { ClusterSpec } from "../cluster-spec";
import { addressAt, parseRange, subrange, type Ipv4Range } from "../ipv4-range";
import { nodeAddress } from "./fabric";
import type { ClusterLayout, Layout } from "./layout";
import type { NodePlan } from "./node-files";

/** Where things are in a cluster's address plan. */
export function planNodes(spec: ClusterSpec, slot: number, fabric: Ipv4Range, layout: Layout): NodePlan[] {
  const pods = parseRange(spec.podCidr);
  // A /24 a node, or what is left of a small range.
  const prefix = Math.max(24, pods.prefix + Math.ceil(Math.log2(spec.nodes)));
  return Array.from({ length: spec.nodes }, (_, index) => {
    const name = `${spec.name}-${index + 1}`;
    return {
      name,
      address: nodeAddress(fabric, slot, index),
      podRange: subrange(pods, prefix, index),
      layout: layout.cluster(spec.name).node(name),
      podGroup: `${clusterGroup(layout, spec.name)}/${name}`,
    };
  });
}

/** Control group of everything that belongs to a cluster. */
export function clusterGroup(layout: Layout, name: string): string {
  return `${layout.cgroup}/clusters/${name}`;
}

/** Address of the Service that resolves names. */
export function clusterDns(spec: ClusterSpec): string {
  return addressAt(parseRange(spec.serviceCidr), 10);
}

export function auditLogFile(cluster: ClusterLayout): string {
  return join(cluster.logs, "audit.log");
}
