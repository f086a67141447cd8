import { isIP } from "node:net";

import { Label, LabelValue, type Node, type Pod, type Service, type WgGatewayServer } from "../../api";
import { keyOf, Terminal } from "../../kube";
import { podAddress } from "../generate/node-routes";

type Status = NonNullable<WgGatewayServer["status"]>;
export type Endpoint = NonNullable<Status["endpoint"]>;
export type InternalEndpoint = NonNullable<Status["internalEndpoint"]>;

/** The pod of a gateway that carries its traffic, as the nodes of the cluster reach it; undefined while none runs. */
export function internalEndpoint(pods: readonly Pod[]): InternalEndpoint | undefined {
  const pod = activePod(pods);
  const ip = pod && podAddress(pod);
  return ip === undefined ? undefined : { ip, node: pod?.spec?.nodeName ?? "" };
}

/** While the label moves from one replica to the other, two may have it: the one that got it last is the one that will keep it. */
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

/**
 * Where peers reach a server, from its Service (networking reference 9.3); undefined while the Service does not say. Addresses that need no name
 * service come first, since clients may look at the first one only.
 *
 * @throws Terminal for a type of Service that leads nowhere
 */
export function serverEndpoint(
  service: Service | undefined,
  activeNode: string | undefined,
  nodes: readonly Node[],
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
      return endpoint(nodeAddresses(activeNode, nodes), port.nodePort);
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

/** Of the gateway's node, or, while that is not ready, of another one: the port is open on each. */
function nodeAddresses(activeNode: string | undefined, nodes: readonly Node[]): string[] {
  const ready = nodes.filter(isReadyForPods).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const node = ready.find(({ metadata }) => metadata.name === activeNode) ?? ready[0];
  const addresses = node?.status?.addresses ?? [];
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
