import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";

import { SubjectAccessReview, TokenReview } from "../../api/kubernetes";
import type { KubeClient } from "../../kube";

/** Who sent a request, as the API server would name them. */
interface ClientIdentity {
  user: string;
  groups: string[];
  uid?: string;
}

/** How long an answer of the API server about a token holds, in milliseconds; as long as a kubelet's. */
const TOKEN_CACHE_MS = 120_000;
const MAX_TOKENS = 1000;

/**
 * Finds out who sent a request: by a client certificate that the cluster's CA signed, as the API server has one, or by a token that the API
 * server knows, as metrics collectors send it. Other clients are unauthenticated.
 */
export class ClientAuthentication {
  private readonly tokens = new ExpiringCache<ClientIdentity | undefined>(MAX_TOKENS);

  constructor(private readonly client: KubeClient) {}

  /** @returns undefined when the client did not prove who it is */
  async identify(request: IncomingMessage): Promise<ClientIdentity | undefined> {
    return identityOfCertificate(request) ?? (await this.identityOfToken(request));
  }

  private async identityOfToken(request: IncomingMessage): Promise<ClientIdentity | undefined> {
    const token = /^Bearer ([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    // The key is a hash, so that the cache holds no tokens.
    const key = createHash("sha256").update(token).digest("base64");
    return await this.tokens.get(key, TOKEN_CACHE_MS, () => this.review(token));
  }

  private async review(token: string): Promise<ClientIdentity | undefined> {
    const { status } = await this.client.post(TokenReview, {
      apiVersion: TokenReview.apiVersion,
      kind: TokenReview.kind,
      spec: { token },
    });
    const user = status?.authenticated === true ? status.user : undefined;
    if (user?.username === undefined) return undefined;
    return { user: user.username, groups: user.groups ?? [], uid: user.uid };
  }
}

function identityOfCertificate({ socket }: IncomingMessage): ClientIdentity | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  // Node promises texts; an attribute that occurs several times is a list.
  const common: unknown = subject?.CN;
  if (typeof common !== "string" || common === "") return undefined;
  const organizations: unknown = subject.O;
  const groups = Array.isArray(organizations) ? organizations : [organizations];
  return { user: common, groups: groups.filter((group) => typeof group === "string") };
}

/** How long answers hold, in milliseconds; as long as a kubelet's. */
const ALLOWED_CACHE_MS = 300_000;
const DENIED_CACHE_MS = 30_000;
const MAX_ANSWERS = 5000;

/** The access to a node that a request needs. */
interface NodeAccess {
  verb: "get" | "create";
  /** Of the node: `proxy`, `stats` or `metrics`. */
  subresource: string;
  /** Empty: any node. */
  node: string;
}

/** Asks the API server who may do what with a node, as a kubelet does. */
export class ClientAuthorization {
  private readonly answers = new ExpiringCache<boolean>(MAX_ANSWERS);

  constructor(private readonly client: KubeClient) {}

  async isAllowed(identity: ClientIdentity, access: NodeAccess): Promise<boolean> {
    const key = JSON.stringify([
      identity.user,
      identity.groups,
      access.verb,
      access.subresource,
      access.node,
    ]);
    return await this.answers.get(
      key,
      (allowed) => (allowed ? ALLOWED_CACHE_MS : DENIED_CACHE_MS),
      () => this.review(identity, access),
    );
  }

  private async review(identity: ClientIdentity, { verb, subresource, node }: NodeAccess): Promise<boolean> {
    const { status } = await this.client.post(SubjectAccessReview, {
      apiVersion: SubjectAccessReview.apiVersion,
      kind: SubjectAccessReview.kind,
      spec: {
        user: identity.user,
        groups: identity.groups,
        uid: identity.uid,
        resourceAttributes: { verb, version: "v1", resource: "nodes", subresource, name: node },
      },
    });
    return status?.allowed === true;
  }
}

interface Entry<Value> {
  value: Promise<Value>;
  expiresAt: number;
}

/** Caches answers for a while. Concurrent callers share one request; failures are not cached. */
export class ExpiringCache<Value> {
  private readonly entries = new Map<string, Entry<Value>>();

  constructor(
    private readonly capacity: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  async get(
    key: string,
    lifetimeMs: number | ((value: Value) => number),
    ask: () => Promise<Value>,
  ): Promise<Value> {
    const known = this.entries.get(key);
    if (known !== undefined && known.expiresAt > this.now()) return await known.value;
    const entry: Entry<Value> = { value: ask(), expiresAt: Number.POSITIVE_INFINITY };
    this.keep(key, entry);
    try {
      const value = await entry.value;
      entry.expiresAt = this.now() + (typeof lifetimeMs === "number" ? lifetimeMs : lifetimeMs(value));
      return value;
    } catch (error) {
      if (this.entries.get(key) === entry) this.entries.delete(key);
      throw error;
    }
  }

  /** The oldest entry makes room. */
  private keep(key: string, entry: Entry<Value>): void {
    this.entries.delete(key);
    const [oldest] = this.entries.keys();
    if (oldest !== undefined && this.entries.size >= this.capacity) this.entries.delete(oldest);
    this.entries.set(key, entry);
  }
}
