import { Agent, request, type Dispatcher } from "undici";
import { z } from "zod";

import type { ProbeTarget } from "../api-server-probe";

const status = z.object({ message: z.string().optional() });

/** The few requests that bringing a cluster up takes; the runtime's client is for what goes on afterwards. */
export class ApiConnection {
  private readonly agent: Agent;

  constructor(private readonly target: ProbeTarget) {
    this.agent = new Agent({
      connect: { ca: target.ca, cert: target.certificate, key: target.privateKey, timeout: 3_000 },
    });
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
      headersTimeout: 15_000,
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
