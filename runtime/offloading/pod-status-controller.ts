import { Label, LabelValue, type Node, Pod } from "../api";
import {
  type Controller,
  type Informer,
  isNotFound,
  type KubeClient,
  type Outcome,
  runController,
  type SourceEvent,
  watches,
} from "../kube";
import type { OffloadingContext } from "./context";
import { type ConsumerCaches, isReady } from "./consumer-caches";

const BY_NODE = "node";
/** While a node is not ready: how often pods that came meanwhile are looked for. */
const LOOK_AGAIN_MS = 10_000;
/** Requests under way at a time. */
const AT_ONCE = 32;

/**
 * Labels the pods of a virtual node that is not ready, so that its virtual kubelet shows them as not ready and Services leave them out;
 * takes the label back when the node is ready again.
 *
 * In the usual state nothing is labelled, so only labelled pods are watched; the others are asked for when a node fails.
 *
 * @see offloading reference 13.1
 */
export function podStatusController(context: OffloadingContext, { nodes }: ConsumerCaches): Controller {
  const { client, informers } = context;
  const labelled = informers.informer(Pod, {
    labelSelector: `${Label.remoteUnavailable}=${LabelValue.true}`,
    project: onlyPlace,
  });
  labelled.addIndex(BY_NODE, ({ spec }) => [spec.nodeName ?? ""]);
  return runController(
    {
      name: "pod_status",
      sources: [
        watches(nodes, { when: readinessChanged }),
        watches(labelled, {
          keys: ({ spec }) => [spec.nodeName ?? ""],
          when: ({ type }) => type === "added",
        }),
      ],
      reconcile: async (name): Promise<Outcome> => {
        const node = nodes.get(name);
        if (node === undefined) return;
        if (isReady(node)) return await release(client, labelled, name);
        await label(client, name);
        return { requeueAfterMs: LOOK_AGAIN_MS };
      },
    },
    context,
  );
}

async function label(client: KubeClient, node: string): Promise<void> {
  const pods = await client.list(Pod, {
    fieldSelector: `spec.nodeName=${node}`,
    labelSelector: `${Label.remoteUnavailable}!=${LabelValue.true}`,
  });
  await patchAll(client, pods, LabelValue.true);
}

async function release(client: KubeClient, labelled: Informer<Pod>, node: string): Promise<void> {
  await patchAll(client, labelled.byIndex(BY_NODE, node), null);
}

async function patchAll(client: KubeClient, pods: readonly Pod[], value: string | null): Promise<void> {
  const failures: unknown[] = [];
  for (let at = 0; at < pods.length; at += AT_ONCE) {
    await Promise.all(
      pods.slice(at, at + AT_ONCE).map(async ({ metadata: { name, namespace, uid } }) => {
        const body = { metadata: { uid, labels: { [Label.remoteUnavailable]: value } } };
        try {
          await client.patch(Pod, { name, ...(namespace === undefined ? {} : { namespace }) }, body, {
            type: "merge",
          });
        } catch (error) {
          if (!isNotFound(error)) failures.push(error);
        }
      }),
    );
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} pods not labelled: ${String(failures[0])}`);
}

function readinessChanged(event: SourceEvent<Node>): boolean {
  return event.type !== "updated" || isReady(event.before) !== isReady(event.object);
}

function onlyPlace({ apiVersion, kind, metadata, spec }: Pod): Pod {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion },
    spec: { containers: [], nodeName: spec.nodeName },
  };
}
