import { parse, parseDocument, stringify } from "yaml";
import { z } from "zod";
import { DataKey } from "../api/keys";
import { eksToken } from "./aws-signature";

/** The parts of the kubeconfig that an Identity becomes (control plane reference 4.4). */
export interface IdentityKubeconfig {
  /** Names the cluster entry. */
  providerClusterId: string;
  /** Names the user entry. */
  identityName: string;
  /** URL of the provider's API server. */
  server: string;
  /** PEM; absent when the server's certificate is publicly trusted. */
  ca?: string | Uint8Array;
  /** HTTP proxy on the way to the API server. */
  proxyUrl?: string;
  /** Client certificate, PEM; absent for cloud identities, which prove themselves by tokens. */
  certificate?: string | Uint8Array;
  /** The consumer cluster's private key, PEM: all its identities share it. Goes with the certificate. */
  privateKey?: string;
  /** The context's namespace: the remote tenant namespace, for control-plane identities only. */
  namespace?: string;
}

const contextName = "default-context";

/** The kubeconfig of an Identity. The same parts always give the same text. */
export function buildKubeconfig(identity: IdentityKubeconfig): string {
  const ca = encode(identity.ca);
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: identity.providerClusterId,
        cluster: {
          server: identity.server,
          ...(ca === "" ? {} : { "certificate-authority-data": ca }),
          ...(identity.proxyUrl ? { "proxy-url": identity.proxyUrl } : {}),
        },
      },
    ],
    users: [
      {
        name: identity.identityName,
        user:
          identity.certificate === undefined
            ? {}
            : {
                "client-certificate-data": encode(identity.certificate),
                "client-key-data": encode(identity.privateKey),
              },
      },
    ],
    contexts: [
      {
        name: contextName,
        context: {
          cluster: identity.providerClusterId,
          user: identity.identityName,
          ...(identity.namespace ? { namespace: identity.namespace } : {}),
        },
      },
    ],
    "current-context": contextName,
    preferences: {},
  });
}

/** Base64 of a PEM text. Some peers send the CA padded with zero bytes, which are not part of it. */
function encode(pem: string | Uint8Array | undefined): string {
  const bytes = Buffer.from(pem ?? "");
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end).toString("base64");
}

const clusterSchema = z.object({
  server: z.string(),
  "certificate-authority-data": z.string().optional(),
  "insecure-skip-tls-verify": z.boolean().optional(),
  "proxy-url": z.string().optional(),
});
const userSchema = z.object({
  "client-certificate-data": z.string().optional(),
  "client-key-data": z.string().optional(),
  token: z.string().optional(),
});
const contextSchema = z.object({ cluster: z.string(), user: z.string(), namespace: z.string().optional() });

const kubeconfigSchema = z.object({
  "current-context": z.string().optional(),
  clusters: z.array(z.object({ name: z.string(), cluster: clusterSchema })).nullish(),
  users: z.array(z.object({ name: z.string(), user: userSchema })).nullish(),
  contexts: z.array(z.object({ name: z.string(), context: contextSchema })).nullish(),
});

/** One context of a kubeconfig with its cluster and the credentials that stand in the text itself. */
export interface KubeconfigContext {
  contextName: string;
  clusterName: string;
  userName: string;
  namespace?: string;
  server: string;
  /** PEM. */
  ca?: string;
  proxyUrl?: string;
  /** PEM. */
  certificate?: string;
  /** PEM. */
  privateKey?: string;
  token?: string;
}

/** A kubeconfig that cannot be used. The message never holds its contents. */
export class KubeconfigError extends Error {
  override name = "KubeconfigError";
}

/**
 * Reads one context of a kubeconfig. Plug-ins, files and OIDC are the business of the Kubernetes client; this is for texts that
 * are complete by themselves.
 *
 * @param contextName the context to read; the current one by default.
 * @throws KubeconfigError
 */
export function parseKubeconfig(text: string, contextName?: string): KubeconfigContext {
  let document: unknown;
  try {
    // Warnings would quote the text on the process's error stream.
    document = parse(text, { logLevel: "error" });
  } catch {
    // The cause is left out on purpose: it quotes the text, which holds keys.
    throw new KubeconfigError("kubeconfig is not valid YAML");
  }
  const parsed = kubeconfigSchema.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new KubeconfigError(
      `kubeconfig is malformed at ${issue?.path.join(".") || "its root"}: ${issue?.message ?? ""}`,
    );
  }
  const config = parsed.data;
  const wanted = contextName ?? config["current-context"];
  if (!wanted) throw new KubeconfigError("kubeconfig has no current-context; name the context to use");
  const context = config.contexts?.find(({ name }) => name === wanted)?.context;
  if (context === undefined) throw new KubeconfigError(`kubeconfig has no context "${wanted}"`);
  const cluster = config.clusters?.find(({ name }) => name === context.cluster)?.cluster;
  if (cluster === undefined) {
    throw new KubeconfigError(
      `context "${wanted}" of the kubeconfig names the cluster "${context.cluster}", which is not in it`,
    );
  }
  const user = config.users?.find(({ name }) => name === context.user)?.user;
  if (user === undefined) {
    throw new KubeconfigError(
      `context "${wanted}" of the kubeconfig names the user "${context.user}", which is not in it`,
    );
  }
  return withoutUndefined({
    contextName: wanted,
    clusterName: context.cluster,
    userName: context.user,
    namespace: context.namespace,
    server: cluster.server,
    ca: decode(cluster["certificate-authority-data"]),
    proxyUrl: cluster["proxy-url"],
    certificate: decode(user["client-certificate-data"]),
    privateKey: decode(user["client-key-data"]),
    token: user.token,
  });
}

function decode(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("utf8");
}

function withoutUndefined<T extends object>(value: T): T {
  for (const key of Object.keys(value) as (keyof T)[]) if (value[key] === undefined) delete value[key];
  return value;
}

/** The kubeconfig in an identity Secret, ready for use. */
export interface UsableKubeconfig {
  text: string;
  /** When to make it anew, because the token in it expires; undefined for certificates. */
  refreshAfterMs?: number;
}

const awsKeys = [
  DataKey.awsAccessKeyID,
  DataKey.awsSecretAccessKey,
  DataKey.awsRegion,
  DataKey.awsEksClusterID,
  DataKey.awsIamUserArn,
] as const;

/** EKS honours a token for 15 minutes. */
const tokenRefreshMs = 10 * 60_000;

/**
 * Reads the data of an identity Secret (control plane reference 4.4, 7.3): the kubeconfig as it stands there, or for an AWS identity with a
 * fresh token in it.
 *
 * @param data base64 by key, as in a Secret
 * @returns undefined where the Secret has no kubeconfig
 */
export function usableKubeconfig(
  data: Readonly<Record<string, string>> | undefined,
  now: Date,
): UsableKubeconfig | undefined {
  const read = (key: string) => Buffer.from(data?.[key] ?? "", "base64").toString("utf8");
  const text = read(DataKey.kubeconfig);
  if (text === "") return undefined;
  if (!awsKeys.every((key) => data?.[key])) return { text };
  const token = eksToken(
    read(DataKey.awsEksClusterID),
    read(DataKey.awsRegion),
    { accessKeyId: read(DataKey.awsAccessKeyID), secretAccessKey: read(DataKey.awsSecretAccessKey) },
    now,
  );
  const document = parseDocument(text);
  document.setIn(["users", 0, "user"], { token });
  // The token is one long word, which must not be folded.
  return { text: stringify(document.toJS(), { lineWidth: 0 }), refreshAfterMs: tokenRefreshMs };
}
