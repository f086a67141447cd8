import { type Pod, ServiceAccount, TokenRequest } from "../../api/kubernetes";
import { type Clock, isForbidden, type KubeClient } from "../../kube";
import type { GrantedToken } from "./token-refresh";
import type { TokenSource } from "./token-source";

/** This cluster lets us make no tokens in a namespace. */
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
 * Has this cluster make a token that ends with its pod.
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
