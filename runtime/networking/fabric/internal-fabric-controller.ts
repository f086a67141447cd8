import {
  type Desired,
  Finalizer,
  GeneveTunnel,
  InternalFabric,
  type InternalNode,
  Label,
  type RouteConfiguration,
} from "../../api";
import type { NextFit } from "../../ipam/next-fit";
import {
  controlledBy,
  type Controller,
  isDeleting,
  keyOf,
  ownedBy,
  runController,
  Terminal,
  watches,
  withGlobalMetadata,
  withoutFinalizer,
  writeIfChanged,
} from "../../kube";
import { type Generated, routeConfiguration } from "../generated";
import { labelValue, objectName } from "../labels";
import type { NetworkingContext } from "../networking-context";
import { networkIds } from "../overlay";

/** Gives each gateway a tunnel to every node, and every node the routes to it (networking reference 11, 14.6). */
export function runInternalFabricController(networking: NetworkingContext): Controller {
  const { runtime, caches } = networking;
  const { internalFabrics, internalNodes, tunnels } = caches;
  const ids = new TunnelIds(networking);
  return runController(
    {
      name: "internal-fabric",
      sources: [
        watches(internalFabrics),
        watches(internalNodes, {
          keys: () => internalFabrics.list().map(keyOf),
          when: ({ type }) => type !== "updated",
        }),
        watches(tunnels, { keys: ownedBy("InternalFabric") }),
        watches(caches.routes, { keys: ownedBy("InternalFabric") }),
      ],
      objectOf: (key) => internalFabrics.getByKey(key),
      reconcile: (key) => reconcile(networking, ids, key),
    },
    runtime,
  );
}

/** The identifiers of the networks that tunnels carry: each tunnel keeps the one that it has. */
class TunnelIds {
  private ids: NextFit | undefined;

  constructor(private readonly networking: NetworkingContext) {
    networking.caches.tunnels.on({ deleted: (tunnel) => this.ids?.release(keyOfOverlayTunnel(tunnel)) });
  }

  of(key: string, present: number | undefined): number {
    const ids = this.current();
    if (present !== undefined && ids.adopt(key, present) === undefined) return present;
    const id = ids.acquire(key);
    if (id === undefined) throw new Error(`no network identifier is left for the tunnel ${key}`);
    return id;
  }

  /** Read from the tunnels when first needed. */
  private current(): NextFit {
    if (this.ids === undefined) {
      this.ids = networkIds();
      for (const tunnel of this.networking.caches.tunnels.list()) {
        this.ids.adopt(keyOfOverlayTunnel(tunnel), tunnel.spec.id);
      }
    }
    return this.ids;
  }
}

async function reconcile(networking: NetworkingContext, ids: TunnelIds, key: string): Promise<void> {
  const { runtime, caches, options, routes } = networking;
  const { client } = runtime;
  const fabric = caches.internalFabrics.getByKey(key);
  if (fabric === undefined) return;
  if (isDeleting(fabric)) {
    // Set by upstream, whose tunnels wait for it; ours go with their owner.
    const released = await withoutFinalizer(client, InternalFabric, fabric, Finalizer.internalFabric);
    await withoutFinalizer(client, InternalFabric, released, Finalizer.internalFabricLegacy);
    return;
  }
  const nodes = caches.internalNodes
    .list()
    .filter((node) => !isDeleting(node))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  // Decided before the first write: what goes meanwhile gives its identifier back.
  const desired = nodes.map((node) => decideTunnel(networking, ids, fabric, node));

  await routes.ensure(fabricRoutes(fabric, options.fabricRulePriority));
  for (const { tunnel, observed } of desired) {
    await writeIfChanged(client, GeneveTunnel, withGlobalMetadata(tunnel, options.global), observed, {
      exact: ["spec"],
    });
  }
  const wanted = new Set(nodes.map((node) => overlayTunnelKey(fabric, node)));
  for (const tunnel of caches.ownTunnels(fabric)) {
    if (wanted.has(keyOfOverlayTunnel(tunnel)) || isDeleting(tunnel)) continue;
    await client.delete(GeneveTunnel, tunnel.metadata, { uid: tunnel.metadata.uid });
  }
}

function decideTunnel(
  { caches }: NetworkingContext,
  ids: TunnelIds,
  fabric: InternalFabric,
  node: InternalNode,
): { tunnel: ReturnType<typeof overlayTunnel>; observed: GeneveTunnel | undefined } {
  const key = overlayTunnelKey(fabric, node);
  const { namespace } = fabric.metadata;
  const name = overlayTunnelName(fabric.metadata.name, node.metadata.name);
  const observed = caches.tunnels.get(name, namespace);
  if (observed !== undefined && keyOfOverlayTunnel(observed) !== key) {
    throw new Terminal(
      "TunnelNameConflict",
      `GeneveTunnel ${namespace}/${name} is between ${keyOfOverlayTunnel(observed)} already; give the gateway for ${fabric.metadata.name} a namespace of its own`,
    );
  }
  return { tunnel: overlayTunnel(fabric, node, ids.of(key, observed?.spec.id)), observed };
}

function fabricRouteName(fabric: string): string {
  return objectName(`${fabric}-node-gw`);
}

/**
 * On every node: the way to a gateway, and through it to the networks of its peer (networking reference 14.6).
 *
 * @param priority of the rules; 0 lets the kernel choose
 */
export function fabricRoutes(fabric: InternalFabric, priority: number): Generated<RouteConfiguration> {
  const name = fabricRouteName(fabric.metadata.name);
  const { interface: ends, remoteCIDRs = [] } = fabric.spec;
  const gateway = `${ends.gateway.ip}/32`;
  const at = priority > 0 ? { priority } : {};
  return routeConfiguration(
    {
      name,
      namespace: fabric.metadata.namespace ?? "",
      audience: { category: "fabric" },
      owner: controlledBy(fabric),
    },
    {
      name,
      rules: [
        { dst: gateway, ...at, routes: [{ dst: gateway, dev: ends.node.name, scope: "link" }] },
        ...[...new Set(remoteCIDRs)]
          .sort()
          .map((dst) => ({ dst, ...at, routes: [{ dst, gw: ends.gateway.ip }] })),
      ],
    },
  );
}

/** The tunnel of the overlay between a node and a gateway; its name says which, but does not identify them. */
function overlayTunnelName(fabric: string, node: string): string {
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
