import {
  Configuration,
  EndpointSlice,
  ForeignCluster,
  Label,
  LabelValue,
  Namespace,
  ShadowEndpointSlice,
} from "../api";
import {
  type Controller,
  controllerOf,
  type Informer,
  isAlreadyExists,
  isConflict,
  isDeleting,
  keyOf,
  type Outcome,
  runController,
  watches,
  writeIfChanged,
} from "../kube";
import { isConfigured } from "../networking/address-mapping";
import type { OffloadingContext, OffloadingOptions } from "./context";
import { foreignAddresses, isReachable } from "./shadow-endpoint-slice-desired";

import { consumerOfRemoteNamespace } from "./remote-namespace-policy";
import { desiredEndpointSlice } from "./shadow-endpoint-slice-desired";

const BY_CLUSTER = "cluster";
/** The deletion of a slice that is not ours, and holds the name, is not watched: we retry after this time. */
const TAKEN_AGAIN_MS = 15_000;

const FAILED = "FailedEndpointSlice";

/**
 * Gives each ShadowEndpointSlice its EndpointSlice, so that the Services of consumers answer here, too. When a consumer cannot be reached, its endpoints are
 * not ready, and the Service goes on with those of this cluster.
 *
 * @see offloading reference 12.2
 */
export function shadowEndpointSliceController(
  context: OffloadingContext,
  options: OffloadingOptions,
): Controller {
  const caches = new SliceCaches(context);
  return runController(
    {
      name: "shadowendpointslice",
      workers: options.shadowEndpointSliceWorkers ?? 10,
      sources: [
        watches(caches.shadows),
        watches(caches.slices),
        watches(caches.namespaces, {
          keys: ({ metadata }) => caches.keysIn(metadata.name),
          when: (event) =>
            event.type !== "updated" ||
            consumerOfRemoteNamespace(event.before) !== consumerOfRemoteNamespace(event.object),
        }),
        watches(caches.foreignClusters, {
          keys: ({ spec }) => caches.keysOf(spec.clusterID),
          when: (event) => event.type !== "updated" || networkOf(event.before) !== networkOf(event.object),
        }),
        // Direct connections lead to other clusters than the one that a slice is from.
        watches(caches.configurations, { keys: () => caches.shadows.list().map(keyOf) }),
      ],
      objectOf: (key) => caches.shadows.getByKey(key),
      reconcile: (key) => reconcile(context, options, caches, key),
    },
    context,
  );
}

class SliceCaches {
  readonly shadows: Informer<ShadowEndpointSlice>;
  readonly slices: Informer<EndpointSlice>;
  readonly foreignClusters: Informer<ForeignCluster>;
  readonly configurations: Informer<Configuration>;
  /** Those that name a peer. */
  readonly namespaces: Informer<Namespace>;

  constructor({ informers }: OffloadingContext) {
    this.shadows = informers.informer(ShadowEndpointSlice);
    this.shadows.addIndex(BY_CLUSTER, originsOf);
    this.slices = informers.informer(EndpointSlice, {
      labelSelector: `${Label.managedBy}=${LabelValue.managedByShadowEndpointSlice}`,
    });
    this.foreignClusters = informers.informer(ForeignCluster);
    this.foreignClusters.addIndex(BY_CLUSTER, ({ spec }) => [spec.clusterID]);
    this.namespaces = informers.informer(Namespace, { labelSelector: Label.remoteClusterID });
    this.configurations = informers.informer(Configuration);
    this.configurations.addIndex(BY_CLUSTER, ({ metadata }) => [
      metadata.labels?.[Label.remoteClusterID] ?? "",
    ]);
  }

  keysOf(origin: string): string[] {
    return this.shadows.byIndex(BY_CLUSTER, origin).map(keyOf);
  }

  keysIn(namespace: string): string[] {
    return this.shadows
      .list()
      .filter(({ metadata }) => metadata.namespace === namespace)
      .map(keyOf);
  }

