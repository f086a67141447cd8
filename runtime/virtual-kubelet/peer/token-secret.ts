import { createHash } from "node:crypto";

import { Annotation, Label } from "../../api/keys";
import type { Secret } from "../../api/kubernetes";
import { reflectionLabels, type ReflectionPair } from "../reflection/reflected-metadata";

/** Longest value that a label may have. */
const MAX_LABEL_VALUE = 63;

/** Whether a Secret holds tokens of an offloaded pod; it is then none of the reflected Secrets (offloading reference 10.8). */
export function isTokenSecret({ metadata }: Pick<Secret, "metadata">): boolean {
  const keys = { ...metadata.labels, ...metadata.annotations };
  return Annotation.serviceAccountForPodName in keys && Label.serviceAccountName in keys;
}

/** The pod that the tokens in a Secret are bound to, and when the first of them expires, in milliseconds since the epoch. */
export function boundTo({ metadata }: Pick<Secret, "metadata">): {
  podName: string | undefined;
  podUid: string | undefined;
  expiresAt: number;
} {
  const annotations = metadata.annotations ?? {};
  return {
    podName: annotations[Annotation.serviceAccountForPodName],
    podUid: annotations[Annotation.serviceAccountForPodUID],
    expiresAt: Date.parse(annotations[Annotation.serviceAccountExpiration] ?? "") || 0,
  };
}

interface TokenOwner {
  podName: string;
  podUid: string;
  serviceAccount: string;
  nodeName: string;
  /** Of the first token to expire, in milliseconds since the epoch. */
  expiresAt: number;
}

/** Labels and annotations of a token Secret. */
export function tokenSecretMetadata(
  owner: TokenOwner,
  pair: ReflectionPair,
): { labels: Record<string, string>; annotations: Record<string, string> } {
  const account = { [Label.serviceAccountName]: owner.serviceAccount };
  const fits = owner.serviceAccount.length <= MAX_LABEL_VALUE;
  return {
    labels: {
      ...reflectionLabels(pair),
      [Label.reflectionNodeName]: owner.nodeName,
      ...(fits ? account : {}),
    },
    annotations: {
      [Annotation.serviceAccountForPodName]: owner.podName,
      [Annotation.serviceAccountForPodUID]: owner.podUid,
      [Annotation.serviceAccountExpiration]: new Date(owner.expiresAt).toISOString().replace(/\.\d+Z$/, "Z"),
      ...(fits ? {} : account),
    },
  };
}

/** Key of a projected token in the token Secret (offloading reference 10.8). */
export function tokenKey(volumeName: string, path: string): string {
  return `${volumeName}-${createHash("sha256").update(path).digest("hex").slice(0, 6)}`;
}

const MAX_NAME = 253;

/** Name of the Secret that holds a pod's tokens; a name that would be too long is cut and made unique by a hash. */
export function tokenSecretName(podName: string): string {
  const name = `${podName}-token`;
  if (name.length <= MAX_NAME) return name;
  const hash = createHash("sha256").update(podName).digest("hex").slice(0, 8);
  return `${podName.slice(0, MAX_NAME - hash.length - "--token".length)}-${hash}-token`;
}

/** The pod whose tokens a Secret of this name would hold; undefined where none can tell by the name. */
export function podOfTokenSecret(name: string): string | undefined {
  const pod = /^(.+)-token$/.exec(name)?.[1];
  return pod !== undefined && tokenSecretName(pod) === name ? pod : undefined;
}
