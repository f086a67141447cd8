import { z } from "zod";

import * as flag from "../component/flags";
import {
  GatewayClient,
  GatewayServer,
  type InternalFabric,
  type KubeObject,
  type OwnerReference,
} from "../api";
import { TUNNEL_MTU } from "../api/networking/gateway";
import { agentFlags } from "../networking/agent/agent";
import {
  DEFAULT_MTU,
  otherEnd,
  TUNNEL_PREFIX_LENGTH,
  tunnelAddress,
  type TunnelEnd,
} from "../networking/tunnel";

const objectName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Flags of the gateway, by upstream's names (networking reference 19.2): what its three containers took, one process takes. */
export const gatewayFlags = z.object({
  /** Of the GatewayServer or GatewayClient, not of the Deployment. */
  name: flag.required(objectName, "give the name of the GatewayServer or GatewayClient"),
  namespace: flag.required(objectName, "give the namespace of the GatewayServer or GatewayClient"),
  /** Owner of what the gateway writes. */
  gatewayUid: flag.required(/^[-0-9a-zA-Z]{1,64}$/, "give the uid of the GatewayServer or GatewayClient"),
  remoteClusterId: flag.required(
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    "give the peer's cluster ID, a DNS label",
  ),
  mode: flag.required(/^(server|client)$/, "write server or client"),
  /** Where the pod runs. */
  nodeName: flag.text(process.env.NODE_NAME ?? ""),
  podName: flag.text(process.env.POD_NAME ?? ""),

  // the tunnel
  mtu: flag.integer(DEFAULT_MTU, TUNNEL_MTU.min, TUNNEL_MTU.max),
  /** Of a server. Only the first one is used. */
  listenPorts: flag.list(),
  /** Of a client: addresses and names at which the server may be, tried in turn. */
  endpointAddress: flag.list(),
  /** Of a client. Only the first one is used. */
  endpointPorts: flag.list(),
  /** Folder with `privateKey`, 32 bytes; read again when it changes. */
  keysDir: flag.text("/etc/wireguard/keys"),
  /** How often names are looked up again after the first ten minutes, in which it is every five seconds. */
  dnsCheckInterval: flag.duration(300_000),
  /** `auto` takes the kernel's WireGuard where there is one, else wireguard-go. */
  implementation: flag.oneOf(["auto", "kernel", "userspace"], "auto"),

  // Connection
  enableConnectionController: flag.boolean(true),
  pingEnabled: flag.boolean(true),
  pingPort: flag.integer(12_345, 1, 65_535),
  pingLossThreshold: flag.integer(5, 1, 1000),
  pingInterval: flag.duration(2_000),
  pingUpdateStatusInterval: flag.duration(10_000),

  // Replicas: sooner than upstream's, so that traffic is back within five seconds. A replica that lost its lease without need still carries it until
  // another has taken the lease.
  leaderElection: flag.boolean(false),
  leaderElectionLeaseDuration: flag.duration(3_000),
  leaderElectionRenewDeadline: flag.duration(2_000),
  leaderElectionRetryPeriod: flag.duration(500),

  globalLabels: flag.pairs(),
  globalAnnotations: flag.pairs(),
  ...agentFlags,

  // There is one container, a server always keeps the address that it learnt, and there is one tunnel.
  containerName: flag.ignored(),
  concurrentContainersNames: flag.ignored(),
  preserveClientEndpoint: flag.ignored(),
  enableMultipathHashPolicy: flag.ignored(),
  pingBufferSize: flag.ignored(),
});
export type GatewayFlags = z.output<typeof gatewayFlags>;

/** Which gateway this process is. */
export interface Gateway {
  name: string;
  namespace: string;
  uid: string;
  /** Cluster ID. */
  peer: string;
  end: TunnelEnd;
  /** In the tunnel. */
  address: string;
  peerAddress: string;
  addressLength: number;
}

export function gatewayOf(flags: GatewayFlags): Gateway {
  const end: TunnelEnd = flags.mode === "server" ? "server" : "client";
  return {
    name: flags.name,
    namespace: flags.namespace,
    uid: flags.gatewayUid,
    peer: flags.remoteClusterId,
    end,
    address: tunnelAddress(end),
    peerAddress: tunnelAddress(otherEnd(end)),
    addressLength: TUNNEL_PREFIX_LENGTH,
  };
}

/** The GatewayServer or GatewayClient, as far as events need it. */
export function gatewayObject({ name, namespace, uid, end }: Gateway): KubeObject {
  const { apiVersion, kind } = end === "server" ? GatewayServer : GatewayClient;
  return { apiVersion, kind, metadata: { name, namespace, uid } };
}

/** Whether an InternalFabric is this gateway's place in the overlay. */
export function isFabricOf({ uid }: Gateway, { metadata }: InternalFabric): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
}

/** Makes an object go with the gateway. */
export function ownedByGateway(gateway: Gateway): OwnerReference {
  const { apiVersion, kind } = gatewayObject(gateway);
  return { apiVersion, kind, name: gateway.name, uid: gateway.uid };
}
