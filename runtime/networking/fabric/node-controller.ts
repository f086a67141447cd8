import { Finalizer, InternalNode, Label, LabelValue } from "../../api";
import {
  type Controller,
  isDeleting,
  runController,
  watches,
  withGlobalMetadata,
  withoutFinalizer,
  writeIfChanged,
} from "../../kube";
import type { NetworkingContext } from "../networking-context";
import { overlayInterface, overlayOwnerKey, type OverlayRegistry } from "../overlay";

/** Gives each node that runs pods its place in the overlay, and takes it back when the node is gone (networking reference 11). */
export function runNodeController(networking: NetworkingContext, overlay: OverlayRegistry): Controller {
  const { runtime, caches } = networking;
  return runController(
    {
      name: "node",
      sources: [
        watches(caches.nodes),
        watches(caches.internalNodes),
        overlay.changes(() => caches.nodes.list().map(({ metadata }) => metadata.name)),
      ],
      objectOf: (name) => caches.internalNodes.get(name),
      reconcile: (name) => reconcile(networking, overlay, name),
    },
    runtime,
  );
}

async function reconcile(
  { runtime, caches, options }: NetworkingContext,
  overlay: OverlayRegistry,
  name: string,
): Promise<void> {
  const { client } = runtime;
  const node = caches.nodes.get(name);
  const observed = caches.internalNodes.get(name);
  if (observed !== undefined && isDeleting(observed)) {
    // Upstream holds it; here nothing has to be done before it goes.
    await withoutFinalizer(client, InternalNode, observed, Finalizer.internalNodeRoute);
    return;
  }
  const runsPods =
    node !== undefined &&
    !isDeleting(node) &&
    node.metadata.labels?.[Label.nodeType] !== LabelValue.virtualNode;
  if (!runsPods) {
    if (observed !== undefined) await client.delete(InternalNode, { name }, { uid: observed.metadata.uid });
    return;
  }
  const present = observed?.spec.interface;
  const ip = overlay.addressOf(overlayOwnerKey("InternalNode", name), present?.node.ip);
  if (ip === undefined) return;
  const gateway = present?.gateway.name ?? overlayInterface(`InternalNode ${name}`);
  await writeIfChanged(
    client,
    InternalNode,
    withGlobalMetadata(
      {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "InternalNode",
        metadata: { name },
        spec: { interface: { gateway: { name: gateway }, node: { ip } } },
      },
      options.global,
    ),
    observed,
  );
}
