import type { NodeSelector, NodeSelectorTerm, Toleration } from "kubernetes-types/core/v1";
import { Label, LabelValue, VIRTUAL_NODE_TAINT, VIRTUAL_NODE_TOLERATION } from "../api";
import { isRecord } from "../api/invalid-object";
import { isEmptyTerm } from "../offloading/node-selector";
import { both, selectorProduct } from "../offloading/node-selector";
import { errored, patched, type PatchOperation, type Webhook } from "./admission-review";

interface PodWebhookOptions {
  /** The NamespaceOffloading of a namespace. */
  offloadingOf: (namespace: string) => PodOffloading | undefined | Promise<PodOffloading | undefined>;
  runtimeClass: string;
}

/** Lets the pods of an offloaded namespace go where it is offloaded to ({@link podPatch}). */
export function podWebhook({ offloadingOf, runtimeClass }: PodWebhookOptions): Webhook {
  return async ({ namespace, object }) => {
    // The namespace of the request: that of the pod may be left out.
    const offloading = await offloadingOf(namespace);
    if (offloading === undefined) return errored(500, "failed retrieving NamespaceOffloading");
    try {
      return patched(podPatch(object?.raw.spec, offloading, runtimeClass));
    } catch (error) {
      if (error instanceof UnknownStrategy)
        return errored(500, `failed constructing pod mutation: ${error.message}`);
      throw error;
    }
  };
}

/** What the pod webhook needs of a namespace's NamespaceOffloading. */
interface PodOffloading {
  podOffloadingStrategy: string;
  clusterSelector?: NodeSelector;
}

/** The strategy is none that we know. */
class UnknownStrategy extends Error {
  override readonly name = "UnknownStrategy";
}

/**
 * The steps that let a pod go where its namespace is offloaded to: the toleration of virtual nodes, unless the pod tolerates them
 * already, and the node selector that follows from strategy and cluster selector. None with the strategy `Local`, and none for
 * pods of the Liqo runtime class, which brings both by itself.
 *
 * @param spec the pod's spec as it came
 * @see offloading reference 16.2
 */
export function podPatch(spec: unknown, offloading: PodOffloading, runtimeClass: string): PatchOperation[] {
  const pod = isRecord(spec) ? spec : {};
  const { podOffloadingStrategy: strategy, clusterSelector } = offloading;
  if (strategy === "Local" || pod.runtimeClassName === runtimeClass) return [];
  if (strategy !== "Remote" && strategy !== "LocalAndRemote")
    throw new UnknownStrategy(`podOffloadingStrategy ${JSON.stringify(strategy)}`);
  return [
    ...tolerationPatch(pod.tolerations),
    ...affinityPatch(pod.affinity, imposedTerms(strategy, clusterSelector?.nodeSelectorTerms ?? [])),
  ];
}

const VIRTUAL: NodeSelectorTerm = {
  matchExpressions: [{ key: Label.nodeType, operator: "In", values: [LabelValue.virtualNode] }],
};
const PHYSICAL: NodeSelectorTerm = {
  matchExpressions: [{ key: Label.nodeType, operator: "NotIn", values: [LabelValue.virtualNode] }],
};

/** The terms that a strategy imposes on the pods of a namespace; none: the pod goes anywhere. */
function imposedTerms(
  strategy: "Remote" | "LocalAndRemote",
  clusters: readonly NodeSelectorTerm[],
): NodeSelectorTerm[] {
  if (strategy === "LocalAndRemote") return clusters.length === 0 ? [] : [...clusters, PHYSICAL];
  if (clusters.length === 0) return [VIRTUAL];
  const terms = clusters.filter((term) => !isEmptyTerm(term)).map((term) => both(term, VIRTUAL));
  // An empty term matches no node, so a selector without other terms selects no cluster.
  return terms.length > 0 ? terms : [{}];
}

function tolerationPatch(value: unknown): PatchOperation[] {
  if (!Array.isArray(value))
    return [{ op: "add", path: "/spec/tolerations", value: [VIRTUAL_NODE_TOLERATION] }];
  const tolerated = value.some(
    (toleration: unknown) => isRecord(toleration) && toleratesVirtualNodes(toleration),
  );
  return tolerated ? [] : [{ op: "add", path: "/spec/tolerations/-", value: VIRTUAL_NODE_TOLERATION }];
}

/** Whether a toleration tolerates the taint of virtual nodes without a time limit. */
export function toleratesVirtualNodes(toleration: Toleration | Record<string, unknown>): boolean {
  const { key = "", operator = "Equal", value, effect = "", tolerationSeconds } = toleration;
  if (tolerationSeconds !== undefined && tolerationSeconds !== null) return false;
  if (effect !== "" && effect !== VIRTUAL_NODE_TAINT.effect) return false;
  if (operator === "Exists") return key === "" || key === VIRTUAL_NODE_TAINT.key;
  return key === VIRTUAL_NODE_TAINT.key && value === VIRTUAL_NODE_TAINT.value;
}

function affinityPatch(affinity: unknown, imposed: readonly NodeSelectorTerm[]): PatchOperation[] {
  if (imposed.length === 0) return [];
  const nodeAffinity = isRecord(affinity) ? affinity.nodeAffinity : undefined;
  const required = isRecord(nodeAffinity) ? nodeAffinity[REQUIRED] : undefined;
  const nodeSelectorTerms = selectorProduct(imposed, termsOf(required));
  const path = "/spec/affinity";
  if (!isRecord(affinity))
    return [{ op: "add", path, value: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } } }];
  if (!isRecord(nodeAffinity))
    return [{ op: "add", path: `${path}/nodeAffinity`, value: { [REQUIRED]: { nodeSelectorTerms } } }];
  return [{ op: "add", path: `${path}/nodeAffinity/${REQUIRED}`, value: { nodeSelectorTerms } }];
}

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";

/** The terms of a required affinity, not validated: the API server does that. */
function termsOf(required: unknown): NodeSelectorTerm[] {
  if (!isRecord(required) || !Array.isArray(required.nodeSelectorTerms)) return [];
  return required.nodeSelectorTerms.filter((term): term is NodeSelectorTerm => isRecord(term));
}
