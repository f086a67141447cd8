import {
  type DesiredOverlay,
  type OverlayCaches,
  overlayKind,
  type OverlayOptions,
} from "../networking/agent/overlay-links";
import { DEFAULT_MTU } from "../networking/tunnel";
import { type Gateway, isFabricOf } from "./gateway";

/** A gateway's side of the overlay: one interface towards each node (networking reference 10.5). */
export function gatewayOverlay(
  { tunnels, fabrics, nodes }: OverlayCaches,
  gateway: Gateway,
  { node: ownNode, port, arp }: OverlayOptions,
): DesiredOverlay {
  const kind = overlayKind(nodes.list());
  const desired: DesiredOverlay = { links: [], kept: new Set() };
  for (const { metadata, spec } of tunnels.list()) {
    const fabric = fabrics.get(spec.internalFabricRef.name ?? "", spec.internalFabricRef.namespace);
    const node = nodes.get(spec.internalNodeRef.name ?? "");
    if (fabric === undefined || node === undefined || !isFabricOf(gateway, fabric)) continue;
    if (metadata.deletionTimestamp || node.metadata.deletionTimestamp) continue;
    const { name } = node.spec.interface.gateway;
    const { local, remote } = node.status?.nodeIP ?? {};
    const address = node.metadata.name === ownNode ? local : remote;
    if (address === undefined || kind === undefined) {
      desired.kept.add(name);
      continue;
    }
    desired.links.push({
      name,
      kind,
      id: spec.id,
      remote: address,
      port,
      mtu: fabric.spec.mtu ?? DEFAULT_MTU,
      address: fabric.spec.interface.gateway.ip,
      arp,
    });
  }
  return desired;
}
