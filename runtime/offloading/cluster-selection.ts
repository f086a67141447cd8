import type { NodeSelector } from "kubernetes-types/core/v1";

import { Label } from "../api";
import { selectsCluster } from "./node-selector";

/** What a cluster selector looks at of one virtual node. */
export interface SelectableVirtualNode {
  name: string;
  clusterID: string;
  /** Labels of its Node, or what stands for them ({@link labelsWithoutNode}). */
  labels: Readonly<Record<string, string>>;
  /** It is being deleted. */
  deleting: boolean;
}

/** Labels that a virtual node will have, for as long as its Node does not exist. */
export function labelsWithoutNode(spec: {
  clusterID: string;
  labels?: Readonly<Record<string, string>>;
  storageClasses?: readonly unknown[];
}): Record<string, string> {
  return {
    ...spec.labels,
    [Label.remoteClusterID]: spec.clusterID,
    [Label.storageAvailable]: String((spec.storageClasses ?? []).length > 0),
  };
}

/**
 * - `selected`, `excluded`: by the virtual nodes that stay; one that matches is enough.
 * - `undecided`: none stays. What is offloaded there lives until its offloading or its peering ends, not until a virtual node is away for
 *   a moment (field fault B52).
 */
export type Selection = "selected" | "excluded" | "undecided";

/** Which clusters a selector takes; clusters without any virtual node do not appear. */
export function selectClusters(
  selector: NodeSelector | undefined,
  virtualNodes: readonly SelectableVirtualNode[],
): Map<string, Selection> {
  const selections = new Map<string, Selection>();
  for (const node of virtualNodes) {
    const before = selections.get(node.clusterID) ?? "undecided";
    if (node.deleting || before === "selected") selections.set(node.clusterID, before);
    else selections.set(node.clusterID, selectsCluster(selector, node) ? "selected" : "excluded");
  }
  return selections;
}
