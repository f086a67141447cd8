import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { Counter, Histogram, type Registry } from "prom-client";
import { InvalidObjectError } from "../api";
import { messageOf } from "../kube";
import {
  errored,
  MalformedReview,
  parseReview,
  type Review,
  reviewResponse,
  type Routes,
  type Verdict,
} from "./admission-review";

interface AdmissionServerOptions {
  routes: Routes;
  /** 0: any free port. */
  port: number;
  /** All addresses by default. */
  host?: string;
  /** PEM. */
  certificates: { "tls.crt": string; "tls.key": string };
  /** Told of each answer. */
  onAnswer?(answer: Answer): void;
}

export interface Answer {
  path: string;
  verdict: Verdict;
  seconds: number;
  /** What a webhook threw, where it did. */
  error?: unknown;
}

/** An object may have 1.5 MB in the store, a review carries two, and managed fields come on top. */
const GREATEST_BODY = 16 * 1024 * 1024;
/** An API server closes an idle connection after 90 s. Ours waits longer, so that it never closes one that the API server is about to use. */
const KEEP_ALIVE_MS = 120_000;
/** Nearly every review fits in one window, and need not wait for an update of it. */
const STREAM_WINDOW = 1 << 20;
const SESSION_WINDOW = 16 << 20;

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/**
 * Serves admission reviews over HTTPS; certificates are changed without a restart and without cutting a connection.
 *
 * API servers speak HTTP/2 to webhooks at a loopback address, where one connection carries any number of reviews at once. To a Service
 * they keep to HTTP/1.1, so as to reach all of its pods: a connection for each review under way, of which 25 are kept.
 */
export class AdmissionServer {
  private readonly underWay = new Set<Promise<void>>();
  private readonly sockets = new Set<Socket>();
  private readonly sessions = new Set<ServerHttp2Session>();

  private constructor(
    private readonly server: Http2SecureServer,
    private readonly options: AdmissionServerOptions,
  ) {}

  /** Rejects when the port is taken. */
  static async start(options: AdmissionServerOptions): Promise<AdmissionServer> {
    const { "tls.crt": cert, "tls.key": key } = options.certificates;
    const server = createSecureServer({
      cert,
      key,
      minVersion: "TLSv1.2",
      allowHTTP1: true,
      http1Options: { keepAliveTimeout: KEEP_ALIVE_MS },
      settings: { initialWindowSize: STREAM_WINDOW },
    });
    const started = new AdmissionServer(server, options);
    server.on("connection", (socket: Socket) => started.track(socket));
    server.on("session", (session) => started.trackSession(session));
    server.on("request", (request: Request, response: Response) => {
      const call = started.handle(request, response).finally(() => started.underWay.delete(call));
      started.underWay.add(call);
    });
    server.listen(options.port, options.host);
    await once(server, "listening");
    return started;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** New connections are served with these from now on. */
  useCertificates({ "tls.crt": cert, "tls.key": key }: AdmissionServerOptions["certificates"]): void {
    this.server.setSecureContext({ cert, key, minVersion: "TLSv1.2" });
  }

  /** Finishes the requests in flight, then closes all connections: clients also keep idle ones open. */
  async stop(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    for (const session of this.sessions) session.close();
    while (this.underWay.size > 0) await Promise.all(this.underWay);
    for (const session of this.sessions) session.destroy();
    for (const socket of this.sockets) socket.destroySoon();
    await closed;
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.once("close", () => this.sockets.delete(socket));
  }

  private trackSession(session: ServerHttp2Session): void {
    this.sessions.add(session);
    session.once("close", () => this.sessions.delete(session));
    session.setLocalWindowSize(SESSION_WINDOW);
    // An API server that lives has sent pings by then.
    session.setTimeout(KEEP_ALIVE_MS, () => session.destroy());
  }

  private async handle(request: Request, response: Response): Promise<void> {
    // Registered first: the caller may give up at any time.
    const closed = new Promise<void>((resolve) => response.once("close", resolve));
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const webhook = Object.hasOwn(this.options.routes, path) ? this.options.routes[path] : undefined;
    if (webhook === undefined)
      return plain(response, 404, `no webhook at ${JSON.stringify(path.slice(0, 80))}`);
    if (request.method !== "POST") return plain(response, 405, "webhooks take POST");
    let review: Review;
    try {
      review = parseReview(await bodyOf(request));
    } catch (error) {
      if (error instanceof MalformedReview) return plain(response, 400, error.message);
      request.destroy();
      return;
    }
    const begin = performance.now();
    let verdict: Verdict;
    let failure: { error?: unknown } = {};
    try {
      verdict = await webhook(review.request);
    } catch (error) {
      failure = { error };
      verdict = verdictOf(error);
    }
    this.options.onAnswer?.({ path, verdict, seconds: (performance.now() - begin) / 1000, ...failure });
    const body = reviewResponse(review, verdict);
    // API servers keep their connections. The Service leads them to another replica only over a new one.
    const leaves = !verdict.allowed && verdict.code === 503;
    response.statusCode = 200;
    response.setHeader("content-type", "application/json");
    response.setHeader("content-length", Buffer.byteLength(body));
    if (leaves && !(response instanceof Http2ServerResponse)) response.setHeader("connection", "close");
    response.end(body);
    if (leaves && response instanceof Http2ServerResponse) response.stream.session?.close();
    await closed;
  }
}

/** An invalid object is the request's fault (400), anything else ours (500). */
function verdictOf(error: unknown): Verdict {
  const message = messageOf(error);
  return errored(error instanceof InvalidObjectError ? 400 : 500, message);
}

async function bodyOf(request: Request): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > GREATEST_BODY) throw new MalformedReview(`the body has more than ${GREATEST_BODY} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function plain(response: Response, status: number, message: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(`${message}\n`);
}

/** Counts and times the answers of the webhooks, by path and code. */
export function webhookMetrics(registry: Registry): (answer: Answer) => void {
  const requests = new Counter({
    name: "controller_runtime_webhook_requests_total",
    help: "Admission requests, by webhook (its path) and status code of the answer",
    labelNames: ["webhook", "code"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "controller_runtime_webhook_latency_seconds",
    help: "Time that an admission webhook took to decide, by webhook (its path)",
    labelNames: ["webhook"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5],
    registers: [registry],
  });
  return ({ path, verdict, seconds: taken }) => {
    requests.inc({ webhook: path, code: String(verdict.allowed ? 200 : verdict.code) });
    seconds.observe({ webhook: path }, taken);
  };
}
