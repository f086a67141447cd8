import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { isAbsolute, join, resolve } from "node:path";

import { parse as parseYaml } from "yaml";
import { z } from "zod";

import { describe } from "../../api/invalid-object";

/** A kubeconfig that cannot be used. The message names the source and the field; it never quotes a credential. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";

  constructor(
    readonly source: string,
    readonly field: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(field === "" ? `${source}: ${problem}` : `${source}: ${field}: ${problem}`, options);
  }
}

/** PEM text given inline, or the path of a file that is read again for each new connection. */
export type PemSource = { inline: string } | { file: string };

/** How the user of a kubeconfig proves who it is. A client certificate may stand beside any of them. */
export type UserCredentials =
  | { type: "none" }
  | { type: "token"; token: string }
  | { type: "token-file"; file: string }
  | { type: "basic"; username: string; password: string }
  /** An exec plugin or an OIDC provider; the kubeconfig text goes to the loader that can run them. */
  | {
      type: "plugin";
      plugin: "exec" | "oidc";
      name: string;
      kubeconfig: string;
      context: string;
      baseDirectory?: string;
    };

/** One cluster and one user: all that is needed to connect. */
export interface Connection {
  /** Names the kubeconfig in error texts. */
  source: string;
  /** Scheme, host, port and path prefix of the API server. */
  server: URL;
  certificateAuthority?: PemSource;
  /** Replaces the host of `server` in the check of the server's certificate. */
  tlsServerName?: string;
  insecureSkipTlsVerify: boolean;
  /** `http`, `https` or `socks5` proxy that connections go through. */
  proxy?: URL;
  clientCertificate?: { certificate: PemSource; key: PemSource };
  credentials: UserCredentials;
  /** The namespace of the context, where it names one. */
  namespace?: string;
}

export interface KubeconfigOptions {
  /** Names the kubeconfig in error texts, such as its path or `Secret "liqo-tenant-milan/…"`. Default: `kubeconfig`. */
  source?: string;
  /** What relative file names in it are relative to. Default: the working directory. */
  baseDirectory?: string;
  /** Default: its `current-context`. */
  context?: string;
  /**
   * Refuse what reaches beyond the text: plugins, which run programs, and files of this machine. For kubeconfigs that others wrote.
   * Default: false.
   */
  selfContained?: boolean;
}

const Cluster = z.object({
  server: z.string().min(1),
  "certificate-authority": z.string().min(1).optional(),
  "certificate-authority-data": z.string().min(1).optional(),
  "tls-server-name": z.string().min(1).optional(),
  "insecure-skip-tls-verify": z.boolean().optional(),
  "proxy-url": z.string().min(1).optional(),
});
const User = z.object({
  "client-certificate": z.string().min(1).optional(),
  "client-certificate-data": z.string().min(1).optional(),
  "client-key": z.string().min(1).optional(),
  "client-key-data": z.string().min(1).optional(),
  token: z.string().min(1).optional(),
  tokenFile: z.string().min(1).optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  exec: z.object({ command: z.string().min(1) }).optional(),
  "auth-provider": z.object({ name: z.string().min(1) }).optional(),
});
const Context = z.object({
  cluster: z.string().min(1),
  user: z.string().optional(),
  namespace: z.string().optional(),
});
const Kubeconfig = z.object({
  "current-context": z.string().optional(),
  clusters: z.array(z.object({ name: z.string(), cluster: z.unknown() })).nullish(),
  users: z.array(z.object({ name: z.string(), user: z.unknown() })).nullish(),
  contexts: z.array(z.object({ name: z.string(), context: z.unknown() })).nullish(),
});

