import { Counter, type Registry } from "prom-client";

import { type AnswerLimits, OWN_CLUSTER_LIMITS } from "./answer-limits";
import type { CallOptions, ClientOptions, RawRequest, StreamedResponse } from "./client-options";
import { ConnectionError } from "./dial";
import type { Connection } from "./kubeconfig";
import { type Answer, isConnectionLoss, pathOnly, streamed, unary } from "./round-trip";
import { Transport } from "./transport";
import { upgrade, type Upgraded, type UpgradeRequest } from "./upgrade";
import type { Exchange, ResponseHandler, ResponseHeaders, WireRequest } from "./wire-request";

const DEFAULT_DEADLINE_MS = 30_000;
const DEFAULT_HEARTBEAT_MS = 10_000;

/** Sends requests to one API server with the credentials of the moment: authorization, deadlines, and the few repetitions that are safe. */
export class Requester {
  private transport: Transport;
  /** Replaced, but with watches still open. */
  private readonly draining = new Set<Transport>();
  private readonly count: (method: string, code: number | "<error>") => void;

  constructor(
    connection: Connection,
    private readonly options: ClientOptions,
  ) {
    this.transport = this.connect(connection);
    this.count = requestCounter(options.metrics, connection.server.host);
  }

  get limits(): Readonly<AnswerLimits> {
    return this.options.limits ?? OWN_CLUSTER_LIMITS;
  }

  get connection(): Connection {
    return this.transport.connection;
  }

  /** Uses another connection for all further requests; what is under way goes on to its end. */
  replace(connection: Connection): void {
    const replaced = this.transport;
    this.transport = this.connect(connection);
    this.draining.add(replaced);
    void replaced.drain().then(() => this.draining.delete(replaced));
  }

  close(): void {
    this.transport.destroy();
    for (const transport of this.draining) transport.destroy();
  }

  /** After a 401 on a stream: the next request reads the credentials afresh. */
  forgetCredentials(): void {
    this.transport.credentials.forget();
  }

  /** Sends until there is an answer other than "come back later", within one deadline. */
  async send(request: WireRequest, call: CallOptions = {}): Promise<Answer> {
    const allowedMs = call.deadlineMs ?? this.deadlineMs;
    const { signal, maxAnswerBytes: maxBytes = this.limits.answerBytes } = call;
    const end = performance.now() + allowedMs;
    let mayRepeat = request.method === "GET";
    let refused: string | undefined;
    for (;;) {
      const { transport } = this;
      try {
        const authorized = await this.authorize(transport, request);
        const deadlineMs = Math.max(1, end - performance.now());
        const answer = await unary(transport, authorized, { deadlineMs, allowedMs, maxBytes, signal });
        this.count(request.method, answer.status);
        if (answer.status === 401) {
          transport.credentials.forget();
          const next = await transport.credentials.authorization();
          // A request that was not authenticated was not carried out; one more try if there is another credential by now.
          if (next === refused || next === authorized.headers.authorization) return answer;
          refused = authorized.headers.authorization;
          continue;
        }
        const waitMs = comeBackIn(request, answer);
        if (waitMs === undefined || performance.now() + waitMs > end) return answer;
        await pause(waitMs, signal);
      } catch (error) {
        // The credentials were replaced before the request left.
        if (transport !== this.transport && error instanceof ConnectionError && error.unprocessed) continue;
        this.count(request.method, "<error>");
        if (!mayRepeat || !isConnectionLoss(error) || performance.now() > end) throw error;
        mayRepeat = false;
      }
    }
  }

  /** Answers with the head as soon as it is there; the deadline counts until then. */
  async stream(request: RawRequest): Promise<StreamedResponse> {
    const { method = "GET", path, headers = {}, body, signal, deadlineMs } = request;
    const { transport } = this;
    const authorized = await this.authorize(transport, { method, path, headers, body, longLived: true });
    const answer = await streamed(transport, authorized, deadlineMs ?? this.deadlineMs, signal);
    this.count(method, answer.status);
    return answer;
  }

  async upgrade(request: UpgradeRequest): Promise<Upgraded> {
    const { transport } = this;
    const authorization = await transport.credentials.authorization();
    const limits = { deadlineMs: this.deadlineMs, maxBytes: this.limits.answerBytes };
    return await upgrade(transport, request, authorization, limits);
  }

  /** Starts a request whose answer goes on for long; the caller reads the status itself. */
  async open(path: string, handler: ResponseHandler): Promise<Exchange> {
    const { transport } = this;
    const request = await this.authorize(transport, { method: "GET", path, headers: {}, longLived: true });
    return transport.send(request, {
      onHead: (status, headers) => {
        this.count("GET", status);
        handler.onHead(status, headers);
      },
      onData: (chunk) => handler.onData(chunk),
      onEnd: () => handler.onEnd(),
      onError: (error) => handler.onError(error),
    });
  }

  private connect(connection: Connection): Transport {
    const { maxConnections, heartbeatMs = DEFAULT_HEARTBEAT_MS } = this.options;
    return new Transport(connection, { maxConnections, heartbeatMs });
  }

  private get deadlineMs(): number {
    return this.options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  }

  private async authorize(transport: Transport, request: WireRequest): Promise<WireRequest> {
    const credential = transport.credentials.authorization();
    const authorization = credential instanceof Promise ? await credential : credential;
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": this.options.userAgent ?? "pulumi-liqo",
      ...request.headers,
    };
    if (authorization !== undefined) headers.authorization = authorization;
    return { ...request, headers };
  }
}

/** The first value of a header. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** How long the server asks us to wait. An eviction's 429 is an answer (a disruption budget stands against it), not a delay. */
function comeBackIn(request: WireRequest, answer: Answer): number | undefined {
  if (answer.status !== 429 || pathOnly(request.path).endsWith("/eviction")) return undefined;
  const seconds = Number(headerOf(answer.headers, "retry-after") ?? "1");
  if (!Number.isFinite(seconds)) return undefined;
  return Math.max(100, seconds * 1000) * (1 + Math.random() * 0.2);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error("the request was aborted"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

const NAME = "rest_client_requests_total";

/** Counts requests to API servers under the name that dashboards know; code `<error>` where there was no answer. */
function requestCounter(
  metrics: Registry | undefined,
  host: string,
): (method: string, code: number | "<error>") => void {
  if (metrics === undefined) return () => undefined;
  const known = metrics.getSingleMetric(NAME);
  const counter =
    known instanceof Counter
      ? known
      : new Counter({
          name: NAME,
          help: "Requests to API servers, by status code, method and host",
          labelNames: ["code", "method", "host"],
          registers: [metrics],
        });
  return (method, code) => counter.inc({ code: String(code), method, host });
}
