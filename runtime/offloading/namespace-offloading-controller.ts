import { isDeepStrictEqual } from "node:util";

import {
  EventReason,
  Finalizer,
  type KubeObject,
  Label,
  LabelValue,
  Name,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
} from "../api";
import {
  type Controller,
  exceptStatus,
  isDeleting,
  type Informer,
  isNotFound,
  runController,
  type Source,
  type SourceEvent,
  Terminal,
  watches,
  withFinalizer,
  withoutFinalizer,
} from "../kube";
import { labelsWithoutNode, type SelectableVirtualNode } from "./namespace-offloading-plan";
import type { OffloadingContext, OffloadingOptions } from "./context";
import {
  type CompetingOffloading,
  type MappingEdit,
  planMapping,
  planRemoval,
} from "./namespace-offloading-plan";

import { writeStatus } from "./namespace-offloading-status";
import { invalidNodeSelector } from "./node-selector";
import { remoteNamespaceName } from "./remote-namespace-name";
import { clusterOfSource, type ConsumerCaches, deathChanged } from "./consumer-caches";

const BY_REMOTE_NAME = "remoteName";

/**
 * Offloads namespaces: enters them into the maps of the selected clusters, lets the pod webhook know, and tells how far the remote
 * namespaces are.
 *
 * @see offloading reference 4.1 and 4.2
 */
export function namespaceOffloadingController(
  context: OffloadingContext,
  options: Pick<OffloadingOptions, "clusterID">,
  caches: ConsumerCaches,
): Controller {
  const everyOffloading = () =>
    caches.offloadings.list().map(({ metadata }) => keyIn(metadata.namespace ?? ""));
  caches.offloadings.addIndex(BY_REMOTE_NAME, (offloading) => {
    const name = remoteNameOf(offloading, options.clusterID);
    return name instanceof Error ? [] : [name];
  });
  const ofRemoteName = (name: string) =>
    caches.offloadings.byIndex(BY_REMOTE_NAME, name).map(({ metadata }) => keyIn(metadata.namespace ?? ""));
  return runController(
    {
      name: "namespaceoffloading",
      sources: [
        watches(caches.offloadings, {
          keys: (offloading) => {
            const name = remoteNameOf(offloading, options.clusterID);
            return [keyIn(namespaceOf(offloading)), ...(name instanceof Error ? [] : ofRemoteName(name))];
          },
          when: exceptStatus,
        }),
        watches(caches.virtualNodes, { keys: everyOffloading, when: exceptStatus }),
        watches(caches.nodes, { keys: everyOffloading, when: labelsChanged }),
        mappingChanges(caches.namespaceMaps, everyOffloading, ofRemoteName),
        watches(caches.foreignClusters, { keys: everyOffloading, when: deathChanged }),
        watches(caches.schedulingNamespaces, {
          keys: ({ metadata }) => [keyIn(metadata.name)],
          when: (event) => event.type !== "updated",
        }),
      ],
      objectOf: (key) => caches.offloadings.getByKey(key),
      reconcile: async (key) => {
        const offloading = caches.offloadings.getByKey(key);
        if (offloading !== undefined) await reconcile(offloading, { context, options, caches });
      },
    },
    context,
  );
}

interface Dependencies {
  context: OffloadingContext;
  options: Pick<OffloadingOptions, "clusterID">;
  caches: ConsumerCaches;
}

async function reconcile(offloading: NamespaceOffloading, dependencies: Dependencies): Promise<void> {
  const { context, caches } = dependencies;
  const maps = ownMaps(caches);
  if (isDeleting(offloading)) return await conclude(offloading, maps, dependencies);

  const current = await withFinalizer(
    context.client,
    NamespaceOffloading,
    offloading,
    Finalizer.namespaceOffloading,
  );
  const intent = intentOf(current, dependencies);
  const { edits, waiting, refused } =
    intent instanceof Terminal
      ? { edits: [], waiting: [], refused: new Map<string, string>() }
      : planMapping({
          namespace: namespaceOf(current),
          remoteName: intent.remoteName,
          createdAt: current.metadata.creationTimestamp ?? "",
          selector: current.spec.clusterSelector,
          virtualNodes: caches.virtualNodes.list().map((node) => selectable(node, caches)),
          maps,
          competing: competingOffloadings(current, intent.remoteName, caches),
        });
  const failures = await applyEdits(namespaceOf(current), edits, maps, context);
  if (!(intent instanceof Terminal)) {
    const wanted = current.spec.podOffloadingStrategy !== "Local";
    await setSchedulingLabel(namespaceOf(current), wanted, dependencies).catch((error: unknown) =>
      failures.push(error),
    );
  }
  const remoteName = intent instanceof Terminal ? undefined : intent.remoteName;
  const refusals = new Map(
    [...refused].map(([cluster, holder]) => [cluster, refusal(remoteName ?? "", cluster, holder)]),
  );
  await writeStatus(
    current,
    { maps, waiting: waiting.length, refusals, deleting: false, remoteName },
    context,
  );
  throwFailures(current, failures);
  if (intent instanceof Terminal) throw intent;
  if (refusals.size > 0) {
    const subject = `NamespaceOffloading "${keyIn(namespaceOf(current))}"`;
    throw new Terminal(EventReason.remoteNamespaceTaken, `${subject}: ${[...refusals.values()].join("; ")}`);
  }
}

