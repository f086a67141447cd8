import { readFile } from "node:fs/promises";
import { statSync, readFileSync } from "node:fs";

import { type Connection, KubeconfigError, type PemSource } from "./kubeconfig";
import { PluginCredentials } from "./plugin-credentials";

export interface CertificatePair {
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
