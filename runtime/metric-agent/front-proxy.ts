import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { z } from "zod";

/** By what the aggregator of the API server is known, from the ConfigMap `kube-system/extension-apiserver-authentication`. */
export interface FrontProxy {
  /** PEM: who signs the aggregator's client certificate. */
  ca: string;
  /** Common names that it may have; none named: any. */
  allowedNames: readonly string[];
  userHeaders: readonly string[];
  groupHeaders: readonly string[];
}

export interface Caller {
  user: string;
  groups: readonly string[];
}

const names = z.preprocess(
  (text) => (typeof text === "string" ? (JSON.parse(text) as unknown) : []),
  z.array(z.string()),
);
const data = z.object({
  "requestheader-client-ca-file": z.string().min(1),
  "requestheader-allowed-names": names,
  "requestheader-username-headers": names,
  "requestheader-group-headers": names,
});

/** Reads the ConfigMap. @throws Error where it is not there, or not as Kubernetes writes it */
export function readFrontProxy(content: Readonly<Record<string, string>> | undefined): FrontProxy {
  const parsed = data.safeParse(content ?? {});
  if (!parsed.success) {
    throw new Error(
      "ConfigMap kube-system/extension-apiserver-authentication does not say who the aggregator is; this API server has no aggregation layer",
      { cause: parsed.error },
    );
  }
  const lower = (headers: string[], fallback: string) =>
    (headers.length > 0 ? headers : [fallback]).map((header) => header.toLowerCase());
  return {
    ca: parsed.data["requestheader-client-ca-file"],
    allowedNames: parsed.data["requestheader-allowed-names"],
    userHeaders: lower(parsed.data["requestheader-username-headers"], "x-remote-user"),
    groupHeaders: lower(parsed.data["requestheader-group-headers"], "x-remote-group"),
  };
}

/** On whose behalf the aggregator asks; undefined where it is not the aggregator that asks. */
export function callerOf(request: IncomingMessage, proxy: FrontProxy): Caller | undefined {
  const socket = request.socket as TLSSocket;
  if (!socket.authorized) return undefined;
  // Node promises a text; common names that are several come as a list, and are nobody's.
  const name: unknown = socket.getPeerCertificate().subject.CN;
  if (proxy.allowedNames.length > 0 && (typeof name !== "string" || !proxy.allowedNames.includes(name)))
    return undefined;
  const values = (headers: readonly string[]) =>
    headers.flatMap((header) => request.headersDistinct[header] ?? []).filter((value) => value !== "");
  const [user] = values(proxy.userHeaders);
  return user === undefined ? undefined : { user, groups: values(proxy.groupHeaders) };
}
