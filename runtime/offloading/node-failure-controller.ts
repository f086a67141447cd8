import { Node, Pod } from "../api";
import { type Controller, isDeleting, runController, type SourceEvent, watches } from "../kube";
import type { OffloadingContext } from "./context";
import { shadowedPods } from "./shadow-pod-caches";

const BY_NODE = "node";

/**
 * Removes the terminating pods of ShadowPods from nodes of this cluster that are not ready: no kubelet will ever confirm their end, and until
 * they are gone they are not made anew elsewhere. Off by default, because a node that only lost touch may still run them.
 *
 * @see offloading reference 12.3
 */
export function nodeFailureController(context: OffloadingContext): Controller {
  const { client, informers } = context;
  const nodes = informers.informer(Node, { project: onlyReadiness });
  const pods = shadowedPods(informers);
  pods.addIndex(BY_NODE, ({ spec }) => (spec.nodeName === undefined ? [] : [spec.nodeName]));
  return runController(
    {
      name: "node_failure",
      sources: [
        watches(nodes, {
          when: (event) => event.type !== "updated" || hasFailed(event.before) !== hasFailed(event.object),
        }),
        watches(pods, { keys: ({ spec }) => [spec.nodeName ?? ""], when: beganToTerminate }),
      ],
      reconcile: async (name) => {
        const node = nodes.get(name);
        if (node === undefined || !hasFailed(node)) return;
        const stuck = pods.byIndex(BY_NODE, name).filter(isDeleting);
        await Promise.all(
          stuck.map(({ metadata }) =>
            client.delete(Pod, metadata, { uid: metadata.uid ?? "", gracePeriodSeconds: 0 }),
          ),
        );
      },
    },
    context,
  );
}

/** A node that has not said anything yet is new, not lost. */
function hasFailed({ status }: Node): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  return ready !== undefined && ready !== "True";
}

function beganToTerminate(event: SourceEvent<Pod>): boolean {
  if (event.type === "deleted" || !isDeleting(event.object)) return false;
  return event.type === "added" || !isDeleting(event.before);
}

function onlyReadiness({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, uid, resourceVersion } = metadata;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion },
    spec: {},
    status: { conditions: ready === undefined ? [] : [{ type: ready.type, status: ready.status }] },
  };
}
