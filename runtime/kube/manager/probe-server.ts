import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { Registry } from "prom-client";

import { messageOf } from "../client/api-error";

export interface ProbeServerOptions {
  /** `host:port` or `:port`; port 0 takes a free one. */
  address: string;
  /** Served at `/livez` (also `/healthz`) and `/readyz`. */
  health?: Health;
  /** Served at `/metrics`. */
  metrics?: Registry;
}

export interface ProbeServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves health and metrics over plain HTTP, for the kubelet and for Prometheus.
 *
 * @throws Error naming the address, where it cannot listen there
 */
export async function startProbeServer(options: ProbeServerOptions): Promise<ProbeServer> {
  const { host, port } = parseAddress(options.address);
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    answer(path, options, response).catch((error: unknown) => {
      send(response, 500, messageOf(error));
    });
  });
  server.keepAliveTimeout = 30_000;
  await listen(server, host, port, options.address);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer(
  path: string,
  { health, metrics }: ProbeServerOptions,
  response: ServerResponse,
): Promise<void> {
  if (metrics !== undefined && path === "/metrics") {
    response.setHeader("content-type", metrics.contentType);
    return send(response, 200, await metrics.metrics());
  }
  if (health !== undefined && (path === "/livez" || path === "/healthz" || path === "/readyz")) {
    const { healthy, lines } = await (path === "/readyz" ? health.readiness() : health.liveness());
    response.setHeader("content-type", "text/plain; charset=utf-8");
    return send(response, healthy ? 200 : 503, [...lines, healthy ? "ok" : "not ok", ""].join("\n"));
  }
  send(response, 404, "not found\n");
}

function send(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status;
  response.end(body);
}

async function listen(
  server: Server,
  host: string | undefined,
  port: number,
  address: string,
): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(`cannot serve health and metrics on ${address}: ${messageOf(error)}`, { cause: error });
  }
}

/** `:8080`, `0.0.0.0:8080` or `[::1]:8080`. */
export function parseAddress(address: string): { host: string | undefined; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new Error(`${JSON.stringify(address)} is not an address to listen on; write host:port or :port`);
  }
  const host = match[1] ?? match[2];
  return { host: host === "" ? undefined : host, port };
}

/** Says what is wrong in one sentence; undefined: nothing. Must answer soon. */
type HealthCheck = () => string | undefined | Promise<string | undefined>;

interface HealthReport {
  healthy: boolean;
  /** One line a check, in the order they were added. */
  lines: string[];
}

const CHECK_DEADLINE_MS = 5_000;

/** Whether the process is alive (else it is restarted) and ready (else it gets no traffic), as the sum of its parts' checks. */
export class Health {
  private readonly live = new Map<string, HealthCheck>();
  private readonly ready = new Map<string, HealthCheck>();

  /** For what only a restart repairs. Returns the way to take the check back. */
  addLiveness(name: string, check: HealthCheck): () => void {
    return add(this.live, name, check);
  }

  /** For what passes by itself: caches that have not synced, a peer that is away. */
  addReadiness(name: string, check: HealthCheck): () => void {
    return add(this.ready, name, check);
  }

  liveness(): Promise<HealthReport> {
    return report(this.live);
  }

  readiness(): Promise<HealthReport> {
    return report(this.ready);
  }
}

function add(checks: Map<string, HealthCheck>, name: string, check: HealthCheck): () => void {
  checks.set(name, check);
  return () => {
    if (checks.get(name) === check) checks.delete(name);
  };
}

async function report(checks: ReadonlyMap<string, HealthCheck>): Promise<HealthReport> {
  const results = await Promise.all(
    [...checks].map(async ([name, check]) => ({ name, problem: await outcomeOf(check) })),
  );
  return {
    healthy: results.every(({ problem }) => problem === undefined),
    lines: results.map(({ name, problem }) =>
      problem === undefined ? `[+] ${name}` : `[-] ${name}: ${problem}`,
    ),
  };
}

async function outcomeOf(check: HealthCheck): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer in ${CHECK_DEADLINE_MS / 1000} s`), CHECK_DEADLINE_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return messageOf(error);
  } finally {
    clearTimeout(timer);
  }
}
