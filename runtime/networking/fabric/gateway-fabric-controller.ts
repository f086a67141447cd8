import { Annotation, type Configuration, InternalFabric, Label, type Network } from "../../api";
import {
  controlledBy,
  type Controller,
  controllerOf,
  runController,
  type Source,
  Terminal,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../../kube";
import { formatCidr, parseCidr } from "../../ipam/cidr";
import { NetworkType, typeOf } from "../../ipam/network-stage";
import { cidrMappings, isConfigured, isInConflict } from "../address-mapping";
import { peersOf } from "../../plan/peer-objects";
import { type Gateway, gatewayKey, gatewayOwnerKeys } from "../caches";
import { peerOf } from "../labels";
import type { NetworkingContext } from "../networking-context";
import { overlayInterface, overlayOwnerKey, type OverlayRegistry } from "../overlay";

/** Gives each gateway its place in the overlay: where its pod is, and what networks lie behind it (networking reference 11). */
export function runGatewayFabricController(
  networking: NetworkingContext,
  overlay: OverlayRegistry,
): Controller {
  const { runtime, caches } = networking;
  const all = () => [...caches.servers.list(), ...caches.clients.list()].map(gatewayKey);
  const ofPeer = (object: Configuration) =>
    peersOf(object).flatMap((peer) => [
      ...caches.ofPeer(caches.servers, peer).map(gatewayKey),
      ...caches.ofPeer(caches.clients, peer).map(gatewayKey),
    ]);
  const sources: Source[] = [
    watches(caches.servers, { keys: (gateway) => [gatewayKey(gateway)] }),
    watches(caches.clients, { keys: (gateway) => [gatewayKey(gateway)] }),
    watches(caches.configurations, { keys: ofPeer }),
    watches(caches.internalFabrics, { keys: gatewayOwnerKeys }),
    overlay.changes(all),
    watches(caches.networks, { keys: (network) => (typeOf(network) === NetworkType.pod ? all() : []) }),
  ];
  return runController(
    {
      name: "gateway-fabric",
      sources,
      objectOf: (key) => caches.gatewayOf(key),
      reconcile: (key) => reconcile(networking, overlay, caches.gatewayOf(key)),
    },
    runtime,
  );
}

async function reconcile(
  { runtime, caches, options }: NetworkingContext,
  overlay: OverlayRegistry,
  gateway: Gateway | undefined,
): Promise<void> {
  if (gateway === undefined || gateway.metadata.deletionTimestamp) return;
  const peer = peerOf(gateway);
  const gatewayIP = gateway.status?.internalEndpoint?.ip;
  const configurations = caches.ofPeer(caches.configurations, peer);
  const configuration = configurations.find(isConfigured);
  // Until its pod runs, what was written before stays.
  if (!gatewayIP) return;

  const { namespace = "" } = gateway.metadata;
  const name = fabricName(
    peer,
    gateway,
    (candidate) => caches.internalFabrics.get(candidate, namespace) !== undefined,
  );
  const observed = caches.internalFabrics.get(name, namespace);
  const owner = observed && controllerOf(observed);
  if (owner !== undefined && owner.uid !== gateway.metadata.uid) {
    throw new Terminal(
      "GatewayConflict",
      `InternalFabric ${namespace}/${name} belongs to ${owner.kind} ${owner.name}; delete one of the two gateways for ${peer}`,
    );
  }
  const key = overlayOwnerKey("InternalFabric", `${namespace}/${name}`);
  // Where the ranges are not known, or not any more, those that were stay: the pod may have another address meanwhile.
  const before = observed?.spec;
  const ip = overlay.addressOf(key, before?.interface.gateway.ip) ?? before?.interface.gateway.ip;
  const inConflict = configurations.some(isInConflict);
  const known = inConflict ? [] : before?.remoteCIDRs;
  const remoteCIDRs = configuration === undefined ? known : rangesBehind(configuration);
  if (ip === undefined || remoteCIDRs === undefined) return;
  const said = observed?.metadata.annotations ?? {};
  const peerNetworks =
    configurations.length === 0 || inConflict
      ? ""
      : ((configuration && networksOfPeer(configuration).join(",")) ?? said[Annotation.peerNetworks]);
  const ownNetworks = podNetworks(caches.networks.list()).join(",") || said[Annotation.podNetworks];
  await writeIfChanged(
    runtime.client,
    InternalFabric,
    withGlobalMetadata(
      {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "InternalFabric",
        metadata: {
          name,
          namespace,
          labels: { [Label.remoteClusterID]: peer },
          annotations: {
            ...(peerNetworks !== undefined && { [Annotation.peerNetworks]: peerNetworks }),
            ...(ownNetworks !== undefined && { [Annotation.podNetworks]: ownNetworks }),
          },
          ownerReferences: [controlledBy(gateway)],
        },
        spec: {
          ...(gateway.spec.mtu !== undefined && { mtu: gateway.spec.mtu }),
          remoteCIDRs,
          gatewayIP,
          interface: {
            node: { name: before?.interface.node.name ?? overlayInterface(key) },
            gateway: { ip },
          },
        },
      },
      options.global,
    ),
    observed,
    { exact: ["spec"], lock: "never" },
  );
}

/** As the peer's packets have them in the tunnel. */
function networksOfPeer(configuration: Configuration): string[] {
  return (["pod", "external"] as const).flatMap((type) =>
    cidrMappings(configuration, type).map(({ original }) => formatCidr(original)),
  );
}

/** Of this cluster. They are not taken from the Configuration, which the peer may write. */
function podNetworks(networks: readonly Network[]): string[] {
  return networks
    .filter((network) => typeOf(network) === NetworkType.pod)
    .flatMap(({ status }) => (status?.cidr ? [formatCidr(parseCidr(status.cidr))] : []))
    .sort();
}

function rangesBehind(configuration: Configuration): string[] {
  return (["pod", "external"] as const).flatMap((type) =>
    cidrMappings(configuration, type).map(({ remapped }) => formatCidr(remapped)),
  );
}

/** Named after the peer; one that an earlier version named after the gateway stays. */
function fabricName(peer: string, gateway: Gateway, exists: (name: string) => boolean): string {
  const { name } = gateway.metadata;
  return !exists(peer) && exists(name) ? name : peer;
}
