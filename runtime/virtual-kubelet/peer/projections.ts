import type { ShadowPod } from "../../api";
import { Annotation, Label } from "../../api/keys";
import type { Pod, Secret } from "../../api/kubernetes";
import type { ObjectMeta } from "../../api/meta";
import { isTokenSecret } from "./token-secret";

/** What the caches keep of objects. Memory grows with every pod, so they keep only the fields that are read. */

/** A remote pod: who it is, and its status. */
export function projectRemotePod(pod: Pod): Pod {
  const { apiVersion, kind, metadata, status } = pod;
  const { labels = {}, annotations = {} } = metadata;
  const source = annotations[Annotation.reflectionSource];
  const projected: Pod = {
    apiVersion,
    kind,
    metadata: {
      ...identity(metadata),
      labels: pick(labels, [Label.reflectionOrigin, Label.reflectionDestination, Label.reflectionNodeName]),
      ...(source === undefined ? {} : { annotations: { [Annotation.reflectionSource]: source } }),
    },
    spec: { containers: [] },
  };
  if (labels[Label.reflectionOrigin] !== undefined) projected.status = status;
  return projected;
}

/** A ShadowPod: its metadata, which are compared, and its phase. The spec never changes. */
export function projectShadowPod(shadow: ShadowPod): ShadowPod {
  const { apiVersion, kind, metadata, status } = shadow;
  const { labels, annotations } = metadata;
  return { apiVersion, kind, metadata: { ...identity(metadata), labels, annotations }, spec: {}, status };
}

/**
 * A local pod. Until it is taken over, its whole spec is needed to create the remote pod; after that only the tokens that it mounts, which are renewed,
 * and its readiness gates.
 */
export function projectLocalPod(pod: Pod): Pod {
  const { apiVersion, kind, metadata, spec, status } = pod;
  const { labels, annotations } = metadata;
  const slim = { ...identity(metadata), labels, annotations };
  if (labels?.[Label.shadowPod] !== "true") return { apiVersion, kind, metadata: slim, spec, status };
  const { nodeName, readinessGates, serviceAccountName, volumes = [] } = spec;
  const mounted = volumes.filter(({ projected }) =>
    projected?.sources?.some((source) => source.serviceAccountToken !== undefined),
  );
  return {
    apiVersion,
    kind,
    metadata: slim,
    spec: {
      containers: [],
      nodeName,
      ...(readinessGates && { readinessGates }),
      serviceAccountName,
      volumes: mounted,
    },
    status,
  };
}

/** Whether a cached local pod still has its whole spec. */
export function isWhole(pod: Pod): boolean {
  return pod.spec.containers.length > 0;
}

/** A remote Secret. The tokens in it are known by their keys alone. */
export function projectSecret(secret: Secret): Secret {
  const { apiVersion, kind, metadata, data, type, immutable } = secret;
  const { labels, annotations } = metadata;
  const kept = isTokenSecret(secret)
    ? Object.fromEntries(Object.keys(data ?? {}).map((key) => [key, ""]))
    : data;
  return {
    apiVersion,
    kind,
    metadata: { ...identity(metadata), labels, annotations },
    data: kept,
    type,
    immutable,
  };
}

function identity(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(deletionTimestamp == null ? {} : { deletionTimestamp }),
  };
}

function pick(map: Record<string, string>, keys: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const key of keys) {
    const value = map[key];
    if (value !== undefined) picked[key] = value;
  }
  return picked;
}
