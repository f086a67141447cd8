import { Annotation, type FirewallConfiguration, InternalFabric } from "../api";
import { type Cidr, parseCidr } from "../ipam/cidr";
import { exceptStatus, type Informer, type InformerSet, type Source, watches } from "../kube";
import type { NftTable } from "../networking/firewall/nft-script";
import { publishedBy, tunnelFilter } from "../networking/firewall/tunnel-filter";
import { tunnelInterface } from "../networking/tunnel";
import { type Gateway, isFabricOf } from "./gateway";

/**
 * The table by which a gateway drops what its peer has no business to send. It says so of itself alone: no object of the API asks for it, so nobody can write it
 * away. It is loaded before the tunnel comes up, and without it no tunnel does.
 */
export class PacketFilter {
  /** Why the kernel has not the table that it should have; undefined where nothing is wrong. */
  fault: string | undefined;
  private readonly fabrics: Informer<InternalFabric>;

  constructor(
    informers: InformerSet,
    private readonly gateway: Gateway,
    private readonly options: { pingPort: number; overlayPort: number },
  ) {
    this.fabrics = informers.informer(InternalFabric, { namespace: gateway.namespace });
  }

  sources(key: string): Source[] {
    return [watches(this.fabrics, { keys: () => [key], when: exceptStatus })];
  }

  /** @param firewalls that the gateway carries out */
  table(firewalls: readonly FirewallConfiguration[]): NftTable {
    const { gateway, options } = this;
    const device = tunnelInterface();
    const tables = firewalls
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ spec }) => spec.table);
    return tunnelFilter({
      ...options,
      device,
      address: gateway.address,
      peerAddress: gateway.peerAddress,
      peerNetworks: this.networks(Annotation.peerNetworks),
      podNetworks: this.networks(Annotation.podNetworks),
      published: publishedBy(tables, device),
    });
  }

  /** What the controllers say of this gateway; nothing while they have said nothing. */
  private networks(annotation: typeof Annotation.peerNetworks | typeof Annotation.podNetworks): Cidr[] {
    return this.fabrics
      .list()
      .filter((fabric) => isFabricOf(this.gateway, fabric) && !fabric.metadata.deletionTimestamp)
      .flatMap(({ metadata }) => (metadata.annotations?.[annotation] ?? "").split(","))
      .filter((text) => text !== "")
      .map(parseCidr);
  }
}
