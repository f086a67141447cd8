import type { OutgoingHttpHeaders } from "node:http";
import type { RequestOptions } from "node:https";

import type { KubeConfig } from "@kubernetes/client-node";

import { isRecord } from "../api/invalid-object";
import type { CertificatePair, Credentials } from "./credentials";
import { KubeconfigError, type UserCredentials } from "./kubeconfig";

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
export class PluginCredentials implements Credentials {
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
