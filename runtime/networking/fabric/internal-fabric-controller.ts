import { Finalizer, GeneveTunnel, InternalFabric, type InternalNode } from "../../api";
import {
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
import type { NextFit } from "../../ipam/next-fit";
import { fabricRoutes } from "../generate/fabric-routes";
import {
  keyOfOverlayTunnel,
  overlayTunnel,
  overlayTunnelKey,
  overlayTunnelName,
} from "../generate/overlay-tunnels";
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
