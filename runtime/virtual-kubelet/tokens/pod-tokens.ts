import type { Pod, Secret } from "../../api/kubernetes";
import { apiServerMode } from "../pods/api-server-support";
import { isReflected, type ReflectionPair } from "../reflection/reflected-metadata";
import { boundTo, isTokenSecret } from "./token-secret";
import { tokenSources } from "./token-source";

/**
 * Whether a token Secret of ours still holds the tokens of an earlier pod of the name: a pod that started now would mount them, and see its own a
 * minute later.
 *
 * @param isOffered whether pods of the node get at the consumer's API server
 */
export function holdsEarlierTokens(
  secret: Secret | undefined,
  { metadata, spec }: Pod,
  isOffered: boolean,
  pair: ReflectionPair,
): boolean {
  if (secret === undefined || !isTokenSecret(secret) || !isReflected(secret, pair)) return false;
  if (boundTo(secret).podUid === metadata.uid) return false;
  return apiServerMode(metadata.annotations, isOffered) === "TokenAPI" && tokenSources(spec).length > 0;
}
