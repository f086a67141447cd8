import {
  GatewayClient,
  GatewayServer,
  type InternalFabric,
  type KubeObject,
  type OwnerReference,
} from "../api";
import { otherEnd, TUNNEL_PREFIX_LENGTH, tunnelAddress, type TunnelEnd } from "../networking/tunnel";
import type { GatewayFlags } from "./flags";

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
