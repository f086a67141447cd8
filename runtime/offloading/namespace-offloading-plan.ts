import type { NamespaceMap } from "../api";
import { holderOf, type CompetingClaimant } from "./remote-name-conflicts";
import { selectClusters, type SelectableVirtualNode } from "./cluster-selection";
import { invalidNodeSelector } from "./node-selector";
import type { NodeSelector } from "kubernetes-types/core/v1";

/** What a namespace's place in the maps is decided from. */
export interface MappingFacts {
  namespace: string;
  remoteName: string;
  /** When the NamespaceOffloading was made, RFC 3339. */
  createdAt: string;
  selector: NodeSelector | undefined;
  virtualNodes: readonly SelectableVirtualNode[];
  /** The map of each cluster that has one. */
  maps: ReadonlyMap<string, NamespaceMap>;
  /** The other NamespaceOffloadings with that remote name. */
  competing: readonly CompetingOffloading[];
}

/** A NamespaceOffloading of another namespace, with the same remote name. */
export interface CompetingOffloading {
  namespace: string;
  createdAt: string;
  selector: NodeSelector | undefined;
  deleting: boolean;
}

/** One change to a map's desired mapping. */
export interface MappingEdit {
  map: NamespaceMap;
  /** Undefined: remove the entry. */
  remoteName: string | undefined;
  /** Others want the same remote name: only the map that was looked at may be changed. */
  contested?: boolean;
}

export interface MappingPlan {
  edits: MappingEdit[];
  /** Selected clusters whose map does not exist yet. */
  waiting: string[];
  /** Selected clusters where another local namespace has the remote name, with that namespace. */
  refused: Map<string, string>;
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
  createdAt,
  selector,
  virtualNodes,
  maps,
  competing,
}: MappingFacts): MappingPlan {
  const plan: MappingPlan = { edits: [], waiting: [], refused: new Map() };
  const wanting = (cluster: string): CompetingClaimant[] =>
    competing.map((competitor) => ({ ...competitor, wanted: isWanted(competitor, cluster, virtualNodes) }));
  for (const [cluster, selection] of selectClusters(selector, virtualNodes)) {
    const map = maps.get(cluster);
    if (map === undefined) {
      if (selection === "selected") plan.waiting.push(cluster);
      continue;
    }
    const present = map.spec.desiredMapping?.[namespace];
    if (selection === "selected") {
      const holder = holderOf({ namespace, createdAt }, remoteName, map, wanting(cluster));
      if (holder !== undefined) plan.refused.set(cluster, holder);
      const wanted = holder === undefined ? remoteName : undefined;
      if (present !== wanted)
        plan.edits.push({ map, remoteName: wanted, ...(competing.length > 0 ? { contested: true } : {}) });
    }
    if (selection === "excluded" && present !== undefined) plan.edits.push({ map, remoteName: undefined });
  }
  return plan;
}

function isWanted(
  { selector, deleting }: CompetingOffloading,
  cluster: string,
  virtualNodes: readonly SelectableVirtualNode[],
): boolean {
  if (deleting || invalidNodeSelector(selector) !== undefined) return false;
  return selectClusters(selector, virtualNodes).get(cluster) === "selected";
}

/** The edits that take a namespace out of every map. */
export function planRemoval(namespace: string, maps: Iterable<NamespaceMap>): MappingEdit[] {
  return [...maps]
    .filter((map) => map.spec.desiredMapping?.[namespace] !== undefined)
    .map((map) => ({ map, remoteName: undefined }));
}
