import {
  EventReason,
  Finalizer,
  type KubeObject,
  Label,
  LabelValue,
  Name,
  Namespace,
  NamespaceMap,
  RoleBinding,
} from "../api";
import {
  type Controller,
  exceptStatus,
  hasFinalizer,
  type Informer,
  isDeleting,
  keyOf,
  messageOf,
  type Outcome,
  patchStatusIfChanged,
  type ReconcileRun,
  runController,
  watches,
  withFinalizer,
  withoutFinalizer,
} from "../kube";
import { tenantOf } from "../plan/peer-objects";
import type { OffloadingContext, OffloadingOptions } from "./context";
import type { MappingPhase } from "./namespace-offloading-status";
import { namespaceLimitOf, podSecurityOf } from "./remote-namespace-policy";
import { holderOfRemote, isSettled, type Refusal, RefusedMappings } from "./namespace-map-decision";
import {
  bindConsumer,
  createRemoteNamespace,
  enforcePodSecurity,
  NamespaceLimitReached,
  NamespaceReservations,
  NamespaceTaken,
  originalNameOf,
  ownerOf,
  type RemoteOwner,
} from "./remote-namespace";

/** The deletion of a namespace that is not ours is not watched: we retry the name after this time. */
const TAKEN_AGAIN_MS = 10_000;

interface Caches {
  maps: Informer<NamespaceMap>;
  /** Namespaces that name a peer: tenant namespaces and remote namespaces. */
  namespaces: Informer<Namespace>;
  roleBindings: Informer<RoleBinding>;
  reservations: NamespaceReservations;
}

interface MapMappings {
  desired: Record<string, string>;
  before: Current;
}

interface Owner extends Omit<RemoteOwner, "consumer"> {
  /** Undefined while the namespace of the map is no tenant namespace: then nothing new is made. */
  consumer: string | undefined;
  /** Of the installation. */
  liqoNamespace: string;
  /** How many namespaces the consumer gets. */
  namespaceLimit: number;
}

const BY_NAMESPACE = "namespace";

type Current = Record<string, { remoteNamespace?: string; phase?: MappingPhase }>;

/**
 * The provider's side of NamespaceMaps: creates the namespaces that consumers ask for in the copies of their maps, deletes those that they no longer
 * ask for, and reports the progress in the map's status. It recreates a remote namespace that somebody deletes, and never touches one that is not
 * the map's.
 *
 * The consumer writes the map, its labels and its status, so none of these is trusted: the tenant namespace says whose the map is, and the remote
 * namespace itself says whose it is.
 *
 * @see offloading reference 4.4
 */
