import type { Socket } from "node:net";

import { asError } from "./api-error";
import { Http1Connection } from "./http1-connection";
import type { Exchange, ResponseHandler, WireRequest } from "./wire-request";

/** Before the server's own limit (90 s for kube-apiserver), so that no request meets a connection that is being closed. */
const IDLE_MS = 60_000;

/** How long the pool waits before it dials again for requests that still wait. */
const REDIAL_MS = 200;

/** After so many failed attempts to connect in a row, the requests that wait fail, even if other connections are open. */
const FAILED_DIALS = 4;

interface Waiting {
  request: WireRequest;
  handler: ResponseHandler;
  started: (exchange: Exchange) => void;
  failed: (error: Error) => void;
  cancelled: boolean;
}

interface Http1PoolOptions {
  server: URL;
  dial: () => Promise<Socket>;
  /** Asked each time one more connection could help. */
  maxConnections: () => number;
}

/**
 * HTTP/1.1 connections for short requests, and one for each long-lived request where there is no HTTP/2.
 *
 * The connection used last is used first, so that the others become idle and close. Requests beyond the connections wait in their order.
 */
export class Http1Pool {
  private readonly idle: Http1Connection[] = [];
  private readonly open = new Set<Http1Connection>();
  private readonly waiting: Waiting[] = [];
  private dialing = 0;
  private failedDials = 0;
  private redial: NodeJS.Timeout | undefined;
  private draining = false;
  private onDrained: () => void = () => undefined;

  constructor(private readonly options: Http1PoolOptions) {}

  /**
   * Starts a request now or as soon as there is a connection.
   *
   * @param failed told where no connection could be had; the request was not sent then
   */
  start(request: WireRequest, handler: ResponseHandler, failed: (error: Error) => void): Exchange {
    let running: Exchange | undefined;
    let paused = false;
    const entry: Waiting = {
      request,
      handler,
      started: (exchange) => {
        running = exchange;
        if (paused) exchange.pause();
      },
      failed,
      cancelled: false,
    };
    const connection = this.takeIdle();
    if (connection !== undefined) this.run(connection, entry);
    else {
      this.waiting.push(entry);
      this.grow();
    }
    return {
      cancel: () => {
        entry.cancelled = true;
        // An answer that does not come may mean that the way to the server is dead: trust no idle connection.
        if (running !== undefined) this.closeIdle();
        running?.cancel();
      },
      pause: () => {
        paused = true;
        running?.pause();
      },
      resume: () => {
        paused = false;
        running?.resume();
      },
    };
  }

  /** Closes what is not in use. */
  closeIdle(): void {
    for (const connection of this.idle.splice(0)) connection.destroy();
  }

  /** Resolves when the requests under way have ended; new ones are not accepted any more by whoever owns the pool. */
  drain(): Promise<void> {
    this.draining = true;
    this.closeIdle();
    return new Promise((resolve) => {
      this.onDrained = resolve;
      this.noticeDrained();
    });
  }

  destroy(): void {
    this.draining = true;
    clearTimeout(this.redial);
    for (const connection of this.open) connection.destroy();
    this.failWaiting(new Error("the client was closed"));
  }

  private failWaiting(error: Error): void {
    for (const { failed, cancelled } of this.waiting.splice(0)) if (!cancelled) failed(error);
  }

  private takeIdle(): Http1Connection | undefined {
    for (let connection = this.idle.pop(); connection !== undefined; connection = this.idle.pop()) {
      if (connection.usable) return connection;
    }
    return undefined;
  }

  private run(connection: Http1Connection, { request, handler, started, failed }: Waiting): void {
    try {
      started(connection.start(request, handler));
    } catch (error) {
      this.freed(connection);
      failed(asError(error));
    }
  }

  private grow(): void {
    while (
      this.dialing < this.waiting.length &&
      this.open.size + this.dialing < this.options.maxConnections()
    ) {
      this.dialing += 1;
      this.options.dial().then(
        (socket) => {
          this.dialing -= 1;
          this.failedDials = 0;
          this.freed(this.connect(socket));
          // The first connection may have shown that the server is far away.
          this.grow();
        },
        (error: Error) => {
          this.dialing -= 1;
          this.afterFailedDial(error);
          this.noticeDrained();
        },
      );
    }
  }

  /** An open connection may be held by a watch for as long as it lasts, so the pool does not rely on it to become free. */
  private afterFailedDial(error: Error): void {
    if (this.dialing > 0) return;
    this.failedDials += 1;
    if (this.open.size === 0 || this.failedDials >= FAILED_DIALS) return this.failWaiting(error);
    if (this.redial !== undefined || this.waiting.length === 0) return;
    this.redial = setTimeout(() => {
      this.redial = undefined;
      this.grow();
    }, REDIAL_MS);
    this.redial.unref();
  }

  private connect(socket: Socket): Http1Connection {
    const connection = new Http1Connection(
      socket,
      this.options.server,
      (idle) => this.freed(idle),
      (closed) => {
        this.open.delete(closed);
        const at = this.idle.indexOf(closed);
        if (at >= 0) this.idle.splice(at, 1);
        this.grow();
        this.noticeDrained();
      },
    );
    this.open.add(connection);
    return connection;
  }

  /** Gives a connection to whoever waits longest. */
  private freed(connection: Http1Connection): void {
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      if (!next.cancelled) return this.run(connection, next);
    }
    if (this.draining) connection.destroy();
    else {
      connection.closeWhenIdleFor(IDLE_MS);
      this.idle.push(connection);
    }
    this.noticeDrained();
  }

  private noticeDrained(): void {
    if (this.draining && this.open.size === 0 && this.dialing === 0 && this.waiting.length === 0)
      this.onDrained();
  }
}
