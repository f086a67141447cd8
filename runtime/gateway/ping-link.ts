import { createSocket, type Socket } from "node:dgram";

import { type Clock, type Logger, sleep } from "../kube";
import { every } from "../networking/agent/pass";
import type { Reachability } from "../networking/connection-status";
import { decodeMessage, encodeMessage, type PingOptions, PingSession, pongTo } from "./ping-session";

interface PingLinkOptions extends PingOptions {
  port: number;
  /** Own end of the tunnel. */
  address: string;
  peerAddress: string;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** Called after each answer, and from time to time. */
  onObserved: () => void;
}

const BIND_AGAIN_MS = 1_000;

/**
 * Pings the peer through the tunnel and answers its pings (networking reference 10.4). The socket has the tunnel's address, and hears
 * nobody but the peer: other pods cannot speak for it.
 */
export class PingLink {
  private session: PingSession;
  private socket: Socket | undefined;
  private active = false;
  /** Of the present session. */
  private ending = new AbortController();
  /** Whether each of the last pings was answered, the newest last. */
  private readonly outcomes: boolean[] = [];
  private heardAt: number | undefined;
  private silentSince: number;

  constructor(private readonly options: PingLinkOptions) {
    this.session = new PingSession(options, options.clock);
    this.silentSince = options.clock.monotonic();
  }

  get reachability(): Reachability {
    return this.session.reachability;
  }

  /** Milliseconds since the peer was heard, or since pinging began. */
  get silenceMs(): number {
    return this.options.clock.monotonic() - (this.heardAt ?? this.silentSince);
  }

  /** When the peer was last heard, wall clock in milliseconds; undefined if never. */
  get lastHeard(): number | undefined {
    return this.heardAt === undefined ? undefined : this.options.clock.now() - this.silenceMs;
  }

  /** Share of the last pings, at most a hundred, without an answer. */
  get loss(): number {
    if (this.outcomes.length === 0) return 0;
    return this.outcomes.filter((answered) => !answered).length / this.outcomes.length;
  }

  /** Begins to ping; answers begin with the first call of it, too. */
  activate(): void {
    if (this.active) return;
    this.active = true;
    this.ending = new AbortController();
    this.session = new PingSession(this.options, this.options.clock);
    this.silentSince = this.options.clock.monotonic();
    this.heardAt = undefined;
    void this.listen();
    this.pingLater();
    this.observeLater();
  }

  deactivate(): void {
    this.active = false;
    this.ending.abort();
    this.socket?.close();
    this.socket = undefined;
  }

  /** Binds, and binds again after a failure: the interface may be made anew under the socket. */
  private async listen(): Promise<void> {
    const { port, address, clock, log, signal } = this.options;
    while (this.active && !signal.aborted) {
      const socket = createSocket({ type: "udp4", reuseAddr: true });
      const failed = new Promise<Error | undefined>((resolve) => {
        socket.once("error", resolve);
        socket.once("close", () => resolve(undefined));
      });
      socket.on("message", (datagram, { address: from }) => this.receive(socket, datagram, from));
      socket.bind(port, address, () => (this.socket = socket));
      const stop = () => socket.close();
      signal.addEventListener("abort", stop, { once: true });
      const error = await failed;
      signal.removeEventListener("abort", stop);
      if (this.socket === socket) this.socket = undefined;
      if (error === undefined) continue;
      log.debug("socket of pings failed", { error });
      socket.close();
      await sleep(clock, BIND_AGAIN_MS, signal);
    }
  }

  private receive(socket: Socket, datagram: Buffer, from: string): void {
    if (from !== this.options.peerAddress) return;
    const message = decodeMessage(datagram);
    if (message === undefined) return;
    if (message.msgType === "PING") {
      this.send(socket, encodeMessage(pongTo(message)));
      return;
    }
    if (this.session.pong(message) !== "accepted") return;
    this.heardAt = this.options.clock.monotonic();
    if (this.outcomes.length > 0) this.outcomes[this.outcomes.length - 1] = true;
    this.options.onObserved();
  }

  /** A ping that cannot be sent is one without an answer. */
  private send(socket: Socket, datagram: Buffer): void {
    socket.send(datagram, this.options.port, this.options.peerAddress, (error) => {
      if (error !== null) this.options.log.debug("ping not sent", { error });
    });
  }

  private pingLater(): void {
    this.repeat(this.session.intervalMs, () => {
      this.outcomes.push(false);
      if (this.outcomes.length > 100) this.outcomes.shift();
      const ping = this.session.ping();
      if (this.socket !== undefined) this.send(this.socket, encodeMessage(ping));
    });
  }

  private observeLater(): void {
    this.repeat(this.session.observeEveryMs, () => {
      this.session.observe();
      this.options.onObserved();
    });
  }

  /** Until this session ends. */
  private repeat(everyMs: number, act: () => void): void {
    const { clock, signal } = this.options;
    every(clock, everyMs, AbortSignal.any([signal, this.ending.signal]), act);
  }
}
