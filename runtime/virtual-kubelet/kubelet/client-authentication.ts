import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";

import { TokenReview } from "../../api/kubernetes";
import type { KubeClient } from "../../kube";
import { ExpiringCache } from "./expiring-cache";

/** Who sent a request, as the API server would name them. */
export interface ClientIdentity {
  user: string;
  groups: string[];
  uid?: string;
}

/** How long an answer of the API server about a token holds, in milliseconds; as long as a kubelet's. */
const TOKEN_CACHE_MS = 120_000;
const MAX_TOKENS = 1000;

/**
 * Finds out who sent a request: by a client certificate that the cluster's CA signed, as the API server has one, or by a token that the API
 * server knows, as metrics collectors send it. Everybody else is nobody.
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
    // The cache must not become a store of tokens.
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
