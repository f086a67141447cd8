import { type ClientHttp2Session, connect, constants } from "node:http2";
import type { Socket } from "node:net";

import { ConnectionError } from "./dial";
import type { Exchange, ResponseHandler, WireRequest } from "./wire-request";

const SETTINGS_DEADLINE_MS = 10_000;
/** kube-apiserver allows 100; assumed until its settings arrive. */
const ASSUMED_STREAMS = 100;
const STREAM_WINDOW = 1 << 20;
const SESSION_WINDOW = 16 << 20;

/**
 * One HTTP/2 connection with many watches on it.
 *
 * While requests are open and nothing is heard, it sends pings; a connection that does not answer one is destroyed, and with it
 * every watch on it fails at once. That is how a half-open socket is noticed.
 */
export class Http2Session {
  /** Requests under way. */
  private active = 0;
  private readonly session: ClientHttp2Session;
  private readonly pinging: NodeJS.Timeout;
  private heard = true;
  private leaving = false;
  private lost: Error | undefined;

  constructor(
    private readonly authority: string,
    socket: Socket,
    private readonly origin: URL,
    private readonly heartbeatMs: number,
    private readonly on: { onClose: () => void; onSilence: () => void },
  ) {
    this.session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      maxSessionMemory: 200,
    });
    socket.once("error", (error: Error) => (this.lost ??= error));
    this.session.once("connect", () => this.session.setLocalWindowSize(SESSION_WINDOW));
    this.session.on("goaway", () => (this.leaving = true));
    this.session.on("error", (error: Error) => (this.lost ??= error));
    // The server's settings are the first thing it sends.
    const settling = setTimeout(
      () => this.destroy(new Error(`it sent no HTTP/2 settings in ${SETTINGS_DEADLINE_MS / 1000} s`)),
      SETTINGS_DEADLINE_MS,
    );
    this.session.once("remoteSettings", () => clearTimeout(settling));
    this.pinging = setInterval(() => this.ping(), heartbeatMs);
    this.session.once("close", () => {
      clearInterval(this.pinging);
      clearTimeout(settling);
      this.leaving = true;
      this.on.onClose();
    });
  }

  /** Whether it takes one more request now. */
  get hasRoom(): boolean {
    return !this.isLeaving && this.active < this.limit;
  }

  /** On its way out: told so by the server, drained or lost. */
  get isLeaving(): boolean {
    return this.leaving || this.session.closed || this.session.destroyed;
  }

  private get limit(): number {
    const announced = this.session.remoteSettings.maxConcurrentStreams;
    return announced === undefined || announced > 1_000 ? ASSUMED_STREAMS : announced;
  }

  /** Takes no new requests; resolves when those under way have come to their end. */
  drain(): Promise<void> {
    this.leaving = true;
    if (this.session.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      this.session.once("close", () => resolve());
      if (!this.session.closed) this.session.close();
    });
  }

  destroy(reason?: Error): void {
    this.lost ??= reason ?? new Error("it was closed");
    this.session.destroy(this.lost, constants.NGHTTP2_CANCEL);
  }

  start(request: WireRequest, handler: ResponseHandler): Exchange {
    const prefix = this.origin.pathname.replace(/\/$/, "");
    let stream;
    try {
      stream = this.session.request(
        {
          ":method": request.method,
          ":path": `${prefix}${request.path}`,
          ":authority": this.authority,
          ...request.headers,
        },
        { endStream: request.body === undefined },
      );
    } catch (error) {
      throw new ConnectionError(`the connection to ${this.authority} is closing`, true, { cause: error });
    }
    this.active += 1;
    let answered = false;
    let complete = false;
    let cancelled = false;
    let failure: Error | undefined;
    stream.once("response", (headers) => {
      this.heard = true;
      answered = true;
      if (!cancelled) handler.onHead(headers[":status"] ?? 0, headers);
      // Only now: where the connection is a stream of ours, data would be told before the head that came with it.
      stream.on("data", (chunk: Buffer) => {
        this.heard = true;
        if (!cancelled) handler.onData(chunk);
      });
    });
    stream.on("end", () => {
      // An aborted stream ends too, and so does one whose session was destroyed.
      complete =
        answered &&
        this.lost === undefined &&
        !stream.aborted &&
        stream.rstCode === constants.NGHTTP2_NO_ERROR;
    });
    stream.on("error", (error: Error) => (failure = error));
    stream.once("close", () => {
      this.active -= 1;
      if (cancelled) return;
      if (complete && failure === undefined) handler.onEnd();
      else handler.onError(this.failureOf(stream.rstCode, failure));
    });
    if (request.body !== undefined) stream.end(request.body);
    return {
      cancel: () => {
        cancelled = true;
        stream.close(constants.NGHTTP2_CANCEL);
      },
      pause: () => stream.pause(),
      resume: () => stream.resume(),
    };
  }

  private failureOf(code: number | undefined, failure: Error | undefined): ConnectionError {
    const refused = code === constants.NGHTTP2_REFUSED_STREAM;
    const cause = this.lost ?? failure;
    const reason = refused
      ? "it refused the request"
      : (cause?.message ?? "it was closed in the middle of an answer");
    return new ConnectionError(`connection to ${this.authority}: ${reason}`, refused, { cause });
  }

  private ping(): void {
    if (this.heard || this.active === 0) {
      this.heard = false;
      return;
    }
    const giveUp = setTimeout(() => {
      this.on.onSilence();
      this.destroy(new Error(`no answer to a ping in ${this.heartbeatMs / 1000} s`));
    }, this.heartbeatMs);
    const sent = this.session.ping(() => {
      clearTimeout(giveUp);
      this.heard = true;
    });
    if (!sent) clearTimeout(giveUp);
  }
}
