import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";

import type { Logger } from "../kube";
import { type ConsumerPods, consumerView } from "./consumer-view";
import { type Caller, callerOf, type FrontProxy } from "./front-proxy";
import { isScrapeFailure, METRICS_PATHS, type MetricsPath, type NodeMetrics } from "./node-metrics";
import { printFamilies } from "./prometheus-text";

/** What an API server must say about its API so that the aggregator passes requests on (control plane reference 16.2). */

const GROUP = "metrics.liqo.io";
const VERSION = "v1beta1";
const groupVersion = `${GROUP}/${VERSION}`;

const version = { groupVersion, version: VERSION };
const group = { name: GROUP, versions: [version], preferredVersion: version };

const resourceList = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion,
  resources: [
    { name: "scrape/metrics", singularName: "", namespaced: false, kind: "Scrape", verbs: ["get"] },
  ],
};

/** Documents by path. */
const DISCOVERY: Readonly<Record<string, unknown>> = {
  "/": resourceList,
  "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [group] },
  [`/apis/${GROUP}`]: { kind: "APIGroup", apiVersion: "v1", ...group },
  [`/apis/${groupVersion}`]: resourceList,
  "/openapi/v2": { swagger: "2.0", info: { title: "Liqo metrics", version: VERSION }, paths: {} },
  "/openapi/v3": { paths: {} },
};

interface MetricServerOptions {
  /** 0: any free port. */
  port: number;
  host?: string;
  /** PEM. */
  certificate: string;
  privateKey: string;
  frontProxy: FrontProxy;
  metrics: Pick<NodeMetrics, "texts">;
  podsOf: (clusterId: string) => ConsumerPods;
  log: Logger;
}

const SCRAPE = new RegExp(`^/apis/${GROUP}/${VERSION}/scrape/([^/]+)/(.+)$`);
/** Who may look at everybody's metrics. */
const ADMINISTRATORS = "system:masters";

/**
 * The aggregated API `metrics.liqo.io`: gives a consumer the metrics of what it runs here, and of nothing else. Only the aggregator is
 * heard, and it vouches for the caller, whose group must be the cluster ID that it asks about (control plane reference 16.2, quirk 14).
 */
export class MetricServer {
  private constructor(
    private readonly server: Server,
    private readonly options: MetricServerOptions,
  ) {}

  static async start(options: MetricServerOptions): Promise<MetricServer> {
    const { certificate, privateKey, frontProxy, port, host } = options;
    const server = createServer({
      cert: certificate,
      key: privateKey,
      ca: frontProxy.ca,
      requestCert: true,
      rejectUnauthorized: false, // probes have no certificate; nobody without one is told anything
      minVersion: "TLSv1.2",
    });
    const started = new MetricServer(server, options);
    server.on("request", (request, response) => void started.handle(request, response));
    server.listen(port, host);
    await once(server, "listening");
    return started;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.answer(request, response);
    } catch (error) {
      this.options.log.warn("metrics not given", { path: request.url, error });
      const message = isScrapeFailure(error) ? error.message : "internal error";
      plain(response, 500, message);
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0]?.replace(/(.)\/+$/, "$1") ?? "";
    const caller = callerOf(request, this.options.frontProxy);
    if (caller === undefined) return plain(response, 401, "only the API server's aggregator is answered");
    if (request.method !== "GET") return plain(response, 405, "metrics are read with GET");
    if (Object.hasOwn(DISCOVERY, path)) return json(response, DISCOVERY[path]);
    const [, encoded, wanted] = SCRAPE.exec(path) ?? [];
    if (encoded === undefined || wanted === undefined) return plain(response, 404, "no such path");
    const clusterId = decoded(encoded);
    if (clusterId === undefined || !isMetricsPath(wanted))
      return plain(response, 400, `${wanted} is not one of ${METRICS_PATHS.join(", ")}`);
    if (!mayRead(caller, clusterId)) {
      return plain(
        response,
        403,
        `user "${caller.user}" is none of cluster "${clusterId}"; a consumer reads the metrics of its own pods only`,
      );
    }
    const texts = await this.options.metrics.texts(wanted);
    const body = printFamilies(consumerView(texts, this.options.podsOf(clusterId)));
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(body);
  }
}

function mayRead({ groups }: Caller, clusterId: string): boolean {
  return groups.includes(clusterId) || groups.includes(ADMINISTRATORS);
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // a broken escape
  }
}

function isMetricsPath(path: string): path is MetricsPath {
  return METRICS_PATHS.some((known) => known === path);
}

function plain(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(`${message}\n`);
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
