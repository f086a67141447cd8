/** The API server of a stranger: HTTP/2 for watches and HTTP/1.1 for all else, as a real one, and it answers what a test says. */
import { once } from "node:events";
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest } from "node:http2";
import type { Http2ServerResponse } from "node:http2";
import type { AddressInfo, Socket } from "node:net";

import { CertificateAuthority } from "../../provider/local-cluster/certificate-authority";
import { type AnswerLimits, KubeClient, PEER_LIMITS } from "../../runtime/kube";

export type HostileAnswer = (url: URL, response: Http2ServerResponse, request: Http2ServerRequest) => void;

export class HostileApiServer {
  /** Path and query of each request. */
  readonly requests: string[] = [];
  answer: HostileAnswer = (_url, response) => void response.end("{}");
  private readonly sockets = new Set<Socket>();
  private readonly clients: KubeClient[] = [];

  private constructor(
    private readonly server: Http2SecureServer,
    private readonly authority: CertificateAuthority,
  ) {}

  static async start(): Promise<HostileApiServer> {
    const authority = await CertificateAuthority.create("milan-ca");
    const issued = await authority.issue({ commonName: "milan", addresses: ["127.0.0.1"] });
    const server = createSecureServer({ cert: issued.certificate, key: issued.privateKey, allowHTTP1: true });
    const started = new HostileApiServer(server, authority);
    server.on("connection", (socket: Socket) => {
      started.sockets.add(socket);
      socket.once("close", () => started.sockets.delete(socket));
    });
    server.on("session", (session) => session.on("error", () => undefined));
    server.on("request", (request, response) => {
      response.on("error", () => undefined);
      request.on("error", () => undefined);
      started.requests.push(request.url);
      started.answer(new URL(request.url, "https://milan"), response, request);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return started;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** @param port of a proxy on the way */
  kubeconfig(port = this.port): string {
    const certificate = Buffer.from(this.authority.pem.certificate).toString("base64");
    const server = { server: `https://127.0.0.1:${port}`, "certificate-authority-data": certificate };
    return JSON.stringify({
      "current-context": "milan",
      clusters: [{ name: "milan", cluster: server }],
      contexts: [{ name: "milan", context: { cluster: "milan" } }],
    });
  }

  /** A client as the runtime makes it for a peer; some limits may be lower, so that a test reaches them sooner. */
  client(limits: Partial<AnswerLimits> = {}): KubeClient {
    const client = KubeClient.fromKubeconfig(this.kubeconfig(), { limits: { ...PEER_LIMITS, ...limits } });
    this.clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.clients) client.close();
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }
}

/** Writes what `next` makes until the other side has had enough. Returns how many bytes that were. */
export async function flood(response: Http2ServerResponse, next: () => string | Buffer): Promise<number> {
  let bytes = 0;
  let open = true;
  const closed = new Promise<void>((resolve) =>
    response.once("close", () => {
      open = false;
      resolve();
    }),
  );
  const isOpen = () => open && !response.destroyed;
  while (isOpen()) {
    const part = next();
    bytes += part.length;
    const more = response.write(part);
    if (more) await new Promise((resolve) => setImmediate(resolve));
    else await Promise.race([closed, new Promise<void>((resolve) => response.once("drain", resolve))]);
  }
  return bytes;
}

/** The most that the memory of this process grew while `work` went on. */
export async function growthOf(work: () => Promise<void>): Promise<number> {
  const begin = process.memoryUsage.rss();
  let most = begin;
  const looking = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  try {
    await work();
  } finally {
    clearInterval(looking);
  }
  return most - begin;
}
