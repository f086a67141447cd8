import { isIP } from "node:net";

import { z } from "zod";

import { Label, LabelValue, Name } from "../../api/keys";
import type { Configuration, GatewayClient, GatewayServer, PublicKey } from "../../api/networking";
import { annotationsSchema, namespaceNameSchema, objectNameSchema } from "../arguments";
import type { ManifestOf } from "../manifest";
import type { PeeringSide } from "../peering";

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i;

/** An address of the networks beneath the tunnel, which may be of either family. */
const underlayAddressSchema = z
  .string()
  .refine((text) => isIP(text) !== 0, "is not an IP address; give one, such as 203.0.113.10");

/** Such an address, or a name of one. */
const endpointAddressSchema = z
  .string()
  .min(1, "is empty; give an address or a name")
  .refine(
    (text) => text === "" || isIP(text) !== 0 || isHostName(text),
    "is neither an IP address nor a host name; give one alone, such as 203.0.113.10 or vpn.example, and its port as addressPort",
  );

/** A last label of digits alone is that of an address that was miswritten: no top-level domain has such a name (RFC 1123, 2.1). */
function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  return (
    text.length <= 254 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? "")
  );
}

/** UDP port that gateways listen at for their peers. */
export const TUNNEL_PORT = 51840;

/** MTU of tunnels and overlay, in bytes. Leaves room for WireGuard and the overlay on a path of 1,450. */
export const DEFAULT_MTU = 1340;

const API_VERSION = "networking.liqo.io/v1beta1";

const port = z.number().int("is not a whole number").min(1, "is no port").max(65_535, "is no port");

const templateSchema = z.strictObject({
  name: objectNameSchema,
  /** The Liqo namespace of the gateway's cluster where none is given. */
  namespace: namespaceNameSchema.optional(),
});

/** What decides which objects a network peering has at which side. */
export const networkStructureSchema = z.strictObject({
  /** The cluster whose gateway waits to be called. */
  server: z.enum(["provider", "consumer"]).default("provider"),
});

/** How two clusters are connected. */
export const networkLinkSchema = z
  .strictObject({
    /** How the server is reached: `LoadBalancer`, `NodePort`, or `ClusterIP` where the client is given an address by hand. */
    serviceType: z.enum(["LoadBalancer", "NodePort", "ClusterIP"]).default("LoadBalancer"),
    /** UDP port of the server. */
    port: port.default(TUNNEL_PORT),
    /** Node port of the server's Service; Kubernetes draws one where none is given. */
    nodePort: port.optional(),
    /** Address that the cloud's load balancer is to have. */
    loadBalancerIp: underlayAddressSchema.optional(),
    /** Annotations of the server's Service. */
    serviceAnnotations: annotationsSchema.default({}),
    /** Where the client reaches the server, in place of what the server's cluster knows: a forwarded port, a name. */
    address: endpointAddressSchema.optional(),
    /** Port to `address`; the server's by default. */
    addressPort: port.optional(),
    /** Bytes, the same on both ends. */
    mtu: z
      .number()
      .int("is not a whole number")
      .min(1280, "is below 1280, the least that the tunnel's headers leave useful")
      .max(9000, "is above 9000")
      .default(DEFAULT_MTU),
    serverTemplate: templateSchema.optional(),
    clientTemplate: templateSchema.optional(),
  })
  .superRefine(({ serviceType, nodePort, loadBalancerIp, address, addressPort }, context) => {
    const fault = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (nodePort !== undefined && serviceType === "ClusterIP") {
      fault("nodePort", "is for Services of type NodePort or LoadBalancer; the type is ClusterIP");
    }
    if (loadBalancerIp !== undefined && serviceType !== "LoadBalancer") {
      fault("loadBalancerIp", `is for Services of type LoadBalancer; the type is ${serviceType}`);
    }
    if (serviceType === "ClusterIP" && address === undefined) {
      fault(
        "serviceType",
        "is reached from inside its own cluster only; take LoadBalancer or NodePort, or give the address by which the client reaches it",
      );
    }
    if (addressPort !== undefined && address === undefined)
      fault("addressPort", "goes with address; give both");
  });

export type NetworkLink = z.output<typeof networkLinkSchema>;

/** A side with the other one's cluster. */
export interface LinkEnd {
  side: PeeringSide;
  /** Cluster ID at the other end. */
  peer: string;
}

/** What a cluster tells its peers of its networks. */
export interface ToldNetworks {
  podCidrs: string[];
  externalCidr: string;
}

const labels = (peer: string) => ({ [Label.remoteClusterID]: peer });

/** The peer's networks, so that this cluster finds a place for each (networking reference 7). */
export function configuration({ side, peer }: LinkEnd, told: ToldNetworks): ManifestOf<Configuration> {
  return {
    apiVersion: API_VERSION,
    kind: "Configuration",
    metadata: { name: peer, namespace: side.tenantNamespace, labels: labels(peer) },
    spec: { remote: { cidr: { pod: told.podCidrs, external: [told.externalCidr] } } },
  };
}

/** The end that the peer connects to (networking reference 9). */
export function gatewayServer(
  { side, peer }: LinkEnd,
  link: NetworkLink,
  liqoNamespace: string,
): ManifestOf<GatewayServer> {
  const { serviceType, nodePort, loadBalancerIp, serviceAnnotations, serverTemplate } = link;
  return {
    apiVersion: API_VERSION,
    kind: "GatewayServer",
    metadata: { name: peer, namespace: side.tenantNamespace, labels: labels(peer) },
    spec: {
      mtu: link.mtu,
      endpoint: {
        port: link.port,
        serviceType,
        ...(nodePort !== undefined && { nodePort }),
        ...(loadBalancerIp !== undefined && { loadBalancerIP: loadBalancerIp }),
      },
      serverTemplateRef: {
        apiVersion: API_VERSION,
        kind: "WgGatewayServerTemplate",
        name: serverTemplate?.name ?? Name.serverTemplate,
        namespace: serverTemplate?.namespace ?? liqoNamespace,
      },
      ...(Object.keys(serviceAnnotations).length > 0 && { serviceAnnotations }),
    },
  };
}

/** The end that connects to the peer. */
export function gatewayClient(
  { side, peer }: LinkEnd,
  link: NetworkLink,
  liqoNamespace: string,
  server: { addresses: string[]; port: number },
): ManifestOf<GatewayClient> {
  const { address, addressPort, clientTemplate } = link;
  return {
    apiVersion: API_VERSION,
    kind: "GatewayClient",
    metadata: { name: peer, namespace: side.tenantNamespace, labels: labels(peer) },
    spec: {
      mtu: link.mtu,
      endpoint: {
        addresses: address === undefined ? server.addresses : [address],
        port: (address === undefined ? undefined : addressPort) ?? server.port,
        protocol: "UDP",
      },
      clientTemplateRef: {
        apiVersion: API_VERSION,
        kind: "WgGatewayClientTemplate",
        name: clientTemplate?.name ?? Name.clientTemplate,
        namespace: clientTemplate?.namespace ?? liqoNamespace,
      },
    },
  };
}

/** The key of the peer's gateway, which this one accepts. */
export function publicKey({ side, peer }: LinkEnd, key: string): ManifestOf<PublicKey> {
  return {
    apiVersion: API_VERSION,
    kind: "PublicKey",
    metadata: {
      name: peer,
      namespace: side.tenantNamespace,
      labels: { ...labels(peer), [Label.gatewayResource]: LabelValue.true },
    },
    spec: { publicKey: key },
  };
}
