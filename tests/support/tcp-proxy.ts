/** A proxy between a client and a server on the loopback address that can misbehave like a network. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

interface Pair {
  client: Socket;
  upstream: Socket;
}

export class TcpProxy {
  private readonly pairs = new Set<Pair>();
  private frozen = false;
  private refusing = false;

  private constructor(
    private readonly server: Server,
    private target: { host: string; port: number },
  ) {
    server.on("connection", (client) => this.accept(client));
  }

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, target);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.pairs.size;
  }

  /** Resets every connection, as a rebooted router does. Returns how many. */
  cut(): number {
    const cut = this.pairs.size;
    for (const { client, upstream } of this.pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
    this.pairs.clear();
    return cut;
  }

  /** Stops forwarding what is open, in both directions, without closing anything: half-open connections. New ones work. */
  freezeOpen(): void {
    for (const { client, upstream } of this.pairs) {
      client.pause();
      upstream.pause();
      client.unpipe(upstream);
      upstream.unpipe(client);
    }
  }

  /** Forwards nothing, on new connections either, until `thaw`. */
  freeze(): void {
    this.frozen = true;
    this.freezeOpen();
  }

  thaw(): void {
    this.frozen = false;
    for (const { client, upstream } of this.pairs) {
      client.pipe(upstream);
      upstream.pipe(client);
    }
  }

  /** Leads new connections elsewhere; those that are open stay where they are, as behind a Service. */
  retarget(target: { host: string; port: number }): void {
    this.target = target;
  }

  /** Refuses new connections until `allow`. */
  refuse(): void {
    this.refusing = true;
  }

  allow(): void {
    this.refusing = false;
  }

  async close(): Promise<void> {
    this.server.close();
    this.cut();
    await once(this.server, "close");
  }

  private accept(client: Socket): void {
    if (this.refusing) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(this.target);
    const pair = { client, upstream };
    this.pairs.add(pair);
    const end = () => {
      this.pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    if (this.frozen) return;
    client.pipe(upstream);
    upstream.pipe(client);
  }
}
