import { Label, LabelValue, NamespaceMap, Secret } from "../api";
import {
  type Controller,
  exceptStatus,
  isAlreadyExists,
  isDeleting,
  type KubeClient,
  type Outcome,
  runController,
  watches,
} from "../kube";
import type { OffloadingContext, OffloadingOptions } from "./context";
import { BY_CLUSTER, clusterOfSource, type ConsumerCaches } from "./consumer-caches";

const DEFAULT_GRACE_MS = 30_000;

/** What becomes of the map of a cluster. */
export type MapDecision =
  { do: "nothing" } | { do: "create" } | { do: "delete" } | { do: "wait"; ms: number };

export interface MapFacts {
  /** VirtualNodes of the cluster that stay, and all of them. */
  staying: number;
  virtualNodes: number;
  map: NamespaceMap | undefined;
  /** The control-plane identity is there and not on its way out. */
  peered: boolean;
  /** Since when there has been no virtual node, as far as we saw; undefined while there is one. */
  aloneForMs: number | undefined;
  graceMs: number;
}

/**
 * A map exists while its cluster has a virtual node, and for a grace period after the last one: the provider deletes the namespaces of a map
 * that goes, with all that is in them. Without a peering, or with nothing in the map, there is nothing to wait for.
 */
export function decideMap(facts: MapFacts): MapDecision {
  const { staying, virtualNodes, map, peered, aloneForMs = 0, graceMs } = facts;
  if (map === undefined || isDeleting(map))
    return staying > 0 && map === undefined ? { do: "create" } : { do: "nothing" };
  if (virtualNodes > 0) return { do: "nothing" };
  const empty =
    Object.keys(map.spec.desiredMapping ?? {}).length === 0 &&
    Object.keys(map.status?.currentMapping ?? {}).length === 0;
  if (!peered || empty || aloneForMs >= graceMs) return { do: "delete" };
  return { do: "wait", ms: graceMs - aloneForMs };
}

/**
 * Keeps the NamespaceMap of each peer for as long as it has virtual nodes ({@link decideMap}).
 *
 * @see offloading reference 4.3 and 5.5
 */
export function namespaceMapCreator(
  context: OffloadingContext,
  options: Pick<OffloadingOptions, "namespaceMapGraceMs">,
  caches: ConsumerCaches,
): Controller {
  const { client, clock, informers } = context;
  const identities = informers.informer(Secret, {
    labelSelector: `${Label.identityType}=ControlPlane`,
    // The credentials in them are of no concern here.
    project: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
  });
  identities.addIndex(BY_CLUSTER, ({ metadata }) => [metadata.labels?.[Label.remoteClusterID] ?? ""]);
  const aloneSince = new Map<string, number>();

  const reconcile = async (cluster: string): Promise<Outcome> => {
    const virtualNodes = caches.virtualNodes.byIndex(BY_CLUSTER, cluster);
    if (virtualNodes.length > 0) aloneSince.delete(cluster);
    else if (!aloneSince.has(cluster)) aloneSince.set(cluster, clock.monotonic());
    const since = aloneSince.get(cluster);
    const map = caches.namespaceMapOf(cluster);
    const decision = decideMap({
      staying: virtualNodes.filter((node) => !isDeleting(node)).length,
      virtualNodes: virtualNodes.length,
      map,
      peered: identities.byIndex(BY_CLUSTER, cluster).some((secret) => !isDeleting(secret)),
      aloneForMs: since === undefined ? undefined : clock.monotonic() - since,
      graceMs: options.namespaceMapGraceMs ?? DEFAULT_GRACE_MS,
    });
    if (map === undefined && virtualNodes.length === 0) aloneSince.delete(cluster);
    switch (decision.do) {
      case "create":
        return await createMap(client, cluster, namespaceOf(cluster, caches));
      case "delete":
        if (map !== undefined)
          await client.delete(NamespaceMap, map.metadata, { uid: map.metadata.uid ?? "" });
        return;
      case "wait":
        return { requeueAfterMs: decision.ms };
      case "nothing":
        return;
    }
  };

  return runController(
    {
      name: "namespacemap-creator",
      sources: [
        watches(caches.virtualNodes, { keys: ({ spec }) => keyed(spec.clusterID), when: exceptStatus }),
        watches(caches.namespaceMaps, { keys: (map) => keyed(clusterOfSource(map)) }),
        watches(identities, {
          keys: ({ metadata }) => keyed(metadata.labels?.[Label.remoteClusterID]),
          when: exceptStatus,
        }),
        watches(caches.tenantNamespaces, {
          keys: ({ metadata }) => keyed(metadata.labels?.[Label.remoteClusterID]),
          when: ({ type }) => type === "added",
        }),
      ],
      reconcile,
    },
    context,
  );
}

function keyed(cluster: string | undefined): string[] {
  return cluster === undefined || cluster === "" ? [] : [cluster];
}

/** The tenant namespace, which the replicator copies from; where none is labelled, that of the virtual nodes. */
function namespaceOf(cluster: string, caches: ConsumerCaches): string {
  const labelled = caches.tenantNamespaces.byIndex(BY_CLUSTER, cluster).map(({ metadata }) => metadata.name);
  const [first, second] = labelled;
  if (first !== undefined && second !== undefined) {
    throw new Error(
      `cluster ${cluster} has the tenant namespaces ${labelled.sort().join(", ")}, and may have one: remove the label ${Label.tenantNamespace} from the others`,
    );
  }
  const [node] = caches.virtualNodes.byIndex(BY_CLUSTER, cluster);
  return first ?? node?.metadata.namespace ?? "";
}

async function createMap(client: KubeClient, cluster: string, namespace: string): Promise<void> {
  const labels = {
    [Label.remoteClusterID]: cluster,
    [Label.replication]: LabelValue.true,
    [Label.replicationDestination]: cluster,
  };
  try {
    await client.create(NamespaceMap, {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceMap",
      metadata: { name: cluster, namespace, labels },
      spec: {},
    });
  } catch (error) {
    // Made a moment ago; the watch will tell.
    if (!isAlreadyExists(error)) throw error;
  }
}