function competingOffloadings(
  { metadata }: NamespaceOffloading,
  remoteName: string,
  caches: ConsumerCaches,
): CompetingOffloading[] {
  return caches.offloadings
    .byIndex(BY_REMOTE_NAME, remoteName)
    .filter((other) => other.metadata.namespace !== metadata.namespace)
    .map((other) => ({
      namespace: namespaceOf(other),
      createdAt: other.metadata.creationTimestamp ?? "",
      selector: other.spec.clusterSelector,
      deleting: isDeleting(other),
    }));
}

function refusal(remoteName: string, cluster: string, holder: string): string {
  return `the remote namespace "${remoteName}" at cluster "${cluster}" is that of namespace "${holder}", and no two may share one; delete this NamespaceOffloading and make it anew with the strategy SelectedName and another remoteNamespaceName, or un-offload "${holder}"`;
}

/** Takes the namespace back, and lets the object go when no remote namespace is left. */
async function conclude(
  offloading: NamespaceOffloading,
  maps: Map<string, NamespaceMap>,
  dependencies: Dependencies,
): Promise<void> {
  const { context, caches } = dependencies;
  const namespace = namespaceOf(offloading);
  const failures = await applyEdits(namespace, planRemoval(namespace, maps.values()), maps, context);
  await setSchedulingLabel(namespace, false, dependencies).catch((error: unknown) => failures.push(error));
  // What a dead peer still lists will never change.
  const reachable = new Map([...maps].filter(([cluster]) => !caches.isDead(cluster)));
  const left = await writeStatus(offloading, { maps: reachable, waiting: 0, deleting: true }, context);
  throwFailures(offloading, failures);
  if (Object.keys(left.status?.remoteNamespacesConditions ?? {}).length === 0)
    await withoutFinalizer(context.client, NamespaceOffloading, left, Finalizer.namespaceOffloading);
}

function intentOf(
  offloading: NamespaceOffloading,
  { options }: Dependencies,
): { remoteName: string } | Terminal {
  const fault = invalidNodeSelector(offloading.spec.clusterSelector);
  if (fault !== undefined)
    return new Terminal(EventReason.invalidClusterSelector, `Invalid ClusterSelector: ${fault}`);
  const remoteName = remoteNameOf(offloading, options.clusterID);
  return remoteName instanceof Error
    ? new Terminal(EventReason.invalidClusterSelector, remoteName.message, { cause: remoteName })
    : { remoteName };
}

function remoteNameOf(offloading: NamespaceOffloading, clusterID: string): string | Error {
  try {
    return remoteNamespaceName(namespaceOf(offloading), offloading.spec, clusterID);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error), { cause: error });
  }
}

function selectable({ metadata, spec }: ConsumerVirtualNode, caches: ConsumerCaches): SelectableVirtualNode {
  const clusterID = spec.clusterID ?? "";
  return {
    name: metadata.name,
    clusterID,
    labels:
      caches.nodes.get(metadata.name)?.metadata.labels ??
      labelsWithoutNode({
        clusterID,
        ...(spec.labels === undefined ? {} : { labels: spec.labels }),
        ...(spec.storageClasses === undefined ? {} : { storageClasses: spec.storageClasses }),
      }),
    deleting: typeof metadata.deletionTimestamp === "string",
  };
}

type ConsumerVirtualNode = ReturnType<ConsumerCaches["virtualNodes"]["list"]>[number];

