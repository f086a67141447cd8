/** Values that must be refused, by `parse` and by a real API server. */
import type { Manifest } from "./manifest";
import { replaced } from "./samples";

export interface Refusal {
  what: string;
  object: Manifest;
  /** Where the wrong value stands in the status. */
  subresource?: "status";
  /** What the API server's message and the one of `parse` must contain: the field, at least. */
  message: RegExp;
}

function refusal(kind: string, path: string, value: unknown, named = path): Refusal {
  const inStatus = path.startsWith("status.");
  const object = replaced(kind, path, value);
  // Another name, so that a refusal cannot be a conflict; a status needs the stored object.
  if (!inStatus && kind !== "NamespaceOffloading") object.metadata.name = "refused";
  const field = named.replace(/\.(\d+)(?=\.|$)/g, "[$1]").replace(/[.[\]]/g, "\\$&");
  return {
    what: `${path} ${JSON.stringify(value) ?? "missing"}`,
    object,
    ...(inStatus && { subresource: "status" as const }),
    message: new RegExp(field),
  };
}

/** Wrong values: every enum, pattern, format and required field. */
export const REFUSALS: Refusal[] = [
  refusal("Tenant", "spec.clusterID", "Rome"),
  refusal("Tenant", "spec.authzPolicy", "Trust"),
  refusal("Tenant", "spec.tenantCondition", "Sleeping"),
  refusal("Tenant", "spec.publicKey", "no base64!"),
  refusal("Tenant", "status.authParams.awsConfig.awsRegion", undefined),
  refusal("Identity", "spec.type", "Node"),
  refusal("Identity", "spec.authParams.ca", "%%%"),
  refusal("ResourceSlice", "spec.providerClusterID", "-milan"),
  refusal("ResourceSlice", "spec.resources.cpu", "lots"),
  refusal("ResourceSlice", "status.conditions.0.type", "Network"),
  refusal("ResourceSlice", "status.conditions.1.status", "Maybe"),
  refusal("ResourceSlice", "status.storageClasses.0.storageClassName", undefined),
  refusal("Renew", "spec.consumerClusterID", "ROME"),
  refusal("ForeignCluster", "spec.clusterID", "milan_1"),
  refusal("ForeignCluster", "spec.clusterID", undefined),
  refusal("ForeignCluster", "status.role", "Friend"),
  refusal("ForeignCluster", "status.modules.networking", undefined),
  refusal("ForeignCluster", "status.conditions.0.type", "Weather"),
  refusal("ForeignCluster", "status.conditions.0.status", "Fine"),
  refusal("NamespaceOffloading", "spec.namespaceMappingStrategy", "Random"),
  refusal("NamespaceOffloading", "spec.remoteNamespaceName", undefined, "spec: "),
  refusal("NamespaceOffloading", "spec.remoteNamespaceName", "", "spec: "),
  refusal("NamespaceOffloading", "spec.podOffloadingStrategy", "Nowhere"),
  refusal("NamespaceOffloading", "spec.clusterSelector.nodeSelectorTerms", undefined),
  refusal("NamespaceMap", "status.currentMapping.shop.phase", "Thinking"),
  refusal("VirtualNode", "spec.clusterID", "Milan"),
  refusal("VirtualNode", "spec.storageClasses.0.storageClassName", 3),
  refusal("VirtualNode", "spec.template.spec.selector", undefined),
  refusal("VirtualNode", "spec.taints.0.effect", undefined),
  refusal("VirtualNode", "spec.resourceQuota.hard.memory", "128 GiB"),
  refusal("VirtualNode", "status.conditions.0.type", "Kubelet"),
  refusal("VirtualNode", "status.conditions.0.status", "Walking"),
  refusal("ShadowPod", "spec.pod.containers", undefined),
  refusal("ShadowPod", "spec.pod.containers.0.image", 3),
  refusal("ShadowPod", "spec.pod.hostNetwork", "yes"),
  refusal("ShadowPod", "spec.pod.volumes.0.configMap.defaultMode", "0644"),
  refusal("ShadowPod", "status.phase", "Asleep"),
  refusal("ShadowEndpointSlice", "spec.template.endpoints.0.addresses", undefined),
  refusal("Quota", "spec.user", ""),
  refusal("Quota", "spec.limitsEnforcement", "none"),
  refusal("Quota", "spec.resources", undefined),
  refusal("VkOptionsTemplate", "spec.createNode", undefined),
  refusal("VkOptionsTemplate", "spec.reflectorsConfig.pod.workers", -1),
  refusal("Network", "spec.cidr", "10.70.0.0"),
  refusal("Network", "spec.cidr", "10.70.0.0/33"),
  refusal("Network", "spec.preAllocated", -1),
  refusal("Network", "status.cidr", "everything"),
  refusal("IP", "spec.ip", "192.168.7.256"),
  refusal("IP", "status.ip", "fd00::1"),
  refusal("Configuration", "spec.remote.cidr.pod", "10.201.0.0"),
  refusal("Configuration", "spec.remote.cidr.pod.0", "10.201.0.0/40"),
  refusal("Configuration", "spec.local.cidr.external", { first: "10.70.0.0/16" }),
  refusal("Configuration", "status.remote.cidr.pod.0", "10.73.0.0"),
  refusal("Configuration", "status.conditions.0.status", "Perhaps"),
  refusal("Connection", "spec.type", "Peer"),
  refusal("Connection", "spec.gatewayRef", undefined),
  refusal("PublicKey", "spec.publicKey", "key"),
  refusal("PublicKey", "spec.publicKey", "AAAA"),
  refusal("GatewayServer", "spec.endpoint.serviceType", "Ingress"),
  refusal("GatewayServer", "spec.endpoint.port", 51840, "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.ports", [], "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.ports", [51840, 51840], "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.nodePort", 30742, "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.nodePorts", [30742, 30742], "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.ports.0", 0),
  refusal("GatewayServer", "spec.endpoint.ports.1", 65_536),
  refusal("GatewayServer", "spec.endpoint.nodePorts.0", -1),
  refusal("GatewayServer", "spec.endpoint.nodePorts.1", 65_536),
  refusal("GatewayServer", "spec.mtu", "1340"),
  refusal("GatewayServer", "spec.mtu", 575),
  refusal("GatewayServer", "spec.mtu", 65_536),
  refusal("GatewayClient", "spec.endpoint.protocol", "SCTP"),
  refusal("GatewayClient", "spec.endpoint.port", undefined, "spec.endpoint"),
  refusal("GatewayClient", "spec.endpoint.port", 99_999),
  refusal("GatewayClient", "spec.endpoint.port", 0),
  refusal("GatewayClient", "spec.mtu", 0),
  refusal("GatewayClient", "status.internalEndpoint.ip", "gw"),
  refusal("WgGatewayServer", "spec.service", undefined),
  refusal("WgGatewayServer", "spec.metrics.enabled", undefined),
  refusal("WgGatewayClient", "spec.deployment", undefined),
  refusal("WgGatewayServerTemplate", "spec.objectKind.kind", 1),
  refusal("WgGatewayClientTemplate", "spec.template", "text"),
  refusal("InternalNode", "spec.interface.node.ip", "10.80.0.0/16"),
  refusal("InternalNode", "status.nodeIP", undefined),
  refusal("InternalFabric", "spec.remoteCIDRs.1", "10.74"),
  refusal("InternalFabric", "spec.gatewayIP", undefined),
  refusal("GeneveTunnel", "spec.id", 1.5),
  refusal("GeneveTunnel", "spec.internalNodeRef", undefined),
  refusal("RouteConfiguration", "spec.table.rules", []),
  refusal("RouteConfiguration", "spec.table.rules.0.dst", "10.73.0.0"),
  refusal("RouteConfiguration", "spec.table.rules.0.routes.0.scope", "universe"),
  refusal("RouteConfiguration", "spec.table.rules.1.routes", undefined),
  refusal("RouteConfiguration", "status.conditions.0.host", undefined),
  refusal("FirewallConfiguration", "spec.table.family", "ipv4"),
  refusal("FirewallConfiguration", "spec.table.chains.0.type", "mangle"),
  refusal("FirewallConfiguration", "spec.table.chains.0.policy", "reject"),
  refusal("FirewallConfiguration", "spec.table.chains.0.hook", "egress"),
  refusal("FirewallConfiguration", "spec.table.chains.0.rules.routeRules", [], "spec.table.chains.0.rules"),
  refusal("FirewallConfiguration", "spec.table.chains.0.rules.natRules.0.natType", "full"),
  refusal("FirewallConfiguration", "spec.table.chains.0.rules.natRules.0.match.0.op", "gt"),
  refusal("FirewallConfiguration", "spec.table.chains.0.rules.natRules.0.match.0.ip.position", "both"),
  refusal("FirewallConfiguration", "spec.table.chains.1.rules.filterRules.0.action", "log"),
  refusal("FirewallConfiguration", "spec.table.chains.1.rules.filterRules.0.match.0.proto.value", "icmp"),
  refusal("FirewallConfiguration", "status.conditions.0.type", "Done"),
];
