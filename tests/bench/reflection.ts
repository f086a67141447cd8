/**
 * `npm run bench -- reflection [--objects 500] [--services 200]`
 *
 * How long an object of the consumer takes to be at the provider: ConfigMaps made within two seconds, then a change of each; then Services with
 * an EndpointSlice each, made as fast as the API server takes them.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

import { ShadowEndpointSlice } from "../../runtime/api/offloading";
import { ConfigMap, EndpointSlice, Service } from "../../runtime/api/kubernetes";
import type { Kind, KubeObject } from "../../runtime/api/meta";
import { InformerSet } from "../../runtime/kube";
import { quantile } from "../support/statistics";
import { until } from "../support/until";
import { type PeeredPair, peeredPair } from "./fake-fleet";
import { offloadNamespace } from "./offload";

const NAMESPACE = "bench";
const REMOTE_NAMESPACE = "bench-rome";
const WITHIN_MS = 2_000;
const PATIENCE = { timeoutMs: 120_000, everyMs: 10 };

export async function reflection(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { objects: { type: "string", default: "500" }, services: { type: "string", default: "200" } },
  });
  const pair = await peeredPair(100);
  const informers = new InformerSet(pair.provider.client);
  try {
    await offloadNamespace(pair);
    await configMaps(pair, informers, Number(values.objects));
    await services(pair, informers, Number(values.services));
  } finally {
    await informers.stop();
    await pair.stop();
  }
}

async function configMaps(
  { consumer: { client } }: PeeredPair,
  informers: InformerSet,
  count: number,
): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `settings-${i}`);
  const seen = await Arrivals.watch(informers, ConfigMap, ({ data }: ConfigMap) => data?.version);
  const made = await Promise.all(
    names.map(async (name, i): Promise<[string, number]> => {
      await pause((WITHIN_MS * i) / count);
      await client.create(ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: NAMESPACE },
        data: { version: "1", text: "x".repeat(500) },
      });
      return [`${name}=1`, performance.now()];
    }),
  );
  await seen.report(`${count} ConfigMaps made within ${WITHIN_MS / 1000} s`, made);

  const changed = await Promise.all(
    names.map(async (name, i): Promise<[string, number]> => {
      await pause((WITHIN_MS * i) / count);
      await client.patch(
        ConfigMap,
        { name, namespace: NAMESPACE },
        { data: { version: "2" } },
        { type: "merge" },
      );
      return [`${name}=2`, performance.now()];
    }),
  );
  await seen.report("the same, each changed once", changed);
}

async function services(
  { consumer: { client } }: PeeredPair,
  informers: InformerSet,
  count: number,
): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `shop-${i}`);
  const [seenServices, seenSlices] = await Promise.all([
    Arrivals.watch(informers, Service, () => "there"),
    Arrivals.watch(informers, ShadowEndpointSlice, () => "there"),
  ]);
  const made = await Promise.all(
    names.map(async (name, i): Promise<[string, number]> => {
      await client.create(Service, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace: NAMESPACE },
        spec: { ports: [{ name: "http", port: 80, protocol: "TCP" }] },
      });
      await client.create(EndpointSlice, {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name, namespace: NAMESPACE, labels: { "kubernetes.io/service-name": name } },
        addressType: "IPv4",
        ports: [{ name: "http", port: 8080, protocol: "TCP" }],
        endpoints: [{ addresses: [`10.200.${i >> 8}.${i & 255}`], conditions: { ready: true } }],
      });
      return [`${name}=there`, performance.now()];
    }),
  );
  await seenServices.report(`${count} Services`, made);
  await seenSlices.report("their EndpointSlices", made);
}

/** When which version of an object was first seen at the provider. */
class Arrivals {
  private readonly at = new Map<string, number>();

  static async watch<T extends KubeObject>(
    informers: InformerSet,
    kind: Kind<T>,
    version: (object: T) => string | undefined,
  ): Promise<Arrivals> {
    const arrivals = new Arrivals();
    const see = (object: T) => {
      const key = `${object.metadata.name}=${version(object)}`;
      if (!arrivals.at.has(key)) arrivals.at.set(key, performance.now());
    };
    const informer = informers.informer(kind, { namespace: REMOTE_NAMESPACE });
    informer.on({ added: see, updated: (_before, after) => see(after) });
    await informer.whenSynced();
    return arrivals;
  }

  /** @param sent what was written, and when the API server had confirmed it */
  async report(what: string, sent: ReadonlyArray<readonly [string, number]>): Promise<void> {
    await until(`${what} at the provider`, () => sent.every(([key]) => this.at.has(key)), PATIENCE);
    // A copy may be there before the writer has its answer.
    const lags = sent.map(([key, at]) => Math.max(0, (this.at.get(key) ?? NaN) - at));
    const first = Math.min(...sent.map(([, at]) => at));
    const last = Math.max(...sent.map(([key]) => this.at.get(key) ?? NaN));
    process.stdout.write(
      `${what}: lag p50 ${quantile(lags, 0.5).toFixed(0)} ms, p99 ${quantile(lags, 0.99).toFixed(0)} ms, ` +
        `all there ${((last - first) / 1000).toFixed(2)} s after the first\n`,
    );
  }
}
