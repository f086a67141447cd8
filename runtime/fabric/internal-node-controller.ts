import { Annotation, InternalNode, Label, LabelValue, Pod } from "../api";
import { type Informer, patchStatusIfChanged, runController, type RuntimeContext, watches } from "../kube";
import { type OverlayKind, overlayOf, probeOverlay } from "../networking/agent/overlay-links";
import { podAddress } from "../networking/address-mapping";
import type { Kernel } from "../networking/kernel/kernel";

const KEY = "node";
/** Routes of the node may change without anybody telling. */
const LOOK_AGAIN_MS = 30_000;

type NodeAddresses = NonNullable<InternalNode["status"]>["nodeIP"];

/** An active gateway pod, as a node sees it. */
export interface SeenGateway {
  isOnThisNode: boolean;
  /** Address that packets to it leave with; undefined where there is no way to it. */
  source: string | undefined;
}

/**
 * Says on the node's InternalNode what gateways must know of it: the addresses that its packets to them come from, found by asking the kernel
 * (networking reference 11), and what its kernel has for the overlay.
 */
export function runInternalNodeController(
  runtime: RuntimeContext,
  kernel: Kernel,
  nodes: Informer<InternalNode>,
  node: string,
  defaultGateways: () => readonly string[] | undefined,
): { again: () => void } {
  const { client, informers } = runtime;
  let overlay: OverlayKind | undefined;
  const gateways = informers.informer(Pod, {
    labelSelector: `${Label.networkingComponent}=${LabelValue.gateway},${Label.gatewayActive}=${LabelValue.true}`,
    project: withPlace,
  });
  const controller = runController(
    {
      name: "node-facts",
      sources: [
        watches(gateways, { keys: () => [KEY] }),
        watches(nodes, { keys: ({ metadata }) => (metadata.name === node ? [KEY] : []) }),
      ],
      reconcile: async () => {
        const observed = nodes.get(node);
        if (observed === undefined || observed.metadata.deletionTimestamp) return undefined;
        overlay ??= await probeOverlay(kernel, overlayOf(observed));
        const annotations = differences(observed, {
          [Annotation.overlay]: overlay,
          [Annotation.defaultGateways]: defaultGateways()?.join(","),
        });
        if (annotations !== undefined) {
          const body = { metadata: { uid: observed.metadata.uid, annotations } };
          await client.patch(InternalNode, observed.metadata, body, { type: "merge" });
        }
        const seen: SeenGateway[] = [];
        for (const pod of gateways.list()) {
          const address = podAddress(pod);
          if (address === undefined || pod.metadata.deletionTimestamp) continue;
          seen.push({
            isOnThisNode: pod.spec?.nodeName === node,
            source: await kernel.sourceTowards(address),
          });
        }
        const nodeIP = nodeAddresses(seen, observed.status?.nodeIP);
        await patchStatusIfChanged(client, InternalNode, observed, { nodeIP });
        return { requeueAfterMs: LOOK_AGAIN_MS };
      },
    },
    runtime,
  );
  return { again: () => controller.enqueue(KEY) };
}

/** Annotations to be written: those that are known and differ; an empty one goes. Undefined where there are none. */
function differences(
  { metadata }: InternalNode,
  wanted: Record<string, string | undefined>,
): Record<string, string | null> | undefined {
  const present = metadata.annotations ?? {};
  const changed = Object.entries(wanted).flatMap(([key, value]): [string, string | null][] =>
    value === undefined || value === (present[key] ?? "") ? [] : [[key, value === "" ? null : value]],
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** What was said stays while some gateway is reached from there, or while there is none to ask. */
export function nodeAddresses(
  gateways: readonly SeenGateway[],
  present: NodeAddresses | undefined,
): NodeAddresses {
  const choose = (onThisNode: boolean, said: string | undefined) => {
    const sources = gateways
      .filter(({ isOnThisNode }) => isOnThisNode === onThisNode)
      .flatMap(({ source }) => (source === undefined ? [] : [source]))
      .sort();
    return said !== undefined && (sources.length === 0 || sources.includes(said)) ? said : sources[0];
  };
  const [local, remote] = [choose(true, present?.local), choose(false, present?.remote)];
  return { ...(local !== undefined && { local }), ...(remote !== undefined && { remote }) };
}

function withPlace({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, ...(deletionTimestamp && { deletionTimestamp }) },
    spec: { containers: [], nodeName: spec?.nodeName },
    status: { podIP: status?.podIP, podIPs: status?.podIPs },
  };
}
