import { z } from "zod";

import { isQuantity, type Nano, parseQuantity } from "../../api/quantity";

/** PodMetrics of `metrics.k8s.io`, as far as they are read. */
const podMetricsList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      timestamp: z.string().optional(),
      containers: z
        .array(z.object({ name: z.string(), usage: z.object({ cpu: z.string(), memory: z.string() }) }))
        .nullish(),
    }),
  ),
});
export type PodMetrics = z.infer<typeof podMetricsList>["items"][number];

/** @returns undefined when the answer is not a list of PodMetrics */
export function parsePodMetrics(body: string): PodMetrics[] | undefined {
  try {
    return podMetricsList.safeParse(JSON.parse(body)).data?.items;
  } catch {
    return undefined;
  }
}

/** A local pod that is bound to the node. */
export interface MeasuredPod {
  name: string;
  namespace: string;
  uid: string;
  startTime: string | undefined;
  metrics: PodMetrics;
}

interface Usage {
  cpu: Nano;
  memory: Nano;
}

/**
 * The kubelet's `/stats/summary` of a virtual node: what its remote pods use, and their sum (offloading reference 8.3). Pods that nothing is known
 * of are left out.
 */
export function statsSummary(nodeName: string, startTime: string, pods: readonly MeasuredPod[]): object {
  const total: Usage = { cpu: 0n, memory: 0n };
  const stats = pods.map((pod) => podStats(pod, total));
  const time = new Date().toISOString();
  return { node: { nodeName, startTime, ...usageStats(total, time) }, pods: stats };
}

function podStats({ name, namespace, uid, startTime, metrics }: MeasuredPod, total: Usage): object {
  const sum: Usage = { cpu: 0n, memory: 0n };
  const time = metrics.timestamp ?? new Date().toISOString();
  const containers = (metrics.containers ?? []).map(({ name: container, usage }) => {
    const used = { cpu: amountOf(usage.cpu), memory: amountOf(usage.memory) };
    sum.cpu += used.cpu;
    sum.memory += used.memory;
    return { name: container, startTime, ...usageStats(used, time) };
  });
  total.cpu += sum.cpu;
  total.memory += sum.memory;
  return { podRef: { name, namespace, uid }, startTime, containers, ...usageStats(sum, time) };
}

function usageStats({ cpu, memory }: Usage, time: string): object {
  const bytes = wholeNumber(memory);
  return {
    cpu: { time, usageNanoCores: Number(cpu) },
    memory: { time, usageBytes: bytes, workingSetBytes: bytes },
  };
}

function amountOf(quantity: string): Nano {
  return isQuantity(quantity) ? parseQuantity(quantity) : 0n;
}

/** Rounded up, as Kubernetes does. */
function wholeNumber(amount: Nano): number {
  return Number((amount + 999_999_999n) / 1_000_000_000n);
}

/** Samples about the node as a whole: with several providers behind one endpoint they would be taken for one node's. */
const NODE_SAMPLES = /^(node_|scrape_error|machine_)/;

/**
 * Puts the metrics of several providers into one text, each family once, as scrapers demand. From more than one provider only the samples
 * about pods are taken.
 *
 * @param texts in the Prometheus text format
 */
export function mergeMetrics(texts: readonly string[]): string {
  if (texts.length <= 1) return texts[0] ?? "";
  const families = new Map<string, { comments: string[]; samples: string[] }>();
  for (const text of texts) for (const line of text.split("\n")) add(families, line);
  let merged = "";
  for (const { comments, samples } of families.values()) {
    if (samples.length > 0) merged += `${[...comments, ...samples].join("\n")}\n`;
  }
  return merged;
}

function add(families: Map<string, { comments: string[]; samples: string[] }>, line: string): void {
  const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
  const name = comment ?? /^[a-zA-Z_:][\w:]*/.exec(line)?.[0];
  if (name === undefined || NODE_SAMPLES.test(name)) return;
  const key = comment ?? familyOf(name, families);
  const family = families.get(key) ?? { comments: [], samples: [] };
  families.set(key, family);
  if (comment === undefined) family.samples.push(line);
  else if (!family.comments.includes(line) && family.comments.length < 2) family.comments.push(line);
}

/** The samples of a histogram or summary have names of their own. */
function familyOf(name: string, families: ReadonlyMap<string, unknown>): string {
  const stem = name.replace(/_(bucket|sum|count)$/, "");
  return families.has(name) || !families.has(stem) ? name : stem;
}
