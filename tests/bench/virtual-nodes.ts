/**
 * `npm run bench -- virtual-nodes [--nodes 100] [--idle 60]`
 *
 * Many virtual nodes of one provider in one process: memory and CPU at rest, and requests of our processes.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

import { VirtualNode } from "../../runtime/api/offloading";
import { Node } from "../../runtime/api/kubernetes";
import { InformerSet } from "../../runtime/kube";
import { virtualNode, virtualNodeSchema } from "../../runtime/plan/offloading";
import { auditEvents, countRequests } from "../support/audit-log";
import { usageOf } from "../support/process-usage";
import { until } from "../support/until";
import { type PeeredPair, peeredPair } from "./fake-fleet";

export async function virtualNodes(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { nodes: { type: "string", default: "100" }, idle: { type: "string", default: "60" } },
  });
  const count = Number(values.nodes);
  const pair = await peeredPair(100);
  const informers = new InformerSet(pair.consumer.client);
  try {
    const nodes = informers.informer(Node);
    await nodes.whenSynced();
    const start = performance.now();
    await addVirtualNodes(pair, count - 1);
    await until(`${count} virtual nodes Ready`, () => nodes.list().filter(isReady).length >= count, {
      timeoutMs: 300_000,
      everyMs: 50,
    });
    print(`${count} virtual nodes Ready after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    await observe(pair, Number(values.idle));
  } finally {
    await informers.stop();
    await pair.stop();
  }
}

async function addVirtualNodes({ consumer: { client } }: PeeredPair, count: number): Promise<void> {
  const [first] = await client.list(VirtualNode);
  const kubeconfigSecretName = first?.spec.kubeconfigSecretRef?.name;
  if (first?.metadata.namespace === undefined || kubeconfigSecretName === undefined)
    throw new Error("the slice's own virtual node names no kubeconfig");
  const tenantNamespace = first.metadata.namespace;
  await Promise.all(
    Array.from({ length: count }, (_, i) => {
      const nodeName = `milan-${i}`;
      const settings = virtualNodeSchema.parse({
        providerClusterId: "milan",
        tenantNamespace,
        nodeName,
        kubeconfigSecretName,
        disableNetworkCheck: true,
      });
      return client.create(VirtualNode, virtualNode(settings));
    }),
  );
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}

async function observe({ consumer, consumerRuntime }: PeeredPair, seconds: number): Promise<void> {
  await pause(15_000); // what came before settles
  const cpu = () =>
    new Map(
      consumerRuntime.components().map((name) => [name, usageOf(consumerRuntime.pid(name))?.cpuSeconds ?? 0]),
    );
  const before = cpu();
  const from = Date.now();
  await pause(seconds * 1000);
  for (const [name, after] of cpu()) {
    const cores = (after - (before.get(name) ?? 0)) / seconds;
    const pss = usageOf(consumerRuntime.pid(name))?.pssMb ?? NaN;
    print(`  ${name}: ${pss.toFixed(0)} MB PSS, ${cores.toFixed(3)} core at rest`);
  }
  const ours = auditEvents(consumer.controlPlane.auditLogPath ?? "", from).filter(({ user }) =>
    user.username.startsWith("system:serviceaccount:liqo"),
  );
  for (const [what, requests] of countRequests(ours))
    print(`  ${(requests / seconds).toFixed(2)} a second  ${what}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
