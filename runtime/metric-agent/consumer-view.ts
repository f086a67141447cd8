import { type Family, mergeFamilies, parseFamilies, type Sample } from "./prometheus-text";

/** What one consumer runs on this cluster. */
export interface ConsumerPods {
  /** The consumer's name of a namespace, by this cluster's. */
  originalNamespaces: ReadonlyMap<string, string>;
  /** Whether a pod is the consumer's, and runs on that node. */
  isOn(node: string, namespace: string, pod: string): boolean;
}

/** Of the whole node; summed over the nodes, since the consumer sees all of them as one. */
const NODE_SAMPLES = ["node_cpu_usage_seconds_total", "node_memory_working_set_bytes"];

/**
 * The part of the nodes' metrics that concerns one consumer: samples about its pods, with the namespace named as the consumer does, and two
 * sums over all nodes (control plane reference 16.2).
 *
 * @param texts what each node's kubelet answered
 */
export function consumerView(texts: ReadonlyMap<string, string>, pods: ConsumerPods): Family[] {
  const sources = [...texts].map(([node, text]) => {
    const families = parseFamilies(
      text,
      (line) => line.includes('namespace="') || NODE_SAMPLES.some((name) => line.startsWith(name)),
    );
    return families
      .map((family) => ({
        ...family,
        samples: family.samples.flatMap((sample) => ofConsumer(sample, node, pods)),
      }))
      .filter(({ samples }) => samples.length > 0);
  });
  return mergeFamilies(sources).map((family) =>
    NODE_SAMPLES.includes(family.name) ? { ...family, samples: [sumOf(family.samples)] } : family,
  );
}

function ofConsumer(sample: Sample, node: string, pods: ConsumerPods): Sample[] {
  if (NODE_SAMPLES.includes(sample.name)) return [sample];
  const [namespace, pod] = [sample.labels.get("namespace"), sample.labels.get("pod")];
  if (namespace === undefined || pod === undefined) return [];
  const original = pods.originalNamespaces.get(namespace);
  if (original === undefined || !pods.isOn(node, namespace, pod)) return [];
  return [{ ...sample, labels: new Map(sample.labels).set("namespace", original) }];
}

function sumOf(samples: readonly Sample[]): Sample {
  const [first] = samples;
  const timestamps = samples.flatMap(({ timestamp }) => timestamp ?? []);
  return {
    name: first?.name ?? "",
    labels: new Map(first?.labels),
    value: String(samples.reduce((sum, { value }) => sum + Number(value), 0)),
    timestamp: timestamps.length === 0 ? undefined : Math.max(...timestamps),
  };
}
