import { isIPv4 } from "node:net";

import { containsAddress, parseAddress, parseCidr } from "../../ipam/cidr";

/** A pod with addresses of its own, on a node of the cluster. */
export interface AddressedPod {
  namespace: string;
  name: string;
  addresses: string[];
}

/** The agent of a CNI on each node, as its DaemonSet has it. */
export interface CniAgent {
  namespace: string;
  name: string;
  kind: "calico" | "cilium";
  /** Environment of its containers, as far as it is plain. */
  env: Record<string, string>;
  /** Whether it is kept off virtual nodes. */
  avoidsVirtualNodes: boolean;
  /** What Cilium's ConfigMap says. */
  config?: Record<string, string>;
}

export interface ClusterFacts {
  pods: AddressedPod[];
  agents: CniAgent[];
}

/** Named at most: a hint is for reading. */
const NAMED = 3;

/**
 * What a look at a cluster says against the networks that an installation is given, and what its CNI needs to get along with virtual nodes and
 * the overlay. Nothing of it is an error: a look sees the pods of a moment.
 *
 * @param podCidrs the networks given; none where the installation has no networking
 */
export function networkHints({ pods, agents }: ClusterFacts, podCidrs: readonly string[]): string[] {
  return [
    ...(podCidrs.length === 0 ? [] : addressHints(pods, podCidrs)),
    ...agents.flatMap((agent) => agentHints(agent, podCidrs.length > 0)),
  ];
}

function addressHints(pods: readonly AddressedPod[], podCidrs: readonly string[]): string[] {
  const networks = podCidrs.map(parseCidr);
  const ipv4 = ({ addresses }: AddressedPod) => addresses.filter((address) => isIPv4(address));
  const isInside = (address: string) =>
    networks.some((network) => containsAddress(network, parseAddress(address)));
  const outside = pods.filter((pod) => ipv4(pod).some((address) => !isInside(address)));
  const without = pods.filter((pod) => pod.addresses.length > 0 && ipv4(pod).length === 0);
  return [
    ...hint(
      outside,
      `outside of networking.podCidrs (${podCidrs.join(", ")}), so peers will not reach them; give every network that the CNI takes addresses from`,
    ),
    ...hint(without, "of IPv6 alone; the networks between clusters carry IPv4 only"),
  ];
}

function hint(pods: readonly AddressedPod[], what: string): string[] {
  if (pods.length === 0) return [];
  const named = pods
    .slice(0, NAMED)
    .map(({ namespace, name, addresses }) => `${namespace}/${name} (${addresses.join(", ")})`);
  const more = pods.length > NAMED ? ` and ${pods.length - NAMED} more` : "";
  return [`pods have addresses ${what}: ${named.join(", ")}${more}`];
}

function agentHints(agent: CniAgent, networking: boolean): string[] {
  const { namespace, name, kind, env, avoidsVirtualNodes, config = {} } = agent;
  const subject = `${kind === "cilium" ? "Cilium" : "Calico"} (DaemonSet ${namespace}/${name})`;
  const hints: string[] = [];
  if (!avoidsVirtualNodes) {
    hints.push(
      kind === "cilium"
        ? `${subject} puts its agent on virtual nodes as well, where it cannot run, and Cilium's operator then taints them, so that no pod is scheduled there: give the DaemonSet the node affinity liqo.io/type NotIn [virtual-node]`
        : `${subject} puts its agent on virtual nodes as well, where it stays Pending: give the DaemonSet the node affinity liqo.io/type NotIn [virtual-node]`,
    );
  }
  if (!networking) return hints;
  if (kind === "calico" && takesAnyInterface(env["IP_AUTODETECTION_METHOD"])) {
    hints.push(
      `${subject} takes the address of a node from the first interface that it finds, which may be one of ours when it restarts: set IP_AUTODETECTION_METHOD to skip-interface=liqo.* (with the operator: nodeAddressAutodetectionV4.skipInterface: liqo.*), or name the interface`,
    );
  }
  if (kind === "cilium" && replacesKubeProxy(config) && !config["devices"]) {
    hints.push(
      `${subject} replaces kube-proxy and chooses its devices by itself, ours among them: set devices to the nodes' own interfaces. Offloaded pods are not reached through NodePorts there`,
    );
  }
  return hints;
}

function takesAnyInterface(method: string | undefined): boolean {
  if (method === undefined || method === "" || method === "first-found") return true;
  return method.startsWith("skip-interface=") && !method.includes("liqo");
}

function replacesKubeProxy(config: Record<string, string>): boolean {
  return ["true", "strict", "partial", "probe"].includes(config["kube-proxy-replacement"] ?? "");
}