/** Reads the chosen context of a kubeconfig (YAML or JSON). Throws {@link KubeconfigError}. */
export function parseKubeconfig(text: string, options: KubeconfigOptions = {}): Connection {
  const source = options.source ?? "kubeconfig";
  const fail = (field: string, problem: string): never => {
    throw new KubeconfigError(source, field, problem);
  };
  const read = <T>(schema: z.ZodType<T>, value: unknown, at: string): T => {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    const issue = result.error.issues[0];
    const field = [at, ...(issue?.path ?? []).map(String)].filter((part) => part !== "").join(".");
    return fail(field, issue?.message ?? "is not valid");
  };
  const file = (path: string) =>
    isAbsolute(path) ? path : resolve(options.baseDirectory ?? process.cwd(), path);
  const url = (value: string, at: string, schemes: readonly string[]): URL => {
    if (!URL.canParse(value)) return fail(at, `${describe(value)} is not a URL; write https://host:port`);
    const parsed = new URL(value);
    if (!schemes.includes(parsed.protocol)) {
      return fail(
        at,
        `scheme ${parsed.protocol.slice(0, -1)} is not one of ${schemes.map((scheme) => scheme.slice(0, -1)).join(", ")}`,
      );
    }
    return parsed;
  };
  const pem = (data: string | undefined, path: string | undefined, at: string): PemSource | undefined => {
    if (data !== undefined) {
      const inline = Buffer.from(data, "base64").toString("utf8");
      if (!inline.includes("-----BEGIN ")) fail(`${at}-data`, "is not PEM in base64");
      return { inline };
    }
    return path === undefined ? undefined : { file: file(path) };
  };

  const config = read(Kubeconfig, decode(text, source), "");
  const contextName = options.context ?? config["current-context"];
  if (contextName === undefined || contextName === "") {
    return fail("current-context", "is missing; name the context to use");
  }
  const contextEntry = config.contexts?.find((entry) => entry.name === contextName);
  if (contextEntry === undefined) {
    const known = (config.contexts ?? []).map((entry) => entry.name).join(", ");
    return fail(
      "contexts",
      `has no context ${describe(contextName)}; it has: ${known === "" ? "none" : known}`,
    );
  }
  const context = read(Context, contextEntry.context, `contexts[${contextName}].context`);

  const clusterAt = `clusters[${context.cluster}].cluster`;
  const clusterEntry = config.clusters?.find((entry) => entry.name === context.cluster);
  if (clusterEntry === undefined) {
    return fail(`contexts[${contextName}].context.cluster`, `clusters has no ${describe(context.cluster)}`);
  }
  const cluster = read(Cluster, clusterEntry.cluster, clusterAt);

  const userAt = `users[${context.user ?? ""}].user`;
  const userEntry = config.users?.find((entry) => entry.name === context.user);
  if (userEntry === undefined && context.user !== undefined && context.user !== "") {
    return fail(`contexts[${contextName}].context.user`, `users has no ${describe(context.user)}`);
  }
  const user = read(User, userEntry?.user ?? {}, userAt);

  const certificate = pem(
    user["client-certificate-data"],
    user["client-certificate"],
    `${userAt}.client-certificate`,
  );
  const key = pem(user["client-key-data"], user["client-key"], `${userAt}.client-key`);
  if (certificate !== undefined && key === undefined) {
    fail(`${userAt}.client-key-data`, "is missing, though a client certificate is given");
  }
  if (certificate === undefined && key !== undefined) {
    fail(`${userAt}.client-certificate-data`, "is missing, though a client key is given");
  }
  const connection: Connection = {
    source,
    server: url(cluster.server, `${clusterAt}.server`, ["https:", "http:"]),
    certificateAuthority: pem(
      cluster["certificate-authority-data"],
      cluster["certificate-authority"],
      `${clusterAt}.certificate-authority`,
    ),
    tlsServerName: cluster["tls-server-name"],
    insecureSkipTlsVerify: cluster["insecure-skip-tls-verify"] ?? false,
    proxy:
      cluster["proxy-url"] === undefined
        ? undefined
        : url(cluster["proxy-url"], `${clusterAt}.proxy-url`, ["http:", "https:", "socks5:"]),
    clientCertificate: certificate !== undefined && key !== undefined ? { certificate, key } : undefined,
    credentials: credentialsOf(user, userAt, {
      source,
      file,
      loader: { kubeconfig: text, context: contextName, baseDirectory: options.baseDirectory },
    }),
    namespace: context.namespace,
  };
  if (options.selfContained === true) refuseOutside(connection, userAt, clusterAt);
  return connection;
}

