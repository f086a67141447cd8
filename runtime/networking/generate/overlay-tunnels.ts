import { type Desired, type GeneveTunnel, type InternalFabric, type InternalNode, Label } from "../../api";
import { controlledBy } from "../../kube";
import { labelValue, objectName } from "./metadata";

/** The tunnel of the overlay between a node and a gateway; its name says which, but does not identify them. */
export function overlayTunnelName(fabric: string, node: string): string {
  return objectName(`${fabric}-${node}`);
}

/** Owner of the tunnel's network identifier. */
export function overlayTunnelKey(fabric: InternalFabric, node: InternalNode): string {
  return `${fabric.metadata.namespace}/${fabric.metadata.name} ${node.metadata.name}`;
}

/** The same, of a tunnel that exists. */
export function keyOfOverlayTunnel({ spec: { internalFabricRef, internalNodeRef } }: GeneveTunnel): string {
  return `${internalFabricRef.namespace}/${internalFabricRef.name} ${internalNodeRef.name}`;
}

export function overlayTunnel(
  fabric: InternalFabric,
  node: InternalNode,
  id: number,
): Desired<GeneveTunnel> & { metadata: { name: string; namespace: string }; spec: GeneveTunnel["spec"] } {
  const { name, namespace = "" } = fabric.metadata;
  return {
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "GeneveTunnel",
    metadata: {
      name: overlayTunnelName(name, node.metadata.name),
      namespace,
      labels: {
        [Label.internalFabricName]: labelValue(name),
        [Label.internalNodeName]: labelValue(node.metadata.name),
      },
      ownerReferences: [controlledBy(fabric)],
    },
    spec: {
      id,
      internalFabricRef: { name, namespace },
      internalNodeRef: { name: node.metadata.name },
    },
  };
}
