import { createHash } from "node:crypto";

import { ConditionReason, isOn, Label, LabelValue } from "../api/keys";
import type { Namespace } from "../api/kubernetes";
import type { KubeObject } from "../api/meta";
import type { NamespaceMap, NamespaceOffloading } from "../api/offloading";

/** How namespaces and objects say which peer they belong to, and what a cluster may believe of that. */

type Labels = Readonly<Record<string, string>>;

/** Whether a namespace with these labels is a tenant namespace (control plane reference 3.2). */
export function isTenantNamespace(labels: Labels): boolean {
  return isOn(labels[Label.tenantNamespace]);
}

/**
 * The peer that a namespace with these labels is dedicated to; undefined where it is no tenant namespace, or has no label for its peer. An empty
 * label is the name of nobody: no object is of that peer.
 */
export function tenantOf(labels: Labels): string | undefined {
  return isTenantNamespace(labels) ? labels[Label.remoteClusterID] : undefined;
}

/** The peer that an object's label names, as keys of an index or a queue: none where it names nobody. */
export function peersOf({ metadata }: KubeObject): string[] {
  const peer = metadata.labels?.[Label.remoteClusterID];
  return peer ? [peer] : [];
}

/**
 * Whether what is in a namespace may say anything of a peer. Not in the tenant namespace of another one, nor in a namespace that was made for a
 * consumer: whoever may write there is a stranger to that peer. A namespace that names no peer is this cluster's own.
 *
 * @param namespace with its labels; undefined where it names no peer
 */
export function maySpeakOf(namespace: Namespace | undefined, clusterId: string): boolean {
  const labels = namespace?.metadata.labels ?? {};
  const peer = labels[Label.remoteClusterID];
  if (peer === undefined) return true;
  return isTenantNamespace(labels) && peer === clusterId;
}

/**
 * Selects all copies that come from a cluster. Labels distinguish replicated objects from their copies, and peers that run upstream Liqo set and read
 * the same ones (control plane reference 11.3).
 */
export function copySelector(localClusterId: string): string {
  return `${Label.replicationOrigin}=${localClusterId},${Label.replicated}=${LabelValue.true}`;
}

/** Whether an object asks to be copied to a peer. */
export function isSource(object: KubeObject, remoteClusterId?: string): boolean {
  const labels = object.metadata.labels ?? {};
  const destination = labels[Label.replicationDestination];
  return (
    labels[Label.replication] === LabelValue.true &&
    destination !== undefined &&
    (remoteClusterId === undefined || destination === remoteClusterId)
  );
}

/** Whether an object is a copy that a peer made here. */
export function isCopy(object: KubeObject): boolean {
  const labels = object.metadata.labels ?? {};
  return labels[Label.replicated] === LabelValue.true && labels[Label.replicationOrigin] !== undefined;
}

const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * A user's name as the value of the label `liqo.io/creator-user`: whatever a label can't hold becomes a dash. A name that is too long for a
 * label, or begins or ends as none may, keeps its first characters and gets a hash of the whole, so that two users never share one label
 * by being cut.
 *
 * @returns undefined for an empty name
 * @see offloading reference 16.4, vector in 23
 */
export function creatorUserLabel(username: string): string | undefined {
  if (username === "") return undefined;
  const escaped = username.replace(/[^\w\-.]/g, "-");
  if (LABEL_VALUE.test(escaped)) return escaped;
  const hash = createHash("sha256").update(username).digest("hex").slice(0, 12);
  return `${escaped.replace(/^[^A-Za-z0-9]+/, "").slice(0, 50)}-${hash}`.replace(/^-/, "");
}

/**
 * The names at a provider that this cluster asks for one of its namespaces; none where it does not ask.
 *
 * What a provider may write (the status of a map), and what it may write where it is a consumer here as well (the map as a whole), asks for
 * nothing: a NamespaceOffloading in the namespace itself must stand behind it. Its conditions say which clusters it selects. While they do not
 * mention the cluster yet, its entry in the map counts. Where they do, the name that was worked out counts beside the entry: an edit of the map
 * by hand is put back a moment later.
 *
 * @param offloading of the namespace; undefined where it has none
 * @see offloading reference 4.1 and 4.2: the consumer decides the name
 */
export function askedNames(
  map: NamespaceMap,
  namespace: string,
  offloading: NamespaceOffloading | undefined,
): string[] {
  if (offloading === undefined || offloading.metadata.deletionTimestamp) return [];
  const { remoteNamespacesConditions, remoteNamespaceName } = offloading.status ?? {};
  const conditions = ownEntry(remoteNamespacesConditions, map.metadata.name) ?? [];
  const required = conditions.find(({ type }) => type === "OffloadingRequired")?.status;
  const gaveWay = conditions.some(
    ({ type, reason }) => type === "Ready" && reason === ConditionReason.remoteNamespaceTaken,
  );
  if (required === "False" || gaveWay) return [];
  const mapped = ownEntry(map.spec.desiredMapping, namespace);
  const workedOut = required === "True" ? remoteNamespaceName : undefined;
  return [...new Set([mapped, workedOut])].flatMap((name) => (name ? [name] : []));
}

/** The entry of a map that peers may write to: `constructor` is a name for a namespace, and no entry by itself. */
export function ownEntry<V>(entries: Readonly<Record<string, V>> | undefined, key: string): V | undefined {
  return entries !== undefined && Object.hasOwn(entries, key) ? entries[key] : undefined;
}
