/**
 * Measures what an informer of ConfigMaps costs: sends `{ objects, heap, resident, lists }` to its parent, in bytes over an informer of nothing;
 * `resident` and `lists` are peaks. Reads a kubeconfig from standard input.
 *
 * usage: node --expose-gc informer-memory.js NAMESPACE
 */
import { text } from "node:stream/consumers";

import { ConfigMap, Namespace } from "../../runtime/api/kubernetes";
import { InformerSet, KubeClient } from "../../runtime/kube";

async function main(): Promise<void> {
  const namespace = process.argv[2];
  const client = KubeClient.fromKubeconfig(await text(process.stdin));
  const informers = new InformerSet(client);
  await informers.informer(Namespace).whenSynced();

  const beforeLists = settled();
  const lists = await peakDuring(async () => {
    let seen = 0;
    for await (const page of client.listPages(ConfigMap, { namespace })) seen += page.items.length;
    if (seen === 0) throw new Error("there is nothing to list");
  });

  const before = settled();
  const informer = informers.informer(ConfigMap, { namespace });
  const resident = await peakDuring(() => informer.whenSynced());
  const after = settled();
  process.send?.({
    objects: informer.size,
    heap: after.heapUsed - before.heapUsed,
    resident: resident - before.rss,
    lists: lists - beforeLists.rss,
  });
  await informers.stop();
  client.close();
  process.disconnect();
}

function settled(): NodeJS.MemoryUsage {
  globalThis.gc?.();
  return process.memoryUsage();
}

async function peakDuring(work: () => Promise<void>): Promise<number> {
  let peak = process.memoryUsage.rss();
  const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  return Math.max(peak, process.memoryUsage.rss());
}

void main();