/** Our maps by cluster; those on their way out are gone already. */
function ownMaps(caches: ConsumerCaches): Map<string, NamespaceMap> {
  const maps = new Map<string, NamespaceMap>();
  for (const map of caches.namespaceMaps.list()) {
    const cluster = clusterOfSource(map);
    if (cluster === undefined || isDeleting(map)) continue;
    if (caches.namespaceMapOf(cluster) === map) maps.set(cluster, map);
  }
  return maps;
}

/** Applies each edit by itself: one map that can't be written holds up no other. `maps` then says what stands there. */
async function applyEdits(
  namespace: string,
  edits: readonly MappingEdit[],
  maps: Map<string, NamespaceMap>,
  { client }: OffloadingContext,
): Promise<unknown[]> {
  const results = await Promise.allSettled(
    edits.map(async ({ map, remoteName, contested }) => {
      const body = {
        metadata: {
          uid: map.metadata.uid,
          ...(contested ? { resourceVersion: map.metadata.resourceVersion } : {}),
        },
        spec: { desiredMapping: { [namespace]: remoteName ?? null } },
      };
      const written = await client.patch(NamespaceMap, map.metadata, body, { type: "merge" });
      maps.set(clusterOfSource(written) ?? map.metadata.name, written);
    }),
  );
  return results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
}

async function setSchedulingLabel(
  namespace: string,
  wanted: boolean,
  { context, caches }: Dependencies,
): Promise<void> {
  const present = caches.schedulingNamespaces.get(namespace) !== undefined;
  if (present === wanted) return;
  const labels = { [Label.schedulingEnabled]: wanted ? LabelValue.true : null };
  try {
    await context.client.patch(Namespace, { name: namespace }, { metadata: { labels } }, { type: "merge" });
  } catch (error) {
    // The namespace goes, and the NamespaceOffloading with it.
    if (!isNotFound(error)) throw error;
  }
}

function throwFailures(offloading: NamespaceOffloading, failures: readonly unknown[]): void {
  if (failures.length === 0) return;
  const messages = failures.map((error) => (error instanceof Error ? error.message : String(error)));
  throw new AggregateError(
    failures,
    `NamespaceOffloading of namespace ${namespaceOf(offloading)}: ${messages.join("; ")}`,
  );
}

function namespaceOf({ metadata }: NamespaceOffloading): string {
  return metadata.namespace ?? "";
}

function labelsChanged<T extends KubeObject>(event: SourceEvent<T>): boolean {
  if (event.type !== "updated") return true;
  return !isDeepStrictEqual(event.before.metadata.labels, event.object.metadata.labels);
}

/** The namespaces whose entry in a map of ours changed, and those of the same remote name; all of them when a map comes or goes, since it may concern any. */
function mappingChanges(
  maps: Informer<NamespaceMap>,
  everyOffloading: () => string[],
  ofRemoteName: (remoteName: string) => string[],
): Source {
  return {
    whenSynced: () => maps.whenSynced(),
    start: (enqueue) => {
      const all = (map: NamespaceMap) => {
        if (clusterOfSource(map) !== undefined) everyOffloading().forEach(enqueue);
      };
      return maps.on({
        added: all,
        deleted: all,
        updated: (before, after) => {
          if (clusterOfSource(after) === undefined) return;
          if (isDeleting(before) !== isDeleting(after)) return all(after);
          for (const namespace of changedNamespaces(before, after)) {
            enqueue(keyIn(namespace));
            // Others may wait for the remote name.
            for (const name of remoteNames(namespace, before, after)) ofRemoteName(name).forEach(enqueue);
          }
        },
      });
    },
  };
}

function changedNamespaces(before: NamespaceMap, after: NamespaceMap): string[] {
  const entry = ({ spec, status }: NamespaceMap, namespace: string) =>
    JSON.stringify([spec.desiredMapping?.[namespace], status?.currentMapping?.[namespace]]);
  const names = [before, after].flatMap(({ spec, status }) => [
    ...Object.keys(spec.desiredMapping ?? {}),
    ...Object.keys(status?.currentMapping ?? {}),
  ]);
  return [...new Set(names)].filter((namespace) => entry(before, namespace) !== entry(after, namespace));
}

function remoteNames(namespace: string, ...maps: readonly NamespaceMap[]): Set<string> {
  const names = maps.flatMap(({ spec, status }) => [
    spec.desiredMapping?.[namespace],
    status?.currentMapping?.[namespace]?.remoteNamespace,
  ]);
  return new Set(names.filter((name) => name !== undefined));
}

/** Key of the NamespaceOffloading of a namespace. */
function keyIn(namespace: string): string {
  return `${namespace}/${Name.namespaceOffloading}`;
}
