import { Label, type Namespace } from "../api";
import type { Informer } from "../kube";

/** The namespace that is dedicated to a peer: by its labels, whatever its name (control plane reference 3.2). */
export type TenantNamespaceLookup =
  { outcome: "found"; name: string } | { outcome: "missing" } | { outcome: "ambiguous"; names: string[] };

const peer = "peer";
const peersOf = ({ metadata }: Namespace): string[] => {
  const cluster = metadata.labels?.[Label.remoteClusterID];
  return cluster === undefined ? [] : [cluster];
};

export class TenantNamespaces {
  /** @param informer of the namespaces that carry the label `liqo.io/tenant-namespace` */
  constructor(readonly informer: Informer<Namespace>) {
    informer.addIndex(peer, peersOf);
  }

  of(clusterId: string): TenantNamespaceLookup {
    const names = this.informer
      .byIndex(peer, clusterId)
      .filter(
        ({ metadata }) => !metadata.deletionTimestamp && metadata.labels?.[Label.tenantNamespace] !== "false",
      )
      .map(({ metadata }) => metadata.name)
      .sort();
    const [name, second] = names;
    if (name === undefined) return { outcome: "missing" };
    return second === undefined ? { outcome: "found", name } : { outcome: "ambiguous", names };
  }

  /** Names of all namespaces that are dedicated to a peer, those on their way out too. */
  namesOf(clusterId: string): string[] {
    return this.informer.byIndex(peer, clusterId).map(({ metadata }) => metadata.name);
  }

  /** The peer that a namespace is dedicated to; undefined where it is no tenant namespace. */
  clusterOf(namespace: string | undefined): string | undefined {
    if (namespace === undefined) return undefined;
    const found = this.informer.get(namespace);
    // Most tools test the label's presence only; a tenant namespace switched off says so.
    if (found?.metadata.labels?.[Label.tenantNamespace] === "false") return undefined;
    return found?.metadata.labels?.[Label.remoteClusterID];
  }
}

/** What is wrong, and what to do, where a peer has no usable tenant namespace. */
export function describeLookup(
  lookup: Exclude<TenantNamespaceLookup, { outcome: "found" }>,
  clusterId: string,
): string {
  return lookup.outcome === "missing"
    ? `cluster "${clusterId}" has no tenant namespace; label one with ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=${clusterId}`
    : `cluster "${clusterId}" has ${lookup.names.length} tenant namespaces (${lookup.names.join(", ")}), exactly one is needed; remove the labels from the others`;
}