function refuseOutside(connection: Connection, userAt: string, clusterAt: string): void {
  const { source, certificateAuthority, clientCertificate, credentials } = connection;
  const refuse = (field: string, problem: string): never => {
    throw new KubeconfigError(source, field, `${problem}; write the credentials into the kubeconfig itself`);
  };
  if (credentials.type === "plugin")
    refuse(userAt, `${credentials.name} is not run for a kubeconfig from elsewhere`);
  if (credentials.type === "token-file") refuse(`${userAt}.tokenFile`, "is a file of this machine");
  for (const [field, pem] of [
    [`${clusterAt}.certificate-authority`, certificateAuthority],
    [`${userAt}.client-certificate`, clientCertificate?.certificate],
    [`${userAt}.client-key`, clientCertificate?.key],
  ] as const) {
    if (pem !== undefined && "file" in pem) refuse(field, "is a file of this machine");
  }
}

function credentialsOf(
  user: z.infer<typeof User>,
  at: string,
  context: {
    source: string;
    file: (path: string) => string;
    loader: { kubeconfig: string; context: string; baseDirectory?: string };
  },
): UserCredentials {
  if (user.exec !== undefined) {
    return {
      type: "plugin",
      plugin: "exec",
      name: `exec plugin ${describe(user.exec.command)}`,
      ...context.loader,
    };
  }
  const provider = user["auth-provider"]?.name;
  if (provider === "oidc")
    return { type: "plugin", plugin: "oidc", name: "OIDC provider", ...context.loader };
  if (provider !== undefined) {
    throw new KubeconfigError(
      context.source,
      `${at}.auth-provider.name`,
      `${describe(provider)} is not supported; use an exec plugin`,
    );
  }
  // As client-go does: the file, which may be replaced, stands before the inline token.
  if (user.tokenFile !== undefined) return { type: "token-file", file: context.file(user.tokenFile) };
  if (user.token !== undefined) return { type: "token", token: user.token };
  if (user.username !== undefined && user.username !== "") {
    return { type: "basic", username: user.username, password: user.password ?? "" };
  }
  return { type: "none" };
}

function decode(text: string, source: string): unknown {
  try {
    // Warnings would quote the text on the process's error stream.
    const value: unknown = text.trimStart().startsWith("{")
      ? JSON.parse(text)
      : parseYaml(text, { logLevel: "error" });
    return value;
  } catch {
    // No cause: parsers quote the text, and the text holds keys.
    throw new KubeconfigError(source, "", "is neither YAML nor JSON");
  }
}

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The connection that every pod is given: environment variables and the mounted service account. Throws outside a pod. */
export function inClusterConnection(
  environment: Record<string, string | undefined>,
  folder = SERVICE_ACCOUNT,
): Connection {
  const host = environment.KUBERNETES_SERVICE_HOST;
  const port = environment.KUBERNETES_SERVICE_PORT ?? "443";
  if (host === undefined || host === "") {
    throw new KubeconfigError(
      "in-cluster configuration",
      "KUBERNETES_SERVICE_HOST",
      "is not set; outside a pod, give a kubeconfig",
    );
  }
  return {
    source: "in-cluster configuration",
    server: new URL(`https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`),
    certificateAuthority: { file: join(folder, "ca.crt") },
    insecureSkipTlsVerify: false,
    credentials: { type: "token-file", file: join(folder, "token") },
    namespace: namespaceIn(folder),
  };
}

function namespaceIn(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, "namespace"), "utf8").trim();
  } catch {
    return undefined;
  }
}
