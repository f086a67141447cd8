import { constants } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

import type { KubeClient, Logger } from "../../kube";
import type { ClientAuthentication, ClientAuthorization } from "./client-auth";
import { type KubeletRoute, kubeletRoute, type PodRoute, remotePath, requiredAccess } from "./kubelet-route";
import { joinStreams } from "./join-streams";
import { Refusal } from "./refusal";
import { methodOf, refuseUpgrade, switchingHead, upgradeHeaders } from "./session-upgrade";

const HEADER_TIMEOUT_MS = 10_000;
/** API servers keep idle connections for 90 s; a connection that ends under a new request would fail it. */
const KEEP_ALIVE_MS = 120_000;
/** After so much silence the system asks whether the client is still there, in milliseconds. */
const SILENT_MS = 30_000;
/** A log that is followed may stay silent for as long as timers can wait. */
const FOLLOW_DEADLINE_MS = 2 ** 31 - 1;
/** Of an error of the provider, which goes into one line. */
const MAX_ERROR_BYTES = 4096;

/** Where a local pod runs. */
export interface PodLocation {
  /** Virtual node. */
  node: string;
  /** Client of the provider. */
  client: KubeClient;
  remoteNamespace: string;
}

/** What the endpoint knows about the virtual nodes behind it. */
export interface KubeletBackend {
  /** Undefined: no pod of these virtual nodes, or none that is offloaded at present. */
  locate(namespace: string, pod: string): PodLocation | undefined;
  /** Answers about the nodes themselves. */
  report(route: Extract<KubeletRoute, { about: "node" }>): Promise<{ contentType: string; body: string }>;
}

interface ServingTls {
  certificate: string;
  key: string;
  /** CA of the API server's client certificates, PEM; empty where there is none, so that only tokens count. */
  clientCa: string;
}

interface Parts {
  authentication: ClientAuthentication;
  authorization: ClientAuthorization;
  backend: KubeletBackend;
  log: Logger;
}

/**
 * The kubelet endpoint of all virtual nodes of this process: logs and sessions of pods, answered by the provider's API server (offloading
 * reference 8). Clients must prove who they are and be allowed to do what they ask.
 */
export class KubeletServer {
  private readonly server: Server;

  constructor(
    private readonly parts: Parts,
    tls: ServingTls,
  ) {
    this.server = createServer(contextOf(tls), (request, response) => void this.serve(request, response));
    this.server.headersTimeout = HEADER_TIMEOUT_MS;
    this.server.keepAliveTimeout = KEEP_ALIVE_MS;
    // A session may be silent for hours. Keep-alive detects a client that is gone.
    this.server.on("connection", (socket: Socket) => socket.setKeepAlive(true, SILENT_MS));
    this.server.on("upgrade", (request, socket, head) => void this.serveUpgrade(request, socket, head));
    this.server.on("tlsClientError", (_error, socket) => socket.destroy());
  }

  /** New connections get this certificate; those that exist go on. */
  replaceTls(tls: ServingTls): void {
    this.server.setSecureContext(contextOf(tls));
  }

