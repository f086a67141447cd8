import { Agent, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { ConnectionError } from "./dial";
import type { Exchange, Lane, ResponseHandler, WireRequest } from "./exchange";

/** Keeps connections that the dialer opened, TLS included. */
class DialingAgent extends Agent {
  constructor(
    private readonly dial: () => Promise<Socket>,
    maxSockets: number,
  ) {
    super({ keepAlive: true, maxSockets, timeout: 60_000 });
  }

  override createConnection(
    _options: unknown,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.dial().then(
      (socket) => callback?.(null, socket),
      // Node calls back with the error alone; its type asks for a stream too.
      (error: Error) => (callback as ((error: Error) => void) | undefined)?.(error),
    );
  }
}

/** HTTP/1.1, for API servers and proxies that do not offer HTTP/2. A long-lived request has a connection to itself. */
export class Http1Lane implements Lane {
  private readonly shortLived: DialingAgent;
  private readonly longLived: DialingAgent;
  private active = 0;
  private draining = false;
  private onIdle: () => void = () => undefined;

  constructor(
    private readonly server: URL,
    dial: () => Promise<Socket>,
    maxConnections: number,
  ) {
    this.shortLived = new DialingAgent(dial, maxConnections);
    this.longLived = new DialingAgent(dial, Infinity);
  }

  /** Closes what is idle now, and the rest as it becomes idle; resolves when nothing is under way. */
  async drain(): Promise<void> {
    this.draining = true;
    if (this.active > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    this.destroy();
  }

  destroy(): void {
    this.shortLived.destroy();
    this.longLived.destroy();
  }

  start(request: WireRequest, handler: ResponseHandler): Exchange {
    let cancelled = false;
    let finished = false;
    const fail = (error: Error) => {
      if (finished || cancelled) return;
      finished = true;
      handler.onError(
        error instanceof ConnectionError
          ? error
          : new ConnectionError(`connection to ${this.server.host}: ${error.message}`, false, {
              cause: error,
            }),
      );
    };
    const outgoing = httpRequest(
      {
        agent: request.longLived === true ? this.longLived : this.shortLived,
        method: request.method,
        host: this.server.hostname,
        path: `${this.server.pathname.replace(/\/$/, "")}${request.path}`,
        headers: {
          ...request.headers,
          host: this.server.host,
          ...(request.body === undefined ? {} : { "content-length": Buffer.byteLength(request.body) }),
        },
      },
      (response) => {
        if (cancelled) return;
        handler.onHead(response.statusCode ?? 0, response.headers);
        response.on("data", (chunk: Buffer) => {
          if (!cancelled) handler.onData(chunk);
        });
        response.once("error", fail);
        response.once("close", () => {
          if (!response.complete) return fail(new Error("it was closed in the middle of an answer"));
          if (finished || cancelled) return;
          finished = true;
          handler.onEnd();
        });
      },
    );
    this.active += 1;
    outgoing.once("close", () => {
      this.active -= 1;
      if (this.draining && this.active === 0) this.onIdle();
    });
    outgoing.on("error", fail);
    outgoing.end(request.body);
    return {
      cancel: () => {
        cancelled = true;
        outgoing.destroy();
      },
      pause: () => outgoing.socket?.pause(),
      resume: () => outgoing.socket?.resume(),
    };
  }
}
