import { GeneveTunnel, InternalFabric, type InternalNode, Label } from "../api";
import { exceptStatus, type Informer, type InformerSet, type Source, watches } from "../kube";
import { overlayKind } from "../networking/agent/overlay-links";
import type { DesiredOverlay } from "../networking/agent/routes-pass";
import { labelValue } from "../networking/labels";
import { DEFAULT_MTU } from "../networking/tunnel";

/** A node's side of the overlay: one interface towards each gateway of the cluster (networking reference 11). */
export class NodeOverlay {
  private readonly tunnels: Informer<GeneveTunnel>;
  private readonly fabrics: Informer<InternalFabric>;

  constructor(
    informers: InformerSet,
    private readonly nodes: Informer<InternalNode>,
    private readonly options: { node: string; port: number; arp: boolean },
  ) {
    this.tunnels = informers.informer(GeneveTunnel, {
      labelSelector: `${Label.internalNodeName}=${labelValue(options.node)}`,
    });
    this.fabrics = informers.informer(InternalFabric);
  }

  sources(key: string): Source[] {
    const keys = () => [key];
    return [
      watches(this.tunnels, { keys, when: exceptStatus }),
      watches(this.fabrics, { keys, when: exceptStatus }),
      watches(this.nodes, { keys, when: exceptStatus }),
    ];
  }

  desired(): DesiredOverlay {
    const { node, port, arp } = this.options;
    const kind = overlayKind(this.nodes.list());
    const own = this.nodes.get(node);
    const desired: DesiredOverlay = { links: [], kept: new Set() };
    for (const fabric of this.fabrics.list()) {
      if (!fabric.metadata.deletionTimestamp) desired.kept.add(fabric.spec.interface.node.name);
    }
    for (const { metadata, spec } of this.tunnels.list()) {
      const { name = "", namespace } = spec.internalFabricRef;
      const fabric = this.fabrics.get(name, namespace);
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
}
