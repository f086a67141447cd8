/**
 * Finalizers of the Liqo API. Objects made by upstream Liqo carry the same ones, so either can clean up after the other.
 *
 * Source: control-plane.md 1.3, offloading.md 1.3, networking.md 3.
 */
export const Finalizer = {
  tenant: "tenant.liqo.io/finalizer",
  /** On a control-plane kubeconfig secret, while its peer is replicated to. */
  replicator: "crdreplicator.liqo.io/operator",
  /** On the source of a replicated object, never on the copy. */
  replicatedResource: "crdreplicator.liqo.io/resource",
  /** On a ForeignCluster, while its API server is watched. */
  apiServerChecker: "api-server-checker.liqo.io/finalizer",

  namespaceOffloading: "namespaceoffloading-controller.liqo.io/finalizer",
  /** On the provider's NamespaceMap. */
  namespaceMap: "namespacemap-controller.liqo.io/finalizer",
  /** On a VirtualNode, and on the credentials of a slice that it uses. */
  virtualNode: "virtualnode-controller.liqo.io/finalizer",

  network: "network.ipam.liqo.io/finalizer",
  ip: "ip.ipam.liqo.io/finalizer",
  ipMapping: "ipmapping-nat-controller.liqo.io/finalizer",
  gatewayClusterRoleBinding: "networking.liqo.io/clusterrolebinding",
  internalFabric: "networking.liqo.io/internal-fabric-geneve-tunnel-finalizer",
  /** Set by older versions; only ever removed. */
  internalFabricLegacy: "internalfabric-controller.liqo.io/finalizer",
  internalNodeRoute: "internalnodes-route.liqo.io/finalizer",
  /** On configurations of category `fabric`; gateways use none. */
  firewallConfiguration: "firewallconfigurations-controller.liqo.io/finalizer",
  routeConfiguration: "routeconfiguration-controller.liqo.io/finalizer",
} as const;
