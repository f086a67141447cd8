import type { Pod, Secret } from "../../api/kubernetes";
import { apiServerMode } from "../pods/api-server-support";
import { isReflected, type ReflectionPair } from "../reflection/reflected-metadata";
import { boundTo, isTokenSecret } from "./token-secret";
import { type TokenSource, tokenSources } from "./token-source";

/**
 * The tokens of the consumer that a pod mounts at the provider; none where it does not talk to the consumer's API server.
 *
 * @param isOffered whether pods of the node get at the consumer's API server
 */
export function wantedTokens({ metadata, spec }: Pod, isOffered: boolean): TokenSource[] {
  return apiServerMode(metadata.annotations, isOffered) === "TokenAPI" ? tokenSources(spec) : [];
}

/**
 * Whether a token Secret of ours still holds the tokens of an earlier pod of the name: a pod that started now would mount them, and see its own a
 * minute later.
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
