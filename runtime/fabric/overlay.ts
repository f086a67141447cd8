import {
  type DesiredOverlay,
  type OverlayCaches,
  overlayKind,
  type OverlayOptions,
} from "../networking/agent/overlay-links";
import { DEFAULT_MTU } from "../networking/tunnel";

/** A node's side of the overlay: one interface towards each gateway of the cluster (networking reference 11). */
export function nodeOverlay(
  { tunnels, fabrics, nodes }: OverlayCaches,
  { node, port, arp }: OverlayOptions,
): DesiredOverlay {
  const kind = overlayKind(nodes.list());
  const own = nodes.get(node);
  const desired: DesiredOverlay = { links: [], kept: new Set() };
  for (const fabric of fabrics.list()) {
    if (!fabric.metadata.deletionTimestamp) desired.kept.add(fabric.spec.interface.node.name);
  }
  for (const { metadata, spec } of tunnels.list()) {
    const { name = "", namespace } = spec.internalFabricRef;
    const fabric = fabrics.get(name, namespace);
    if (spec.internalNodeRef.name !== node || metadata.deletionTimestamp) continue;
    if (fabric === undefined || fabric.metadata.deletionTimestamp) continue;
    if (own === undefined || kind === undefined) continue;
    desired.links.push({
      name: fabric.spec.interface.node.name,
      kind,
      id: spec.id,
      remote: fabric.spec.gatewayIP,
      port,
      mtu: fabric.spec.mtu ?? DEFAULT_MTU,
      address: own.spec.interface.node.ip,
      peer: fabric.spec.interface.gateway.ip,
      arp,
    });
  }
  return desired;
}
