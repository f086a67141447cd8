import { Annotation, type InternalNode } from "../../api";
import { OVERLAY_KINDS, type OverlayKind } from "../links/overlay-links";

/**
 * What the overlay of this cluster is made of: geneve, unless the kernel of some node lacks it. Each agent says on its InternalNode what its node has, so
 * all of them come to the same answer. Undefined while no node has said anything.
 */
export function overlayKind(nodes: readonly InternalNode[]): OverlayKind | undefined {
  const said = new Set(nodes.map(overlayOf));
  if (said.has("vxlan")) return "vxlan";
  return said.has("geneve") ? "geneve" : undefined;
}

export function overlayOf({ metadata }: InternalNode): OverlayKind | undefined {
  const said = metadata.annotations?.[Annotation.overlay];
  return OVERLAY_KINDS.find((kind) => kind === said);
}
