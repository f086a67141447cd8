import { Agent, request, RetryAgent, type Dispatcher } from "undici";
import { z } from "zod";

import type { ProbeTarget } from "../api-server-probe";

const status = z.object({ message: z.string().optional() });

/** How long an answer may take, in milliseconds: several API servers that start at once on a small machine are slow. */
const ANSWER_MS = 15_000;
/** Tried again, over about a minute. */
const RETRIES = {
  maxRetries: 12,
  minTimeout: 250,
  maxTimeout: 5_000,
  methods: ["GET", "PATCH"] satisfies Dispatcher.HttpMethod[],
  statusCodes: [429, 500, 502, 503, 504],
  errorCodes: [
    "ECONNREFUSED",
    "ECONNRESET",
    "EPIPE",
    "UND_ERR_CONNECT_TIMEOUT",
    "UND_ERR_HEADERS_TIMEOUT",
    "UND_ERR_SOCKET",
  ],
};

/** The few requests that bringing a cluster up takes, each of which may be repeated; the runtime's client is for what goes on afterwards. */
export class ApiConnection {
  private readonly agent: RetryAgent;

  constructor(private readonly target: ProbeTarget) {
    const { ca, certificate: cert, privateKey: key } = target;
    this.agent = new RetryAgent(new Agent({ connect: { ca, cert, key, timeout: 3_000 } }), RETRIES);
  }

  async get(path: string): Promise<unknown> {
    return this.send("GET", path);
  }

  /** Server-side apply: the same object twice changes nothing. */
  async apply(path: string, object: unknown): Promise<unknown> {
    return this.send("PATCH", `${path}?fieldManager=pulumi-liqo-local-cluster&force=true`, object);
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async send(method: Dispatcher.HttpMethod, path: string, body?: unknown): Promise<unknown> {
    const response = await request(`${this.target.url}${path}`, {
      method,
      dispatcher: this.agent,
      headersTimeout: ANSWER_MS,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/apply-patch+yaml" },
      }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) {
      throw new Error(`${method} ${path}: ${response.statusCode} ${messageOf(text)}`);
    }
    return JSON.parse(text);
  }
}

function messageOf(text: string): string {
  try {
    return status.parse(JSON.parse(text)).message ?? text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}
