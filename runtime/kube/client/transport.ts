import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

import { asError } from "./api-error";
import { type Credentials, credentialsFor } from "./credentials";
import { CannotConnectError, ConnectionError, dial } from "./dial";
import { Http1Pool } from "./http1-pool";
import { Http2Session } from "./http2-session";
import type { Connection } from "./kubeconfig";
import type { Exchange, ResponseHandler, WireRequest } from "./wire-request";

interface TransportOptions {
  /** For short requests. Default: 16, and 64 where a round trip takes longer than 3 ms. */
  maxConnections?: number;
  heartbeatMs: number;
}

type Failed = (error: Error) => void;

const MAX_RESTARTS = 3;
const NEAR_MS = 3;
const NEAR_CONNECTIONS = 16;
const FAR_CONNECTIONS = 64;

/**
 * Carries requests to one API server.
 *
 * Short requests go over a few HTTP/1.1 connections: half the CPU of HTTP/2 in Node, and no garbage to speak of. Watches share HTTP/2 connections,
 * which hold a hundred of them in the memory of one; where the server does not offer HTTP/2, each has a connection of its own.
 */
export class Transport {
  readonly credentials: Credentials;
  private readonly short: Http1Pool;
  /** Only where there is no HTTP/2. */
  private readonly long: Http1Pool;
  private readonly sessions = new Set<Http2Session>();
  private opening: Promise<Http2Session | "no HTTP/2"> | undefined;
  private http2 = true;
  /** The shortest seen, since a busy process sees longer ones. */
  private roundTripMs: number | undefined;
  private closed = false;

  constructor(
    readonly connection: Connection,
    private readonly options: TransportOptions,
  ) {
    this.credentials = credentialsFor(connection);
    const { server } = connection;
    this.http2 = server.protocol === "https:";
    this.short = new Http1Pool({
      server,
      dial: () => this.dialHttp1(),
      maxConnections: () => this.maxConnections,
    });
    this.long = new Http1Pool({ server, dial: () => this.dialHttp1(), maxConnections: () => Infinity });
  }

  /** Sends a request. What the server certainly did not process is sent again on another connection. */
  send(request: WireRequest, handler: ResponseHandler): Exchange {
    let current: Exchange | undefined;
    let cancelled = false;
    let paused = false;
    const attempt = (restarts: number) => {
      const failed = (error: Error) => {
        if (cancelled) return;
        const again =
          error instanceof ConnectionError && error.unprocessed && !(error instanceof CannotConnectError);
        if (again && restarts < MAX_RESTARTS && !this.closed) attempt(restarts + 1);
        else handler.onError(error);
      };
      const retrying: ResponseHandler = {
        onHead: (status, headers) => handler.onHead(status, headers),
        onData: (chunk) => handler.onData(chunk),
        onEnd: () => handler.onEnd(),
        onError: failed,
      };
      this.start(request, retrying, failed, (exchange) => {
        current = exchange;
        if (cancelled) exchange.cancel();
        else if (paused) exchange.pause();
      });
    };
    attempt(0);
    return {
      cancel: () => {
        cancelled = true;
        current?.cancel();
      },
      pause: () => {
        paused = true;
        current?.pause();
      },
      resume: () => {
        paused = false;
        current?.resume();
      },
    };
  }

  /** A connection of its own that speaks HTTP/1.1, for the pools and for protocol upgrades. */
  async dialHttp1(): Promise<Socket> {
    return await dial(this.connection, this.credentials, {
      protocols: ["http/1.1"],
      onConnected: (ms) => (this.roundTripMs = Math.min(this.roundTripMs ?? ms, ms)),
    });
  }

  /** Takes no new requests; open watches and answers under way go on to their end, and with them it resolves. */
  async drain(): Promise<void> {
    this.closed = true;
    await this.opening?.catch(() => undefined);
    await Promise.all([...this.sessions].map((session) => session.drain()));
    await Promise.all([this.short.drain(), this.long.drain()]);
  }

  destroy(): void {
    this.closed = true;
    for (const session of this.sessions) session.destroy(new Error("the client was closed"));
    this.short.destroy();
    this.long.destroy();
  }

  private get maxConnections(): number {
    return (
      this.options.maxConnections ?? ((this.roundTripMs ?? 0) > NEAR_MS ? FAR_CONNECTIONS : NEAR_CONNECTIONS)
    );
  }

  private start(
    request: WireRequest,
    handler: ResponseHandler,
    failed: Failed,
    started: (exchange: Exchange) => void,
  ): void {
    if (this.closed) return failed(this.closedError());
    if (request.longLived !== true) return started(this.short.start(request, handler, failed));
    if (!this.http2) return started(this.long.start(request, handler, failed));
    const session = this.sessionWithRoom();
    if (session !== undefined) return this.startOn(session, request, handler, failed, started);
    this.openUntilRoom((opened) => {
      if (opened === "no HTTP/2") started(this.long.start(request, handler, failed));
      else this.startOn(opened, request, handler, failed, started);
    }).catch((error: unknown) => failed(asError(error)));
  }

  private startOn(
    session: Http2Session,
    request: WireRequest,
    handler: ResponseHandler,
    failed: Failed,
    started: (exchange: Exchange) => void,
  ): void {
    let exchange: Exchange;
    try {
      exchange = session.start(request, handler);
    } catch (error) {
      return failed(asError(error));
    }
    started(exchange);
  }

  private sessionWithRoom(): Http2Session | undefined {
    for (const session of this.sessions) if (session.hasRoom) return session;
    return undefined;
  }

  /** Opens sessions until one has room, and takes that room before anybody else can: many wait for the same one. */
  private async openUntilRoom(take: (session: Http2Session | "no HTTP/2") => void): Promise<void> {
    for (let lost = 0; lost < MAX_RESTARTS;) {
      const opened = await this.openSession();
      if (opened === "no HTTP/2") return take(opened);
      const session = this.sessionWithRoom();
      if (session !== undefined) return take(session);
      if (opened.isLeaving) lost += 1;
    }
    const { host } = this.connection.server;
    throw new CannotConnectError(`the connection to ${host} is lost as soon as it is open`);
  }

  private openSession(): Promise<Http2Session | "no HTTP/2"> {
    this.opening ??= this.dialSession().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async dialSession(): Promise<Http2Session | "no HTTP/2"> {
    const { server } = this.connection;
    if (this.closed) throw this.closedError();
    const socket = await dial(this.connection, this.credentials, { protocols: ["h2", "http/1.1"] });
    if (socket.destroyed) throw new CannotConnectError(`the connection to ${server.host} broke at once`);
    if (!(socket instanceof TLSSocket) || socket.alpnProtocol !== "h2") {
      socket.destroy();
      this.http2 = false;
      return "no HTTP/2";
    }
    const session = new Http2Session(server.host, socket, server, this.options.heartbeatMs, {
      onClose: () => this.sessions.delete(session),
      // The way to the server is dead: what is idle on it would swallow the next requests.
      onSilence: () => this.short.closeIdle(),
    });
    this.sessions.add(session);
    if (this.closed) void session.drain();
    return session;
  }

  private closedError(): CannotConnectError {
    return new CannotConnectError(`the client of ${this.connection.server.host} is closed`);
  }
}
