/** Deployments of many pods, watched from creation to Running and from deletion to gone. */
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { Deployment, Namespace, Pod } from "../../runtime/api/kubernetes";
import type { Desired } from "../../runtime/api/meta";
import { InformerSet, type KubeClient } from "../../runtime/kube";
import { until } from "../support/until";

export interface PodTimes {
  /** From the Deployment's creation to the last pod Running, in seconds. */
  seconds: number;
  /** Of each pod: from seeing it bound to seeing it Running, in milliseconds. */
  latenciesMs: number[];
}

/** Watches the pods of a namespace with its own informer. */
export class PodWatch {
  private readonly informers: InformerSet;
  private readonly bound = new Map<string, number>();
  private readonly running = new Map<string, number>();

  private constructor(client: KubeClient) {
    this.informers = new InformerSet(client);
  }

  static async start(client: KubeClient, namespace: string): Promise<PodWatch> {
    const watch = new PodWatch(client);
    const informer = watch.informers.informer(Pod, { namespace });
    informer.on({
      added: (pod) => watch.see(pod),
      updated: (_before, after) => watch.see(after),
    });
    await informer.whenSynced();
    return watch;
  }

  runningCount(): number {
    return this.running.size;
  }

  latenciesMs(): number[] {
    return [...this.running].flatMap(([uid, at]) => {
      const from = this.bound.get(uid);
      return from === undefined ? [] : [at - from];
    });
  }

  stop(): Promise<void> {
    return this.informers.stop();
  }

  private see(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    const now = performance.now();
    if ((pod.spec?.nodeName ?? "") !== "" && !this.bound.has(uid)) this.bound.set(uid, now);
    if (pod.status?.phase === "Running" && !this.running.has(uid)) this.running.set(uid, now);
  }
}

export async function createNamespace(client: KubeClient, name: string): Promise<void> {
  await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

/** Creates a Deployment of `replicas` pods and waits until all are Running. */
export async function deployAndWait(
  client: KubeClient,
  namespace: string,
  name: string,
  replicas: number,
): Promise<PodTimes> {
  const watch = await PodWatch.start(client, namespace);
  const start = performance.now();
  await client.create(Deployment, deployment(namespace, name, replicas));
  await until(`${replicas} pods Running in ${namespace}`, () => watch.runningCount() >= replicas, {
    timeoutMs: Math.max(600_000, replicas * 200),
    everyMs: 10,
  });
  const seconds = (performance.now() - start) / 1000;
  await watch.stop();
  return { seconds, latenciesMs: watch.latenciesMs() };
}

/** Deletes the Deployment and returns how long it took until no pod of the namespaces was left, in seconds. */
export async function deleteAndWait(
  client: KubeClient,
  namespace: string,
  name: string,
  others: Array<{ client: KubeClient; namespace: string }> = [],
): Promise<number> {
  const start = performance.now();
  await client.delete(Deployment, { name, namespace }, { propagationPolicy: "Background" });
  await Promise.all(
    [{ client, namespace }, ...others].map((place) => untilNoPods(place.client, place.namespace)),
  );
  return (performance.now() - start) / 1000;
}

const podCount = z.object({
  items: z.array(z.unknown()).nullable(),
  metadata: z.object({ remainingItemCount: z.number().default(0) }),
});

/** Asks for one pod and how many more there are: a watch, which is sent every pod, would be a twentieth of what is measured. */
async function untilNoPods(client: KubeClient, namespace: string): Promise<void> {
  const look = async () => {
    const { body } = await client.raw({
      path: `/api/v1/namespaces/${namespace}/pods?limit=1`,
      headers: { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" },
    });
    const { items, metadata } = podCount.parse(JSON.parse(body.toString("utf8")));
    const left = (items?.length ?? 0) + metadata.remainingItemCount;
    if (left > 50) await sleep(180);
    return left === 0;
  };
  await until(`pods of ${namespace} gone`, look, { timeoutMs: 600_000, everyMs: 20 });
}

const CONTAINERS: NonNullable<Pod["spec"]>["containers"] = [
  {
    name: "app",
    image: "localhost/pulumi-liqo/busybox:1",
    resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { cpu: "10m", memory: "16Mi" } },
  },
];

function deployment(namespace: string, name: string, replicas: number): Desired<Deployment> {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { terminationGracePeriodSeconds: 0, containers: CONTAINERS },
      },
    },
  };
}

/** A pod like those of the Deployments, by itself. */
export function singlePod(namespace: string, name: string): Desired<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: { terminationGracePeriodSeconds: 0, containers: CONTAINERS },
  };
}