export function namespaceMapController(
  context: OffloadingContext,
  options: Pick<OffloadingOptions, "liqoNamespace" | "podSecurity"> = {},
): Controller {
  const { informers } = context;
  const namespaces = informers.informer(Namespace, { labelSelector: Label.remoteClusterID });
  const caches: Caches = {
    maps: informers.informer(NamespaceMap),
    namespaces,
    reservations: new NamespaceReservations(namespaces),
    roleBindings: informers.informer(RoleBinding, { labelSelector: Label.remoteClusterID }),
  };
  const refused = new RefusedMappings();
  caches.maps.addIndex(BY_NAMESPACE, ({ metadata }) => [metadata.namespace ?? ""]);
  const liqoNamespace = options.liqoNamespace ?? Name.liqoNamespace;
  const owning = (object: KubeObject) => {
    const map = ownerOf(object);
    return map === undefined ? [] : [map];
  };
  const concerned = (namespace: Namespace) => [
    ...owning(namespace),
    ...caches.maps.byIndex(BY_NAMESPACE, namespace.metadata.name).map(keyOf),
  ];
  return runController(
    {
      name: "namespacemap",
      sources: [
        watches(caches.maps, { when: exceptStatus }),
        watches(caches.namespaces, { keys: concerned }),
        watches(caches.roleBindings, { keys: owning, when: ({ type }) => type !== "added" }),
      ],
      objectOf: (key) => caches.maps.getByKey(key),
      reconcile: async (key, run) => {
        const map = caches.maps.getByKey(key);
        if (map === undefined) return refused.forget(key);
        const tenantNamespace = map.metadata.namespace ?? "";
        const tenant = caches.namespaces.get(tenantNamespace);
        const consumer = tenantOf(tenant?.metadata.labels ?? {}) || undefined;
        // A map that was served can be withdrawn, even if its labels have changed since.
        const served = hasFinalizer(map, Finalizer.namespaceMap);
        const mayServe = isCopy(map) && (consumer !== undefined || served);
        if (isDeleting(map) ? !served && !isCopy(map) : !mayServe) return;
        const origin = map.metadata.labels?.[Label.replicationOrigin];
        if (consumer !== undefined && origin !== consumer && !served && !isDeleting(map)) {
          const message = `label ${Label.replicationOrigin} is "${origin}", and namespace "${tenantNamespace}" is the tenant namespace of cluster "${consumer}"; a map is copied to the namespace of its own consumer`;
          context.events.warning(map, EventReason.wrongNamespace, message);
          return;
        }
        const owner: Owner = {
          map: keyOf(map),
          tenantNamespace,
          consumer,
          podSecurity: podSecurityOf(tenant, options.podSecurity ?? "baseline"),
          liqoNamespace,
          namespaceLimit: namespaceLimitOf(tenant),
        };
        const tell = (refusals: readonly Refusal[]) => {
          const entries = map.status?.currentMapping ?? {};
          for (const refusal of refused.fresh(key, refusals, entries))
            tellRefusal(refusal, map, consumer ?? "", context, run);
        };
        return await reconcile(map, owner, context, caches, tell);
      },
    },
    context,
  );
}

/** A peer's map, and not one of this cluster's own for that peer. */
function isCopy({ metadata: { labels } }: NamespaceMap): boolean {
  return labels?.[Label.replicated] === LabelValue.true && labels[Label.replicationOrigin] !== undefined;
}

async function reconcile(
  observed: NamespaceMap,
  owner: Owner,
  context: OffloadingContext,
  caches: Caches,
  tell: (refusals: readonly Refusal[]) => void,
): Promise<Outcome> {
  const { client } = context;
  const desired = isDeleting(observed) ? {} : (observed.spec.desiredMapping ?? {});
  const before: Current = observed.status?.currentMapping ?? {};
  const mappings = { desired, before };
  // An empty map has nothing to clean up. With a finalizer it would delay the deletion of its namespace by eight seconds.
  const map = isEmpty(desired)
    ? observed
    : await withFinalizer(client, NamespaceMap, observed, Finalizer.namespaceMap);
  const current: Current = {};
  const failures: unknown[] = [];
  const refusals: Refusal[] = [];
  // One event for all namespaces above the limit.
  let full: Refusal | undefined;

  await Promise.all([
    ...Object.entries(desired).map(async ([local, remote]) => {
      const result = await provide(local, remote, mappings, owner, context, caches);
      current[local] = { remoteNamespace: remote, phase: result.phase };
      if (result.error instanceof NamespaceLimitReached)
        full ??= { local, remote, message: result.error.message };
      else if (result.error instanceof NamespaceTaken)
        refusals.push({ local, remote, message: result.error.message });
      else if (result.error !== undefined) failures.push(result.error);
    }),
    ...Object.entries(before).map(async ([local, { remoteNamespace }]) => {
      const leaves = desired[local] === undefined || desired[local] !== remoteNamespace;
      if (!leaves || remoteNamespace === undefined) return;
      try {
        const gone = await withdraw(remoteNamespace, mappings, owner, context, caches);
        if (!gone && desired[local] === undefined) current[local] = { remoteNamespace, phase: "Terminating" };
      } catch (error) {
        failures.push(error);
        const kept = before[local];
        if (desired[local] === undefined && kept !== undefined) current[local] = kept;
      }
    }),
  ]);

  if (full !== undefined) refusals.push(full);
  tell(refusals);
  const { object } = await patchStatusIfChanged(
    client,
    NamespaceMap,
    map,
    { currentMapping: current },
    { exact: ["currentMapping"], lock: "never" },
  );
  if (failures.length > 0)
    throw new AggregateError(failures, `NamespaceMap ${owner.map}: ${failures.map(messageOf).join("; ")}`);
  if (isEmpty(desired) && isEmpty(current))
    await withoutFinalizer(client, NamespaceMap, object, Finalizer.namespaceMap);
  return refusals.length > 0 ? { requeueAfterMs: TAKEN_AGAIN_MS } : undefined;
}

