/**
 * `npm run bench -- admission [--against <checkout>] [--pods 500] [--rounds 5]`
 *
 * What a ShadowPod costs the webhooks' process at a provider: its admission, and all that the API server's watches tell of it and its pod until both are
 * gone. The API server is a bare one in this process, so nothing but CPU time and memory of the webhooks' process is measured, which other work on the
 * machine hardly changes. With `--against`, the compiled code of another checkout takes turns with this one.
 */
import { type ChildProcess, fork } from "node:child_process";
import { on } from "node:events";
import type { Http2ServerResponse } from "node:http2";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { z } from "zod";

import { creatorUserLabel } from "../../runtime/plan/peer-objects";
import { HostileApiServer } from "../support/hostile-api-server";
import { quantile, spread } from "../support/statistics";
import { NAMESPACE, pod, shadowPod, SLICE_USER } from "./admission-objects";
import { measured } from "./admission-process";
import { print } from "./offload-report";

type Measured = z.output<typeof measured>;
interface Round {
  /** Milliseconds of CPU a pod: to be admitted, until all ran, until all were gone. */
  admitted: number;
  made: number;
  gone: number;
  /** MB while all run. */
  heap: number;
  rss: number;
  /** Requests a pod, watches aside. */
  requests: number;
}

const CREATOR = creatorUserLabel(SLICE_USER) ?? "";

export async function admission(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      against: { type: "string" },
      pods: { type: "string", default: "500" },
      rounds: { type: "string", default: "5" },
    },
  });
  const pods = Number(values.pods);
  const trees = [
    ...(values.against === undefined
      ? []
      : [{ name: values.against, dist: resolve(values.against, "dist") }]),
    { name: "this checkout", dist: join(__dirname, "../..") },
  ].map((tree) => ({ ...tree, rounds: [] as Round[] }));
  for (let round = 0; round < Number(values.rounds); round++)
    for (const tree of round % 2 === 0 ? trees : trees.toReversed())
      tree.rounds.push(await measureRound(tree.dist, pods));
  print(`${pods} ShadowPods, ${values.rounds} rounds: min / median / max`);
  for (const { name, rounds } of trees) report(name, rounds);
  const [before, now] = trees;
  if (before === undefined || now === undefined) return;
  const ratio = (of: (round: Round) => number) => {
    const [a, b] = [before, now].map(({ rounds }) => quantile(rounds.map(of), 0.5));
    return `${((100 * (b ?? NaN)) / (a ?? NaN)).toFixed(0)} %`;
  };
  print(
    `medians of this checkout by those of ${before.name}: CPU ${ratio(cpuOf)}, heap ${ratio(({ heap }) => heap)}, RSS ${ratio(({ rss }) => rss)}`,
  );
}

function cpuOf({ made, gone }: Round): number {
  return made + gone;
}

function report(name: string, rounds: readonly Round[]): void {
  const of = (value: (round: Round) => number, digits = 2) => spread(rounds.map(value), digits);
  print(`  ${name}`);
  print(`    CPU a pod: ${of(cpuOf)} ms; until admitted ${of(({ admitted }) => admitted)}`);
  print(
    `      until all ran ${of(({ made }) => made)}, from then until all were gone ${of(({ gone }) => gone)}`,
  );
  print(`    while all run: heap ${of(({ heap }) => heap)} MB, RSS ${of(({ rss }) => rss, 1)} MB`);
  print(`    requests a pod: ${of(({ requests }) => requests, 3)}`);
}

