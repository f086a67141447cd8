import type { NodeSelector } from "kubernetes-types/core/v1";

import { Label, type NamespaceMap } from "../api";
import { invalidNodeSelector, selectsCluster } from "./node-selector";

/** What a namespace's place in the maps is decided from. */
interface MappingFacts {
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

interface MappingPlan {
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

/** A NamespaceOffloading, as far as it competes for a remote name. */
interface Claimant {
  namespace: string;
  /** RFC 3339, as in its metadata. */
  createdAt: string;
}

/** Another NamespaceOffloading whose remote namespace would have the same name. */
interface CompetingClaimant extends Claimant {
  /** It is there to stay, and selects the cluster that is asked about. */
  wanted: boolean;
}

/**
 * The other local namespace that has a remote name at one cluster, or is to have it; undefined where the claimant may. Two that shared
 * a remote namespace would delete each other's objects there as leftovers.
 *
 * An entry that is there keeps the name, until the provider has taken its namespace back; else, and among entries that share a name
 * already, the older NamespaceOffloading does, then the first by name.
 */
function holderOf(
  claimant: Claimant,
  remoteName: string,
  map: NamespaceMap,
  competing: readonly CompetingClaimant[],
): string | undefined {
  const desired = map.spec.desiredMapping ?? {};
  const others = Object.keys(desired)
    .filter((namespace) => namespace !== claimant.namespace && desired[namespace] === remoteName)
    .sort();
  const before = competing
    .filter((competitor) => competitor.wanted && order(competitor, claimant) < 0)
    .sort(order);
  if (desired[claimant.namespace] === remoteName)
    return before.find(({ namespace }) => others.includes(namespace))?.namespace;
  return others[0] ?? leaving(claimant, remoteName, map)[0] ?? before[0]?.namespace;
}

/** Namespaces that the provider still holds under a name. */
function leaving({ namespace: own }: Claimant, remoteName: string, { status }: NamespaceMap): string[] {
  return Object.entries(status?.currentMapping ?? {})
    .filter(
      ([namespace, { remoteNamespace, phase }]) =>
        namespace !== own && remoteNamespace === remoteName && phase !== "CreationLoopBackOff",
    )
    .map(([namespace]) => namespace)
    .sort();
}

function order(a: Claimant, b: Claimant): number {
  const age = Date.parse(a.createdAt) - Date.parse(b.createdAt);
  if (age !== 0 && !Number.isNaN(age)) return age;
  return a.namespace < b.namespace ? -1 : 1;
}

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
type Selection = "selected" | "excluded" | "undecided";

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
