import { isIP } from "node:net";

import { Label, LabelValue, type Node, type Pod, type Service, type WgGatewayServer } from "../../api";
import { keyOf, Terminal } from "../../kube";
import { podAddress } from "../address-mapping";

type Status = NonNullable<WgGatewayServer["status"]>;
type Endpoint = NonNullable<Status["endpoint"]>;
type InternalEndpoint = NonNullable<Status["internalEndpoint"]>;

/** The pod of a gateway that carries its traffic, as the nodes of the cluster reach it; undefined while none runs. */
export function internalEndpoint(pods: readonly Pod[]): InternalEndpoint | undefined {
  const pod = activePod(pods);
  const ip = pod && podAddress(pod);
  return ip === undefined ? undefined : { ip, node: pod?.spec?.nodeName ?? "" };
}

/** Two replicas may have the label while it moves. The younger pod got it last and keeps it. */
function activePod(pods: readonly Pod[]): Pod | undefined {
  return pods
    .filter(
      (pod) =>
        pod.metadata.labels?.[Label.gatewayActive] === LabelValue.true &&
        pod.status?.phase === "Running" &&
        !pod.metadata.deletionTimestamp,
    )
    .sort((a, b) =>
      (a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? 1 : -1,
    )[0];
}

/** The node of a gateway's pod, from the moment that it has one: before the pod runs, and before one of several is active. */
export function gatewayNode(pods: readonly Pod[]): string | undefined {
  const active = internalEndpoint(pods)?.node;
  if (active !== undefined) return active;
  return pods
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ spec }) => spec?.nodeName ?? "")
    .filter((name) => name !== "")
    .sort()[0];
}

/**
 * Where peers reach a server, from its Service (networking reference 9.3); undefined while the Service does not say. Addresses that need no name
 * service come first, since clients may look at the first one only.
 *
 * Behind node ports it is the gateway's node, not told before there is one, and kept when the gateway moves: the port is open on each node, and
 * the client was told once.
 *
 * @param node the gateway's
 * @param told what peers know already
 * @throws Terminal for a type of Service that leads nowhere
 */
export function serverEndpoint(
  service: Service | undefined,
  node: string | undefined,
  nodes: readonly Node[],
  told?: Endpoint,
): Endpoint | undefined {
  const port = service?.spec?.ports?.[0];
  if (service?.spec === undefined || port === undefined) return undefined;
  const endpoint = (addresses: readonly (string | undefined)[], number: number | undefined) => {
    const known = [...new Set(addresses.filter((address) => address !== undefined && address !== ""))];
    if (known.length === 0 || number === undefined) return undefined;
    const needsName = (address: string | undefined) => (isIP(address ?? "") === 0 ? 1 : 0);
    return {
      addresses: known.filter((address) => address !== undefined).sort((a, b) => needsName(a) - needsName(b)),
      port: number,
      protocol: port.protocol === "TCP" ? ("TCP" as const) : ("UDP" as const),
    };
  };
  const { type = "ClusterIP", clusterIP, clusterIPs = [] } = service.spec;
  switch (type) {
    case "ClusterIP":
      return endpoint(
        [clusterIP, ...clusterIPs].filter((address) => address !== "None"),
        port.port,
      );
    case "NodePort":
      return endpoint(nodeAddresses(node, nodes, told), port.nodePort);
    case "LoadBalancer": {
      const ingress = service.status?.loadBalancer?.ingress ?? [];
      return endpoint(
        [...ingress.map(({ ip }) => ip), ...ingress.map(({ hostname }) => hostname)],
        port.port,
      );
    }
    default:
      throw new Terminal(
        "UnusableServiceType",
        `Service ${keyOf(service)} is of type ${type}, at which no gateway can be reached; use LoadBalancer, NodePort or ClusterIP`,
      );
  }
}

/** From those meant for the outside to those that only the cluster knows. */
const ADDRESS_TYPES = [["ExternalIP", "ExternalDNS"], ["InternalIP", "InternalDNS"], ["Hostname"]];

/** Those of the node that was told while that is ready, else of the gateway's node, or, while that is not ready, of another one. */
function nodeAddresses(name: string | undefined, nodes: readonly Node[], told?: Endpoint): string[] {
  const ready = nodes.filter(isReadyForPods).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const known = ready.find((node) => addressesOf(node).some((address) => told?.addresses?.includes(address)));
  if (known !== undefined) return addressesOf(known);
  if (name === undefined) return [];
  const node = ready.find(({ metadata }) => metadata.name === name) ?? ready[0];
  return node === undefined ? [] : addressesOf(node);
}

function addressesOf({ status }: Node): string[] {
  const addresses = status?.addresses ?? [];
  for (const types of ADDRESS_TYPES) {
    const found = types.flatMap((type) =>
      addresses.filter((address) => address.type === type).map(({ address }) => address),
    );
    if (found.length > 0) return found;
  }
  return [];
}

function isReadyForPods({ metadata, status }: Node): boolean {
  return (
    metadata.labels?.[Label.nodeType] !== LabelValue.virtualNode &&
    status?.conditions?.find(({ type }) => type === "Ready")?.status === "True"
  );
}
