import type { PodSpec, Volume } from "kubernetes-types/core/v1";

import { Annotation } from "../../api/keys";
import { type Pod, type Secret, ServiceAccount, TokenRequest } from "../../api/kubernetes";
import { type Clock, isForbidden, type KubeClient } from "../../kube";
import { boundTo, isTokenSecret, tokenKey } from "../peer/token-secret";
import { isReflected, type ReflectionPair } from "../reflection/reflected-metadata";

/**
 * Which API server an offloaded pod talks to (offloading reference 11.4):
 * - `TokenAPI`: the consumer's, with tokens that the virtual kubelet requests and renews;
 * - `Remote`: the provider's, as a service account there;
 * - `Disabled`: none.
 *
 * Upstream has a fourth mode for API servers without the token API; every supported Kubernetes version has it.
 */
export type ApiServerMode = "TokenAPI" | "Remote" | "Disabled";

/** The mode of one pod: its annotation decides before the node's offer. */
export function apiServerMode(
  annotations: Record<string, string> | undefined,
  isOffered: boolean,
): ApiServerMode {
  switch (annotations?.[Annotation.apiServerSupport]) {
    case "remote":
      return "Remote";
    case "disabled":
      return "Disabled";
    default:
      return isOffered ? "TokenAPI" : "Disabled";
  }
}

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

/**
 * The tokens of the consumer that a pod mounts at the provider; none where it does not talk to the consumer's API server.
 *
 * @param isOffered whether pods of the node get at the consumer's API server
 */
export function wantedTokens({ metadata, spec }: Pod, isOffered: boolean): TokenSource[] {
  return apiServerMode(metadata.annotations, isOffered) === "TokenAPI" ? tokenSources(spec) : [];
}

/**
 * Whether a token Secret of ours still holds the tokens of an earlier pod of the same name. A pod that started now would mount those, and see its own about
 * a minute later.
 *
 * @param isOffered whether pods of the node get at the consumer's API server
 */
export function holdsEarlierTokens(
  secret: Secret | undefined,
  pod: Pod,
  isOffered: boolean,
  pair: ReflectionPair,
): boolean {
  if (secret === undefined || !isTokenSecret(secret) || !isReflected(secret, pair)) return false;
  return boundTo(secret).podUid !== pod.metadata.uid && wantedTokens(pod, isOffered).length > 0;
}

/** This cluster does not allow us to create tokens in a namespace. */
export class TokenWithheld extends Error {
  override readonly name = "TokenWithheld";
}

/** A token of a pod's service account. */
export interface IssuedToken {
  /** Of its source. */
  key: string;
  value: string;
  granted: GrantedToken;
}

/**
 * Requests a token that is bound to its pod.
 *
 * @throws TokenWithheld where we have no right to; its cause is the answer
 */
export async function requestToken(
  client: KubeClient,
  clock: Clock,
  local: Pod,
  { key, audiences, expirationSeconds }: TokenSource,
): Promise<IssuedToken> {
  const { name, namespace, uid } = local.metadata;
  const account = accountOf(local);
  const { apiVersion, kind } = TokenRequest;
  const requestedAt = clock.now();
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name, uid };
  const answer = client.createSubresource(
    ServiceAccount,
    { name: account, namespace },
    "token",
    { apiVersion, kind, spec: { audiences, expirationSeconds, boundObjectRef } },
    (body) => TokenRequest.parse(body),
  );
  const { status } = await answer.catch((cause: unknown) => {
    throw isForbidden(cause) ? new TokenWithheld(cause.message, { cause }) : cause;
  });
  if (status?.token === undefined) throw new Error(`ServiceAccount "${account}": the answer holds no token`);
  const expiresAt = Date.parse(status.expirationTimestamp);
  return {
    key,
    value: status.token,
    granted: { expiresAt, lifetimeMs: Math.max(0, expiresAt - requestedAt) },
  };
}

/** The service account that a pod runs as. */
export function accountOf({ spec }: Pod): string {
  return spec.serviceAccountName || "default";
}

const REFRESH_FRACTION = 0.2;

/** A token as it was granted. */
export interface GrantedToken {
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** From the request to the expiry, in milliseconds. Undefined: not known, such as after a restart. */
  lifetimeMs?: number;
}

/**
 * When a token is to be renewed: a fifth of its lifetime before it expires (offloading reference 10.8). An API server may grant less than what was
 * requested, or more. The shorter of both lifetimes counts.
 *
 * @param requestedSeconds requested lifetime
 * @returns milliseconds since the epoch
 */
export function refreshTime(
  { expiresAt, lifetimeMs = Infinity }: GrantedToken,
  requestedSeconds: number,
): number {
  return expiresAt - REFRESH_FRACTION * Math.min(requestedSeconds * 1000, lifetimeMs);
}