  /** @returns the port, which differs from the one given when that is 0 */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, () => {
        this.server.off("error", reject);
        resolve();
      });
    });
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const route = await this.admit(request);
      if (route.about === "process") {
        response.setHeader("Content-Type", "text/plain").end("ok");
      } else if (route.about === "node") {
        const { contentType, body } = await this.parts.backend.report(route);
        response.setHeader("Content-Type", contentType).end(body);
      } else if (route.subresource === "log") {
        await this.serveLog(route, response);
      } else {
        throw new Refusal(400, `${route.subresource} needs a protocol upgrade; send the header Upgrade`);
      }
    } catch (error) {
      this.refuse(response, Refusal.from(error, "the virtual kubelet failed"));
    }
  }

  /** Errors of logs are plain text to the API server. */
  private refuse(response: ServerResponse, refusal: Refusal): void {
    if (refusal.code >= 500) this.parts.log.warn("kubelet request failed", { error: refusal });
    if (response.headersSent) response.destroy();
    else response.writeHead(refusal.code, { "Content-Type": "text/plain" }).end(refusal.message);
  }

  private async serveLog(route: PodRoute, response: ServerResponse): Promise<void> {
    const { client, remoteNamespace } = this.locate(route);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const path = remotePath(route, remoteNamespace);
    const deadlineMs = route.query.has("follow") ? FOLLOW_DEADLINE_MS : undefined;
    const answer = await client.stream({ path, signal: gone.signal, deadlineMs });
    // The client may go at any time; that is no error.
    answer.body.on("error", () => response.destroy());
    if (answer.status !== 200) {
      throw new Refusal(answer.status, messageOf(await readSome(answer.body)));
    }
    response.writeHead(200, { "Content-Type": "text/plain" });
    response.flushHeaders();
    answer.body.pipe(response);
  }

  private async serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const gone = new AbortController();
    socket.once("close", () => gone.abort());
    socket.on("error", () => gone.abort());
    try {
      const route = await this.admit(request);
      if (route.about !== "pod") throw new Refusal(400, "nothing to upgrade here");
      const { client, remoteNamespace } = this.locate(route);
      const upgraded = await client.upgrade({
        method: methodOf(request),
        path: remotePath(route, remoteNamespace),
        headers: upgradeHeaders(request),
        signal: gone.signal,
      });
      if (!upgraded.upgraded) {
        const { "content-type": type } = upgraded.headers;
        refuseUpgrade(socket, upgraded.status, String(type ?? "application/json"), upgraded.body);
        return;
      }
      socket.write(switchingHead(upgraded.headers));
      if (upgraded.head.length > 0) socket.write(upgraded.head);
      if (head.length > 0) upgraded.socket.write(head);
      await joinStreams(socket, upgraded.socket);
    } catch (error) {
      if (gone.signal.aborted) return;
      const refusal = Refusal.from(error, "the virtual kubelet failed");
      if (refusal.code >= 500) this.parts.log.warn("kubelet session failed", { error: refusal });
      refuseUpgrade(socket, refusal.code, "application/json", refusal.status());
    }
  }

  private locate({ namespace, pod }: PodRoute): PodLocation {
    const location = this.parts.backend.locate(namespace, pod);
    if (location === undefined) {
      throw new Refusal(
        404,
        `pod "${namespace}/${pod}" does not run on a virtual node of this virtual kubelet`,
      );
    }
    return location;
  }

  /** The route of a request whose sender is known and may take it. */
  private async admit(request: IncomingMessage): Promise<KubeletRoute> {
    const { authentication, authorization, backend } = this.parts;
    const route = kubeletRoute(request.url ?? "/");
    if (route === undefined) throw new Refusal(404, "404 page not found");
    const access = requiredAccess(route);
    if (access === undefined) return route;

    const identity = await authentication.identify(request);
    if (identity === undefined) throw new Refusal(401, "Unauthorized");
    const node = route.about === "pod" ? (backend.locate(route.namespace, route.pod)?.node ?? "") : "";
    if (!(await authorization.isAllowed(identity, { ...access, node }))) {
      const what = `${access.verb} nodes/${access.subresource} of "${node}"`;
      throw new Refusal(403, `user "${identity.user}" may not ${what}; bind a ClusterRole that allows it`);
    }
    return route;
  }
}

function contextOf({ certificate, key, clientCa }: ServingTls) {
  return {
    cert: certificate,
    key,
    // An empty list trusts nobody; an absent one would trust the public CAs.
    ca: clientCa === "" ? [] : clientCa,
    requestCert: true,
    // Tokens are accepted too, so the decision is made for each request.
    rejectUnauthorized: false,
    minVersion: "TLSv1.2" as const,
    // A resumed session would keep the verdict on a certificate whose CA has been replaced.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

async function readSome(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, MAX_ERROR_BYTES);
}

/** The sentence in a `Status`, or the text as it is. */
function messageOf(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && "message" in value) return String(value.message);
  } catch {
    // not JSON: the text speaks for itself
  }
  return body;
}