async function measureRound(dist: string, pods: number): Promise<Round> {
  const server = await BareApiServer.start(pods);
  const child = fork(require.resolve("./admission-process"), [dist, server.kubeconfig], {
    execArgv: ["--expose-gc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const messages = on(child, "message") as AsyncIterator<unknown[], undefined>;
  try {
    await next(messages, z.literal("ready"));
    await life(server, child, messages, "warm", Math.ceil(pods / 2));
    const requests = server.requests;
    const { made, gone } = await life(server, child, messages, "web", pods);
    return {
      admitted: made.admittedMs / pods,
      made: made.cpuMs / pods,
      gone: gone.cpuMs / pods,
      heap: made.heap / 2 ** 20,
      rss: made.rss / 2 ** 20,
      requests: (server.requests - requests) / pods,
    };
  } finally {
    child.kill("SIGKILL");
    await server.close();
  }
}

async function life(
  server: BareApiServer,
  child: ChildProcess,
  messages: AsyncIterator<unknown[], undefined>,
  prefix: string,
  pods: number,
): Promise<{ made: Measured; gone: Measured }> {
  const names = Array.from({ length: pods }, (_, at) => `${prefix}-6bcbd9d7f8-${at}`);
  child.send({ admit: names });
  await next(messages, z.literal("admitted"));
  for (const name of names) {
    server.tell("shadowpods", "ADDED", (version) => shadowPod(name, version, CREATOR));
    server.tell("pods", "ADDED", (version) => pod(name, version, CREATOR, "made"));
    server.tell("pods", "MODIFIED", (version) => pod(name, version, CREATOR, "bound"));
    server.tell("pods", "MODIFIED", (version) => pod(name, version, CREATOR, "runs"));
    server.tell("shadowpods", "MODIFIED", (version) => shadowPod(name, version, CREATOR, "Running"));
  }
  await server.mark();
  const made = await next(messages, measured);
  for (const name of names) {
    server.tell("shadowpods", "DELETED", (version) => shadowPod(name, version, CREATOR, "Running"));
    server.tell("pods", "MODIFIED", (version) => pod(name, version, CREATOR, "ends"));
    server.tell("pods", "DELETED", (version) => pod(name, version, CREATOR, "ends"));
  }
  await server.mark();
  return { made, gone: await next(messages, measured) };
}

async function next<T>(messages: AsyncIterator<unknown[], undefined>, schema: z.ZodType<T>): Promise<T> {
  const { value, done } = await messages.next();
  if (done === true) throw new Error("the process of the webhooks has ended");
  return schema.parse(z.array(z.unknown()).parse(value)[0]);
}

/** Says what it is told to say, and has otherwise a quota, a namespace and no pods. */
class BareApiServer {
  requests = 0;
  private version = 1;
  private readonly watches = new Map<string, Http2ServerResponse>();

  private constructor(
    private readonly server: HostileApiServer,
    /** Room for a few more than one round's. */
    private readonly quota: number,
  ) {
    server.answer = (url, response) => this.answer(url, response);
  }

  static async start(pods: number): Promise<BareApiServer> {
    return new BareApiServer(await HostileApiServer.start(), pods + 100);
  }

  get kubeconfig(): string {
    return this.server.kubeconfig();
  }

  tell(resource: string, type: string, object: (version: number) => object): void {
    this.version += 1;
    this.watches.get(resource)?.write(`${JSON.stringify({ type, object: object(this.version) })}\n`);
  }

  /** Tells that this is all, once it has left. */
  async mark(): Promise<void> {
    const others = [...this.watches].filter(([resource]) => resource !== "configmaps");
    await Promise.all(others.map(([, watch]) => new Promise((resolve) => watch.write("\n", resolve))));
    this.tell("configmaps", "MODIFIED", (version) => this.marker(version));
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  private answer(url: URL, response: Http2ServerResponse): void {
    const resource = url.pathname.split("/").at(-1) ?? "";
    if (!url.searchParams.has("watch")) {
      this.requests += 1;
      if (resource === "pods")
        response.end(
          JSON.stringify({
            kind: "PodList",
            apiVersion: "v1",
            metadata: { resourceVersion: String(this.version) },
            items: [],
          }),
        );
      else response.writeHead(404).end(JSON.stringify({ kind: "Status", code: 404, reason: "NotFound" }));
      return;
    }
    this.watches.set(resource, response);
    if (!url.searchParams.has("sendInitialEvents")) return;
    for (const object of this.initial(resource)) this.tell(resource, "ADDED", () => object);
    this.tell(resource, "BOOKMARK", (version) => ({
      kind: "Any",
      apiVersion: "v1",
      metadata: { resourceVersion: String(version), annotations: { "k8s.io/initial-events-end": "true" } },
    }));
  }

  private initial(resource: string): object[] {
    const metadata = (name: string, more: object = {}) => ({
      name,
      uid: name,
      resourceVersion: "1",
      ...more,
    });
    if (resource === "configmaps") return [this.marker(1)];
    if (resource === "namespaces") {
      const labels = { "liqo.io/remote-cluster-id": "rome" };
      return [{ apiVersion: "v1", kind: "Namespace", metadata: metadata(NAMESPACE, { labels }) }];
    }
    if (resource !== "quotas") return [];
    const resources = { cpu: "2000", memory: "4000Gi", pods: String(this.quota) };
    return [
      {
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "Quota",
        metadata: metadata("pool", { namespace: "liqo-tenant-rome" }),
        spec: { user: SLICE_USER, limitsEnforcement: "None", resources },
      },
    ];
  }

  private marker(version: number): object {
    const metadata = {
      name: "marker",
      namespace: NAMESPACE,
      uid: "marker",
      resourceVersion: String(version),
    };
    return { apiVersion: "v1", kind: "ConfigMap", metadata };
  }
}
