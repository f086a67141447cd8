import type { NamespaceMap } from "../api";
import { selectClusters, type SelectableVirtualNode } from "./cluster-selection";
import type { NodeSelector } from "kubernetes-types/core/v1";

/** What a namespace's place in the maps is decided from. */
export interface MappingFacts {
  namespace: string;
  remoteName: string;
  selector: NodeSelector | undefined;
  virtualNodes: readonly SelectableVirtualNode[];
  /** The map of each cluster that has one. */
  maps: ReadonlyMap<string, NamespaceMap>;
}

/** One change to a map's desired mapping. */
export interface MappingEdit {
  map: NamespaceMap;
  /** Undefined: remove the entry. */
  remoteName: string | undefined;
}

export interface MappingPlan {
  edits: MappingEdit[];
  /** Selected clusters whose map does not exist yet. */
  waiting: string[];
}

/**
 * Where a namespace is to be mapped: in the maps of the selected clusters and no others. Entries for clusters that are undecided, or have no
 * virtual node at the moment, stay as they are.
 *
 * @see offloading reference 4.1
 */
export function planMapping({
  namespace,
  remoteName,
  selector,
  virtualNodes,
  maps,
}: MappingFacts): MappingPlan {
  const plan: MappingPlan = { edits: [], waiting: [] };
  for (const [cluster, selection] of selectClusters(selector, virtualNodes)) {
    const map = maps.get(cluster);
    if (map === undefined) {
      if (selection === "selected") plan.waiting.push(cluster);
      continue;
    }
    const present = map.spec.desiredMapping?.[namespace];
    if (selection === "selected" && present !== remoteName) plan.edits.push({ map, remoteName });
    if (selection === "excluded" && present !== undefined) plan.edits.push({ map, remoteName: undefined });
  }
  return plan;
}

/** The edits that take a namespace out of every map. */
export function planRemoval(namespace: string, maps: Iterable<NamespaceMap>): MappingEdit[] {
  return [...maps]
    .filter((map) => map.spec.desiredMapping?.[namespace] !== undefined)
    .map((map) => ({ map, remoteName: undefined }));
}
