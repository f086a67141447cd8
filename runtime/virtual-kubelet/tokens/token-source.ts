import { createHash } from "node:crypto";

import type { PodSpec, Volume } from "kubernetes-types/core/v1";

const DEFAULT_EXPIRATION_SECONDS = 3600;

/** A service account token that a pod mounts. */
export interface TokenSource {
  /** Key of the token in the pod's token Secret. */
  key: string;
  /** Intended readers of the token; the API server itself when empty. */
  audiences: string[];
  /** Requested lifetime. */
  expirationSeconds: number;
}

/** Key of a projected token in the token Secret (offloading reference 10.8). */
export function tokenKey(volumeName: string, path: string): string {
  return `${volumeName}-${createHash("sha256").update(path).digest("hex").slice(0, 6)}`;
}

const MAX_NAME = 253;

/** Name of the Secret that holds a pod's tokens; a name that would be too long is cut and told apart by a hash. */
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

/** The tokens that a pod mounts, in the order of its volumes. */
export function tokenSources(spec: Pick<PodSpec, "volumes">): TokenSource[] {
  return (spec.volumes ?? []).flatMap(sourcesOf);
}

function sourcesOf(volume: Volume): TokenSource[] {
  return (volume.projected?.sources ?? []).flatMap(({ serviceAccountToken: token }) =>
    token === undefined
      ? []
      : [
          {
            key: tokenKey(volume.name, token.path),
            audiences: token.audience ? [token.audience] : [],
            expirationSeconds: token.expirationSeconds ?? DEFAULT_EXPIRATION_SECONDS,
          },
        ],
  );
}