/** Tells the provider's administrator, who alone can free the name. The consumer reads of it in its NamespaceOffloading. */
function tellRefusal(
  { local, remote, message }: Refusal,
  map: NamespaceMap,
  consumer: string,
  { events }: OffloadingContext,
  { log }: ReconcileRun,
): void {
  const { remoteNamespaceTaken } = EventReason;
  events.warning(
    map,
    remoteNamespaceTaken,
    `namespace "${local}" of cluster "${consumer}" waits: ${message}`,
  );
  log.warn("a remote namespace is taken", { peer: consumer, local, remote, cause: message });
}

interface Provided {
  phase: MappingPhase;
  error?: unknown;
}

/** Creates the namespace of an entry and binds the consumer to it. A transient failure leaves an accepted entry accepted. */
async function provide(
  local: string,
  remote: string,
  mappings: MapMappings,
  owner: Owner,
  context: OffloadingContext,
  caches: Caches,
): Promise<Provided> {
  const { client } = context;
  const before = mappings.before[local];
  const namespace = caches.namespaces.get(remote);
  const owned = namespace !== undefined && ownerOf(namespace) === owner.map;
  const madeFor = owned ? originalNameOf(namespace) : undefined;
  try {
    const holder = holderOfRemote(remote, mappings, madeFor);
    if (holder !== undefined && holder !== local)
      throw new NamespaceTaken(`namespace ${remote} is for ${holder} in NamespaceMap ${owner.map}`);
    if (owned && !isSettled(remote, mappings, madeFor)) {
      await withdraw(remote, mappings, owner, context, caches);
      throw new NamespaceTaken(`namespace ${remote} was made for ${madeFor ?? ""}, and goes first`);
    }
    const { consumer } = owner;
    if (consumer === undefined) {
      if (owned) return { phase: "Accepted" };
      throw new Error(
        `namespace ${remote} waits: ${owner.tenantNamespace} is labelled as no tenant namespace; label it ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=<the consumer's cluster ID>`,
      );
    }
    const known = { ...owner, consumer };
    if (namespace === undefined || !owned)
      await createRemoteNamespace(client, remote, local, known, caches.reservations);
    else if (!isDeleting(namespace)) await enforcePodSecurity(client, namespace, owner.podSecurity);
    // Nothing can be created in a terminating namespace; its deletion triggers the next reconcile.
    if (namespace === undefined || !isDeleting(namespace))
      await bindConsumer(client, remote, known, caches.roleBindings);
    return { phase: "Accepted" };
  } catch (error) {
    if (error instanceof NamespaceTaken) return { phase: "CreationLoopBackOff", error };
    const accepted = before?.phase === "Accepted" && before.remoteNamespace === remote;
    return { phase: accepted ? "Accepted" : "CreationLoopBackOff", error };
  }
}

/** Deletes a namespace of the map, unless another entry has it. @returns true when nothing is left to wait for */
async function withdraw(
  remote: string,
  mappings: MapMappings,
  owner: Owner,
  { client }: OffloadingContext,
  caches: Caches,
): Promise<boolean> {
  const namespace = caches.namespaces.get(remote) ?? (await client.get(Namespace, { name: remote }));
  if (namespace === undefined || ownerOf(namespace) !== owner.map) return true;
  if (isSettled(remote, mappings, originalNameOf(namespace))) return true;
  if (!isDeleting(namespace))
    return !(await client.delete(Namespace, { name: remote }, { uid: namespace.metadata.uid ?? "" }));
  return false;
}

function isEmpty(mapping: object): boolean {
  return Object.keys(mapping).length === 0;
}
