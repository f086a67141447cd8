import { GeneveTunnel, InternalFabric, InternalNode } from "../api";
import { exceptStatus, type Informer, type InformerSet, type Source, watches } from "../kube";
import { overlayKind } from "../networking/agent/overlay-links";
import type { DesiredOverlay } from "../networking/agent/routes-pass";
import { DEFAULT_MTU } from "../networking/tunnel";
import { type Gateway, isFabricOf } from "./gateway";

/** A gateway's side of the overlay: one interface towards each node (networking reference 10.5). */
export class GatewayOverlay {
  private readonly tunnels: Informer<GeneveTunnel>;
  private readonly fabrics: Informer<InternalFabric>;
  private readonly nodes: Informer<InternalNode>;

  constructor(
    informers: InformerSet,
    private readonly gateway: Gateway,
    private readonly options: { node: string; port: number; arp: boolean },
  ) {
    const { namespace } = gateway;
    this.tunnels = informers.informer(GeneveTunnel, { namespace });
    this.fabrics = informers.informer(InternalFabric, { namespace });
    this.nodes = informers.informer(InternalNode);
  }

  sources(key: string): Source[] {
    const keys = () => [key];
    return [
      watches(this.tunnels, { keys, when: exceptStatus }),
      watches(this.fabrics, { keys, when: exceptStatus }),
      watches(this.nodes, { keys }),
    ];
  }

  desired(): DesiredOverlay {
    const kind = overlayKind(this.nodes.list());
    const desired: DesiredOverlay = { links: [], kept: new Set() };
    for (const { metadata, spec } of this.tunnels.list()) {
      const fabric = this.fabrics.get(spec.internalFabricRef.name ?? "", spec.internalFabricRef.namespace);
      const node = this.nodes.get(spec.internalNodeRef.name ?? "");
      if (fabric === undefined || node === undefined || !isFabricOf(this.gateway, fabric)) continue;
      if (metadata.deletionTimestamp || node.metadata.deletionTimestamp) continue;
      const { name } = node.spec.interface.gateway;
      const { local, remote } = node.status?.nodeIP ?? {};
      const address = node.metadata.name === this.options.node ? local : remote;
      if (address === undefined || kind === undefined) {
        desired.kept.add(name);
        continue;
      }
      desired.links.push({
        name,
        kind,
        id: spec.id,
        remote: address,
        port: this.options.port,
        mtu: fabric.spec.mtu ?? DEFAULT_MTU,
        address: fabric.spec.interface.gateway.ip,
        arp: this.options.arp,
      });
    }
    return desired;
  }
}