  configurationOf(cluster: string): Configuration | undefined {
    return this.configurations.byIndex(BY_CLUSTER, cluster).find(isConfigured);
  }
}

async function reconcile(
  { client, events }: OffloadingContext,
  options: OffloadingOptions,
  caches: SliceCaches,
  key: string,
): Promise<Outcome> {
  const shadow = caches.shadows.getByKey(key);
  // The slice goes with its owner.
  if (shadow === undefined || isDeleting(shadow)) return;
  const [origin = ""] = originsOf(shadow);
  const consumer = consumerOfRemoteNamespace(caches.namespaces.get(shadow.metadata.namespace ?? ""));
  if (consumer !== undefined && consumer !== origin) {
    // Its addresses would be mapped by the networks of the wrong cluster.
    const why = `the label ${Label.reflectionOrigin} is "${origin}", and the namespace was made for cluster "${consumer}"; write that one`;
    events.warning(shadow, FAILED, `Failed to make the EndpointSlice: ${why}`);
    return;
  }
  const [foreignCluster] = caches.foreignClusters.byIndex(BY_CLUSTER, origin);
  if (foreignCluster === undefined) {
    const why = origin === "" ? `it has no label ${Label.reflectionOrigin}` : `cluster ${origin} is no peer`;
    events.warning(shadow, FAILED, `Failed to make the EndpointSlice: ${why}`);
    return;
  }
  const observed = caches.slices.getByKey(key);
  if (observed !== undefined && controllerOf(observed)?.uid !== shadow.metadata.uid) {
    // An earlier ShadowEndpointSlice's, which is being collected: its end is an event.
    if (controllerOf(observed)?.kind === ShadowEndpointSlice.kind) return;
    events.warning(shadow, FAILED, TAKEN);
    return { requeueAfterMs: TAKEN_AGAIN_MS };
  }
  try {
    const facts = {
      foreignCluster,
      configurationOf: (cluster: string) => caches.configurationOf(cluster),
      networking: options.networking ?? false,
      directConnections: options.denyDirectConnections !== true,
    };
    const desired = desiredEndpointSlice(shadow, facts);
    const foreign = foreignAddresses(shadow, facts);
    if (foreign.length > 0) {
      const why = `${foreign.join(", ")}: in no network of ${origin} that has its place here, so left out; see spec.remote.cidr of its Configuration`;
      events.warning(shadow, FAILED, why);
    }
    if (observed !== undefined && observed.addressType !== desired.addressType) {
      // Immutable.
      await client.delete(EndpointSlice, observed.metadata, { uid: observed.metadata.uid });
      return;
    }
    await writeIfChanged(client, EndpointSlice, desired, observed, {
      exact: ["endpoints", "ports", "metadata.labels", "metadata.annotations"],
    });
    return;
  } catch (error) {
    if (isAlreadyExists(error)) {
      const existing = await client.get(EndpointSlice, shadow.metadata);
      // Ours: the watch will show it in a moment, and bring us back.
      if (existing === undefined || controllerOf(existing)?.uid === shadow.metadata.uid) return;
      events.warning(shadow, FAILED, TAKEN);
      return { requeueAfterMs: TAKEN_AGAIN_MS };
    }
    if (!isConflict(error)) {
      const message = error instanceof Error ? error.message : String(error);
      events.warning(shadow, FAILED, `Failed to make the EndpointSlice: ${message}`);
    }
    throw error;
  }
}

const TAKEN =
  "Failed to make the EndpointSlice: one of that name exists and does not belong to this ShadowEndpointSlice";

function originsOf({ metadata }: ShadowEndpointSlice): string[] {
  const origin = metadata.labels?.[Label.reflectionOrigin];
  return origin === undefined ? [] : [origin];
}

/** What of a peer's state the slices depend on. */
function networkOf(foreignCluster: ForeignCluster): string {
  return `${foreignCluster.status?.modules?.networking?.enabled === true} ${isReachable(foreignCluster)}`;
}
