import type { Configuration, InternalFabric, InternalNode, Pod } from "../../../runtime/api";
import type { NetworkingOptions } from "../../../runtime/networking/networking-context";

/** Nodes, pods and a fabric as they stand in a cluster, for the tests of this folder. */

const node = (name: string, last: number): InternalNode => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "InternalNode",
  metadata: { name, uid: `uid of ${name}` },
  spec: { interface: { gateway: { name: `liqo.${name}` }, node: { ip: `10.80.0.${last}` } } },
});
export const n1 = node("n1", 1);
export const n2 = node("n2", 2);
export const pod = (name: string, address: string, over: Partial<Pod> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop" },
  spec: { containers: [] },
  status: { phase: "Running", podIP: address },
  ...over,
});
export const fabric = (over: Partial<InternalFabric["spec"]> = {}): InternalFabric => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "InternalFabric",
  metadata: { name: "milan", namespace: "liqo-tenant-milan", uid: "f" },
  spec: {
    mtu: 1340,
    gatewayIP: "10.42.2.5",
    interface: { node: { name: "liqo.A" }, gateway: { ip: "10.80.0.3" } },
    remoteCIDRs: ["10.71.0.0/16", "10.68.0.0/16"],
    ...over,
  },
});

/** Options of the networking controllers in the tests of this folder. */

export const options: NetworkingOptions = {
  liqoNamespace: "liqo",
  fullMasquerade: false,
  fabricRulePriority: 0,
  gatewayMasqueradeBypass: false,
  genevePort: 6091,
  segmentSizeClamp: 0,
  overlayWithoutTracking: false,
  apiServerBy: "service",
  exportProxy: true,
  gatewayClusterRole: "liqo-gateway",
  offloadingEnabled: true,
  global: { labels: {}, annotations: {} },
};

/** Configurations for the tests of this folder. */

export interface ConfigurationFacts {
  name?: string;
  namespace?: string;
  pod?: [original: string, remapped?: string][];
  external?: [original: string, remapped?: string][];
  local?: { pod: string[]; external: string[] };
  configured?: boolean;
}

/** How the cluster `rome` sees its peer `milan`. */
export function configuration({
  name = "milan",
  namespace = "liqo-tenant-milan",
  pod = [["10.243.0.0/16", "10.71.0.0/16"]],
  external = [["10.70.0.0/16", "10.68.0.0/16"]],
  local = { pod: ["10.42.0.0/16"], external: ["10.60.0.0/16"] },
  configured = true,
}: ConfigurationFacts = {}): Configuration {
  const firsts = (pairs: [string, string?][]) => pairs.map(([original]) => original);
  const seconds = (pairs: [string, string?][]) => pairs.map(([, remapped]) => remapped ?? "");
  return {
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "Configuration",
    metadata: {
      name,
      namespace,
      uid: `uid of ${name}`,
      generation: 3,
      labels: { "liqo.io/remote-cluster-id": name },
    },
    spec: { local: { cidr: local }, remote: { cidr: { pod: firsts(pod), external: firsts(external) } } },
    status: {
      conditions: [
        {
          type: "NetworkCIDRsConfigured",
          status: configured ? "True" : "False",
          reason: configured ? "NetworkCIDRsConfigured" : "WaitingForNetworks",
          message: "",
          observedGeneration: 3,
          lastTransitionTime: "2026-05-04T12:00:00Z",
        },
      ],
      remote: { cidr: { pod: seconds(pod), external: seconds(external) } },
    },
  };
}
