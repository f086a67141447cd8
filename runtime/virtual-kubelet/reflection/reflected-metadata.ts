import { z } from "zod";

import { Annotation, Label, Name } from "../../api/keys";

/** The two clusters that an object is reflected between. */
export interface ReflectionPair {
  /** Consumer. */
  origin: string;
  /** Provider. */
  destination: string;
}

/** Keys that stay at home (`labelsNotReflected` and `annotationsNotReflected` of the offloading patch). */
export interface NotReflected {
  labels: readonly string[];
  annotations: readonly string[];
}

interface Labelled {
  metadata: { labels?: Record<string, string> };
}

/** The labels that mark an object as reflected from one cluster to the other. */
export function reflectionLabels({ origin, destination }: ReflectionPair): Record<string, string> {
  return { [Label.reflectionOrigin]: origin, [Label.reflectionDestination]: destination };
}

/** The same as a selector, for watches. */
export function reflectionSelector({ origin, destination }: ReflectionPair): string {
  return `${Label.reflectionOrigin}=${origin},${Label.reflectionDestination}=${destination}`;
}

/** Whether an object was reflected from this consumer to this provider; others of the same name are left alone. */
export function isReflected(
  { metadata: { labels } }: Labelled,
  { origin, destination }: ReflectionPair,
): boolean {
  return labels?.[Label.reflectionOrigin] === origin && labels[Label.reflectionDestination] === destination;
}

/** A map without the keys that stay at home. */
export function without(
  map: Record<string, string> | undefined,
  keys: readonly string[],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(map ?? {})) if (!keys.includes(key)) kept[key] = value;
  return kept;
}

/**
 * Where a reflected object came from: the UID of the local one, and which keys of its metadata are reflected. It shows which labels are stale and which
 * the provider set, and whether a pod was made for the present local pod or an earlier one of its name.
 */
export interface SourceRecord {
  uid: string;
  labels: string[];
  annotations: string[];
}

const schema = z.object({ uid: z.string(), labels: z.array(z.string()), annotations: z.array(z.string()) });

interface Annotated {
  metadata: { annotations?: Record<string, string> };
}

/** Reads the record; undefined when there is none (made by upstream Liqo) or it is not readable. */
export function sourceRecordOf({ metadata }: Annotated): SourceRecord | undefined {
  const text = metadata.annotations?.[Annotation.reflectionSource];
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // edited by hand: the next write replaces it
  }
}

export interface RemoteMetadata {
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** The metadata with the record of it among its annotations. The same metadata always give the same record. */
export function withSourceRecord(uid: string, metadata: RemoteMetadata): RemoteMetadata {
  const record: SourceRecord = {
    uid,
    labels: Object.keys(metadata.labels).sort(),
    annotations: Object.keys(metadata.annotations).sort(),
  };
  return {
    labels: metadata.labels,
    annotations: { ...metadata.annotations, [Annotation.reflectionSource]: JSON.stringify(record) },
  };
}

/** Labels and annotations to change, null for those to remove: the `metadata` of a merge patch. */
export interface MetadataPatch {
  labels?: Record<string, string | null>;
  annotations?: Record<string, string | null>;
}

interface ExistingMetadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/**
 * What to change so that the remote metadata hold what is desired and nothing that came from the source earlier. Keys that somebody at the
 * provider added are left alone. Undefined when nothing differs.
 */
export function metadataPatch(
  existing: ExistingMetadata,
  desired: RemoteMetadata,
): MetadataPatch | undefined {
  const record = sourceRecordOf({ metadata: existing });
  const labels = changedKeys(existing.labels, desired.labels, record?.labels);
  const { [Annotation.reflectionSource]: newRecord, ...desiredAnnotations } = desired.annotations;
  const annotations = changedKeys(existing.annotations, desiredAnnotations, record?.annotations);
  if (labels === undefined && annotations === undefined) return undefined;
  return {
    ...(labels === undefined ? {} : { labels }),
    annotations: {
      ...annotations,
      ...(newRecord === undefined ? {} : { [Annotation.reflectionSource]: newRecord }),
    },
  };
}

function changedKeys(
  existing: Record<string, string> | undefined,
  desired: Record<string, string>,
  reflectedBefore: readonly string[] | undefined,
): Record<string, string | null> | undefined {
  const changes: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(desired)) if (existing?.[key] !== value) changes[key] = value;
  for (const key of reflectedBefore ?? []) {
    if (existing?.[key] !== undefined && desired[key] === undefined) changes[key] = null;
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/**
 * Name that the consumer's root CA ConfigMap has at the provider, where the plain name holds the provider's own CA
 * (offloading reference 10.3): the plain name with the first five characters of the consumer's ID, made to end in an alphanumeric.
 */
export function remoteRootCaName(consumerId: string): string {
  const suffix = consumerId.slice(0, 5);
  return `${Name.kubeRootCA}.${suffix}${/[a-z0-9]$/i.test(suffix) ? "" : "a"}`;
}

/** The object without its undefined fields; in place. */
export function defined<T extends object>(object: T): T {
  for (const key of Object.keys(object) as (keyof T)[]) if (object[key] === undefined) delete object[key];
  return object;
}
