import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface ConnectProxyOptions {
  /** 0: any free port. */
  port: number;
  /** All addresses by default. */
  host?: string;
  /** `host:port` that every connection is led to, whatever is asked for; empty: what is asked for. */
  forceHost: string;
  /** Hosts, with or without a port, that may be asked for where none is forced; none named: all. */
  allowedHosts: readonly string[];
  /** How long a connection onwards may take to come about, in milliseconds. Default: 30,000. */
  dialTimeoutMs?: number;
  onRefusal?: (what: { target: string; status: number; error?: Error }) => void;
}

/**
 * An HTTP proxy that knows CONNECT and nothing else: peers reach this cluster's API server through it, at an address inside the tunnel. It sees
 * TLS only; who may do what is between the client and the API server.
 *
 * Unlike upstream it dials before it says that it did, answers 502 where it cannot, keeps what the client sent ahead, and closes what it
 * refuses (control plane reference 16.1 and quirk 13).
 */
export class ConnectProxy {
  private readonly tunnels = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly options: ConnectProxyOptions,
  ) {}

  /** Rejects when the port is taken. */
  static async start(options: ConnectProxyOptions): Promise<ConnectProxy> {
    // Whoever connects and says nothing is let go.
    const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 1 });
    const proxy = new ConnectProxy(server, options);
    server.on("request", (_request, response) => {
      response.writeHead(405, { allow: "CONNECT", connection: "close", "content-type": "text/plain" });
      response.end("this proxy takes CONNECT\n");
    });
    server.on("connect", (request, socket, ahead) => proxy.accept(request, socket as Socket, ahead));
    server.listen(options.port, options.host);
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Connections that lead somewhere. */
  get open(): number {
    return this.tunnels.size;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    this.server.closeAllConnections();
    for (const tunnel of this.tunnels) tunnel.destroy();
    await closed;
  }

  private accept(request: IncomingMessage, client: Socket, ahead: Buffer): void {
    const { forceHost, allowedHosts, dialTimeoutMs = 30_000 } = this.options;
    const asked = request.url ?? "";
    client.on("error", () => client.destroy());
    const target = targetOf(forceHost === "" ? asked : forceHost);
    if (target === undefined) return this.refuse(client, 400, asked);
    if (forceHost === "" && !isAllowed(target, allowedHosts)) return this.refuse(client, 403, asked);
    const upstream = connect(target);
    const timer = setTimeout(() => upstream.destroy(new DialTimeout(dialTimeoutMs)), dialTimeoutMs);
    const failed = (error: Error) => {
      clearTimeout(timer);
      this.refuse(client, error instanceof DialTimeout ? 504 : 502, asked, error);
    };
    const gone = () => {
      clearTimeout(timer);
      upstream.destroy();
    };
    client.once("close", gone);
    upstream.once("error", failed);
    upstream.once("connect", () => {
      clearTimeout(timer);
      upstream.off("error", failed);
      client.off("close", gone);
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (ahead.length > 0) upstream.write(ahead);
      this.join(client, upstream);
    });
  }

  /** Passes bytes both ways until either side ends: then what is left passes, and both are closed. */
  private join(client: Socket, upstream: Socket): void {
    this.tunnels.add(client);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true);
      // A peer that is gone without a word is found out.
      from.setKeepAlive(true, 30_000);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.tunnels.delete(client);
        to.destroySoon();
      });
    }
  }

  private refuse(client: Socket, status: number, target: string, error?: Error): void {
    this.options.onRefusal?.({ target, status, ...(error === undefined ? {} : { error }) });
    if (client.destroyed) return;
    client.end(
      `HTTP/1.1 ${status} ${WORDS[status] ?? "Refused"}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
    client.resume();
  }
}

const WORDS: Record<number, string> = {
  400: "Bad Request",
  403: "Forbidden",
  502: "Bad Gateway",
  504: "Gateway Timeout",
};

class DialTimeout extends Error {
  constructor(ms: number) {
    super(`no connection within ${ms} ms`);
  }
}

interface Target {
  host: string;
  port: number;
}

/** Reads `host:port`, the host of IPv6 in brackets. */
export function targetOf(text: string): Target | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s/@]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, six, name, digits] = match;
  const port = Number(digits);
  return port < 1 || port > 65_535 ? undefined : { host: six ?? name ?? "", port };
}

function isAllowed({ host, port }: Target, allowed: readonly string[]): boolean {
  return allowed.length === 0 || allowed.includes(host) || allowed.includes(`${host}:${port}`);
}
