import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

import { type Credentials, credentialsFor } from "./credentials";
import { ConnectionError, dial } from "./dial";
import type { Exchange, Lane, ResponseHandler, WireRequest } from "./exchange";
import { Http1Lane } from "./http1-lane";
import { Http2Session } from "./http2-session";
import type { Connection } from "./kubeconfig";

const MAX_RESTARTS = 3;

export interface TransportOptions {
  /** For short requests; watches open more where they fill one. */
  maxConnections: number;
  heartbeatMs: number;
}

/** Carries requests to one API server over few connections: HTTP/2, or HTTP/1.1 where the server has nothing better. */
export class Transport {
  readonly credentials: Credentials;
  private readonly sessions = new Set<Http2Session>();
  private http1: Http1Lane | undefined;
  private opening: Promise<Lane> | undefined;
  private closed = false;

  constructor(
    readonly connection: Connection,
    private readonly options: TransportOptions,
  ) {
    this.credentials = credentialsFor(connection);
  }

  /** Sends a request. What the server certainly did not process is sent again on another connection. */
  send(request: WireRequest, handler: ResponseHandler): Exchange {
    let current: Exchange | undefined;
    let cancelled = false;
    let paused = false;
    const attempt = (restarts: number) => {
      const retrying: ResponseHandler = {
        onHead: (status, headers) => handler.onHead(status, headers),
        onData: (chunk) => handler.onData(chunk),
        onEnd: () => handler.onEnd(),
        onError: (error) => failed(error, restarts),
      };
      const start = (lane: Lane) => {
        if (cancelled) return;
        try {
          current = lane.start(request, retrying);
          if (paused) current.pause();
        } catch (error) {
          failed(asError(error), restarts);
        }
      };
      const lane = this.idleLane(request);
      if (lane !== undefined) return start(lane);
      this.onNewLane(request, start).catch((error: unknown) => {
        if (!cancelled) handler.onError(asError(error));
      });
    };
    const failed = (error: Error, restarts: number) => {
      if (cancelled) return;
      const again = error instanceof ConnectionError && error.unprocessed && restarts < MAX_RESTARTS;
      if (again && !this.closed) attempt(restarts + 1);
      else handler.onError(error);
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

  /** A connection of its own that speaks HTTP/1.1, for protocol upgrades. */
  dialHttp1(): Promise<Socket> {
    return dial(this.connection, this.credentials, ["http/1.1"]);
  }

  /** Takes no new requests; open watches and answers under way go on to their end, and with them it resolves. */
  async drain(): Promise<void> {
    this.closed = true;
    await this.opening?.catch(() => undefined);
    await Promise.all([...this.sessions].map((session) => session.drain()));
    await this.http1?.drain();
  }

  destroy(): void {
    this.closed = true;
    for (const session of this.sessions) session.destroy(new Error("the client was closed"));
    this.http1?.destroy();
  }

  private idleLane(request: WireRequest): Lane | undefined {
    if (this.http1 !== undefined) return this.http1;
    for (const session of this.sessions) if (session.hasRoomFor(request)) return session;
    return request.longLived === true ? undefined : this.fullLane();
  }

  /** When all connections are full and there may be no more, the emptiest one queues the request. */
  private fullLane(): Lane | undefined {
    const open = [...this.sessions].filter((session) => !session.isLeaving);
    if (open.length < this.options.maxConnections) return undefined;
    return open.reduce((least, session) => (session.active < least.active ? session : least));
  }

  /** Opens connections until one has room, and starts there before anybody else can take that room: many wait for the same one. */
  private async onNewLane(request: WireRequest, start: (lane: Lane) => void): Promise<void> {
    for (let lost = 0; lost < MAX_RESTARTS;) {
      const opened = await this.openLane();
      const lane = this.idleLane(request);
      if (lane !== undefined) return start(lane);
      if (opened instanceof Http2Session && opened.isLeaving) lost += 1;
    }
    throw new ConnectionError(
      `the connection to ${this.connection.server.host} is lost as soon as it is open`,
      true,
    );
  }

  private openLane(): Promise<Lane> {
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async open(): Promise<Lane> {
    const { server } = this.connection;
    if (this.closed) throw new ConnectionError(`the client of ${server.host} is closed`, true);
    if (server.protocol === "http:") return this.useHttp1();
    const socket = await dial(this.connection, this.credentials, ["h2", "http/1.1"]);
    if (socket.destroyed) throw new ConnectionError(`the connection to ${server.host} broke at once`, true);
    if (!(socket instanceof TLSSocket) || socket.alpnProtocol !== "h2") {
      socket.destroy();
      return this.useHttp1();
    }
    const session = new Http2Session(server.host, socket, server, this.options.heartbeatMs, (ended) =>
      this.sessions.delete(ended),
    );
    this.sessions.add(session);
    if (this.closed) void session.drain();
    return session;
  }

  private useHttp1(): Http1Lane {
    this.http1 ??= new Http1Lane(
      this.connection.server,
      () => this.dialHttp1(),
      this.options.maxConnections * 8,
    );
    return this.http1;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
