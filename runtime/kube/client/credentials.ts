import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { OutgoingHttpHeaders } from "node:http";
import type { RequestOptions } from "node:https";

import type { KubeConfig } from "@kubernetes/client-node";

import { isRecord } from "../../api/invalid-object";
import { type Connection, KubeconfigError, type PemSource, type UserCredentials } from "./kubeconfig";

interface CertificatePair {
  certificate: string;
  key: string;
}

/** Proves who we are: a header on each request, a certificate on each new connection. */
export interface Credentials {
  /** The `Authorization` header, if there is one. Synchronous wherever no plugin must run. */
  authorization(): string | undefined | Promise<string | undefined>;
  /** The certificate for a new connection, read from its files again where it came from files. */
  clientCertificate(): Promise<CertificatePair | undefined>;
  /** After a 401: forget what was cached, so that the next call reads it afresh. */
  forget(): void;
}

export function credentialsFor(connection: Connection): Credentials {
  const { credentials } = connection;
  if (credentials.type === "plugin") return new PluginCredentials(connection.source, credentials);
  const header = headerSource(connection);
  return {
    authorization: () => header.value(),
    clientCertificate: async () => {
      const pair = connection.clientCertificate;
      if (pair === undefined) return undefined;
      const at = (field: string) => ({ source: connection.source, field });
      const [certificate, key] = await Promise.all([
        readPem(pair.certificate, at("client-certificate")),
        readPem(pair.key, at("client-key")),
      ]);
      return { certificate, key };
    },
    forget: () => header.forget(),
  };
}

interface HeaderSource {
  value(): string | undefined;
  forget(): void;
}

function headerSource({ source, credentials }: Connection): HeaderSource {
  switch (credentials.type) {
    case "token":
      return constant(`Bearer ${credentials.token}`);
    case "basic": {
      const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
      return constant(`Basic ${pair}`);
    }
    case "token-file":
      return new TokenFile(source, credentials.file);
    case "none":
    case "plugin":
      return constant(undefined);
  }
}

function constant(value: string | undefined): HeaderSource {
  return { value: () => value, forget: () => undefined };
}

/**
 * A bearer token in a file that someone else replaces, as the kubelet does with service-account tokens.
 * The file's time stamp is looked at every few seconds, its content read when that changed.
 */
class TokenFile implements HeaderSource {
  private header: string | undefined;
  private stamp = "";
  private nextLook = 0;

  constructor(
    private readonly source: string,
    private readonly file: string,
    private readonly lookEveryMs = 5_000,
  ) {}

  value(): string {
    const now = performance.now();
    if (this.header !== undefined && now < this.nextLook) return this.header;
    this.nextLook = now + this.lookEveryMs;
    try {
      const { ino, mtimeMs, size } = statSync(this.file);
      const stamp = `${ino} ${mtimeMs} ${size}`;
      if (this.header !== undefined && stamp === this.stamp) return this.header;
      const token = readFileSync(this.file, "utf8").trim();
      if (token === "") throw new Error("the file is empty");
      this.stamp = stamp;
      this.header = `Bearer ${token}`;
      return this.header;
    } catch (error) {
      // A file in the middle of its replacement: the token at hand is most likely still good.
      if (this.header !== undefined) return this.header;
      throw new KubeconfigError(this.source, "tokenFile", `cannot read ${this.file}`, { cause: error });
    }
  }

  forget(): void {
    this.nextLook = 0;
    this.stamp = "";
  }
}

/** Reads PEM text from where it is. Throws {@link KubeconfigError} naming the file and the field it stands in. */
export async function readPem(pem: PemSource, at: { source: string; field: string }): Promise<string> {
  if ("inline" in pem) return pem.inline;
  try {
    return await readFile(pem.file, "utf8");
  } catch (error) {
    throw new KubeconfigError(at.source, at.field, `cannot read ${pem.file}`, { cause: error });
  }
}

type Plugin = Extract<UserCredentials, { type: "plugin" }>;

interface Issued {
  header?: string;
  pair?: CertificatePair;
}

const ASK_EVERY_MS = 10_000;

/**
 * Credentials from an exec plugin or an OIDC provider, run by `@kubernetes/client-node`, which keeps them until they expire.
 *
 * That library is loaded on first use only: it costs 80 MB, and inside a cluster nobody needs it.
 */
class PluginCredentials implements Credentials {
  private loader: Promise<KubeConfig> | undefined;
  /** The last answer, so that the library need not be asked for each request. */
  private issued: Promise<Issued> | undefined;
  private issuedUntil = 0;
  /** One run of the plugin serves all requests that wait for it. */
  private running: Promise<Issued> | undefined;

  constructor(
    private readonly source: string,
    private readonly plugin: Plugin,
  ) {}

  async authorization(): Promise<string | undefined> {
    return (await this.issue()).header;
  }

  async clientCertificate(): Promise<CertificatePair | undefined> {
    return (await this.issue()).pair;
  }

  forget(): void {
    this.issued = undefined;
    // A plugin runs again; an OIDC session must go on from the refresh token that it has by now.
    if (this.plugin.plugin === "exec") this.loader = undefined;
  }

  private issue(): Promise<Issued> {
    if (this.issued !== undefined && performance.now() < this.issuedUntil) return this.issued;
    this.issuedUntil = performance.now() + ASK_EVERY_MS;
    this.issued = this.ask();
    return this.issued;
  }

  private ask(): Promise<Issued> {
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async run(): Promise<Issued> {
    try {
      this.loader ??= this.load();
      const headers: OutgoingHttpHeaders = {};
      const options: RequestOptions = { headers };
      await (await this.loader).applyToHTTPSOptions(options);
      const header = textOf(headers.Authorization);
      const certificate = textOf(options.cert);
      const key = textOf(options.key);
      if (header === undefined && certificate === undefined) {
        throw new KubeconfigError(
          this.source,
          "user",
          `${this.plugin.name} gave neither a token nor a certificate`,
        );
      }
      return {
        header,
        pair: certificate === undefined || key === undefined ? undefined : { certificate, key },
      };
    } catch (error) {
      this.forget();
      if (error instanceof KubeconfigError) throw error;
      throw new KubeconfigError(this.source, "user", `${this.plugin.name} failed: ${reasonOf(error)}`);
    }
  }

  private async load(): Promise<KubeConfig> {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    config.loadFromString(this.plugin.kubeconfig);
    config.setCurrentContext(this.plugin.context);
    if (this.plugin.baseDirectory !== undefined) config.makePathsAbsolute(this.plugin.baseDirectory);
    return config;
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Buffer.isBuffer(value) ? value.toString("utf8") : undefined;
}

/** What may be shown of a plugin's failure. What it printed on its output holds the token, so a parser's complaint is not shown. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return "its output is not JSON";
  if (isRecord(error) && typeof error.code === "string") return error.code;
  if (!(error instanceof Error)) return "no reason given";
  const line = error.message.trim().split("\n").at(-1) ?? "";
  return line.replace(/[A-Za-z0-9_\-.+/=]{40,}/g, "…").slice(0, 200);
}
