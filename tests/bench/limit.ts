/**
 * `npm run bench -- limit [--pods 500,1000] [--rounds 3]`
 *
 * How fast pods could be offloaded if nothing had to be decided: two clusters without our runtime run the same Deployment, each on a fake node of
 * its own, and for each pod of the first one bare process writes what the contract asks for besides, a token there and a ShadowPod and a Secret at the
 * second. No webhook, no reflection, no status carried over. Then both Deployments are deleted at once, and with each pod of the first its ShadowPod;
 * Secrets follow when all is over. Beside it, in turns, the same Deployment on one plain cluster, as in `bench offload`: what comes of it is the most
 * that an implementation can reach on this machine.
 */
import { parseArgs } from "node:util";

import { Pod, Secret, ServiceAccount, TokenRequest } from "../../runtime/api/kubernetes";
import { ShadowPod } from "../../runtime/api/offloading";
import { InformerSet, KubeClient } from "../../runtime/kube";

import { HOME_API_SERVER_HOST } from "../../runtime/virtual-kubelet/pods/api-server-access";
import { shadowPodSpec } from "../../runtime/virtual-kubelet/pods/shadow-pod-spec";
import { installDefinitions } from "../support/install-definitions";
import { spread } from "../support/statistics";
import { until } from "../support/until";
import { type BenchCluster, benchCluster, fakeNodes } from "./fake-fleet";
import { createNamespace, deleteAndWait, deployAndWait } from "./workload";

const NAMESPACE = "bench";
/** As the virtual kubelet has them. */
const CREATOR = "milan-a8a4c692b93b";
const WRITERS = 16;

export async function limit(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { pods: { type: "string", default: "500,1000" }, rounds: { type: "string", default: "3" } },
  });
  const sizes = values.pods.split(",").map(Number);
  const most = Math.max(...sizes);
  const [plain, first, second] = await Promise.all([
    clusterWithNode("plain", "10.93.0.0/16", most),
    clusterWithNode("rome", "10.91.0.0/16", most),
    clusterWithNode("milan", "10.92.0.0/20", most),
  ]);
  try {
    await installDefinitions(second.client);
    for (const pods of sizes) {
      const rates: { plain: number[]; pair: number[] } = { plain: [], pair: [] };
      const deletions: { plain: number[]; pair: number[] } = { plain: [], pair: [] };
      for (let round = 0; round < Number(values.rounds); round++) {
        const alone = await plainRound(plain, pods);
        const both = await pairRound(first, second, pods);
        rates.plain.push(pods / alone.seconds);
        rates.pair.push(pods / both.seconds);
        deletions.plain.push(alone.deletionSeconds);
        deletions.pair.push(both.deletionSeconds);
      }
      const shares = rates.pair.map((rate, i) => (100 * rate) / (rates.plain[i] ?? NaN));
      process.stdout.write(
        `${pods} pods, ${values.rounds} rounds, min / median / max: ${spread(rates.pair)} pods/s on both clusters with what the contract asks for, ` +
          `${spread(rates.plain)} pods/s on the plain one; share ${spread(shares)} %\n` +
          `  deleted in ${spread(deletions.pair)} s, on the plain one in ${spread(deletions.plain)} s\n`,
      );
    }
  } finally {
    await Promise.all([plain, first, second].map((cluster) => cluster.stop()));
  }
}

async function clusterWithNode(name: string, serviceCidr: string, pods: number): Promise<BenchCluster> {
  const cluster = await benchCluster(name, serviceCidr);
  const node = await fakeNodes(cluster.controlPlane, 1, pods + 100);
  await createNamespace(cluster.client, NAMESPACE);
  await until("default service account", () =>
    cluster.client.get(ServiceAccount, { name: "default", namespace: NAMESPACE }),
  );
  return {
    ...cluster,
    stop: async () => {
      node.kill("SIGKILL");
      await cluster.stop();
    },
  };
}

interface Round {
  seconds: number;
  /** Until the pods are gone, and their ShadowPods where there are any. */
  deletionSeconds: number;
}

async function plainRound({ client }: BenchCluster, pods: number): Promise<Round> {
  const { seconds } = await deployAndWait(client, NAMESPACE, `app-${pods}`, pods);
  return { seconds, deletionSeconds: await deleteAndWait(client, NAMESPACE, `app-${pods}`) };
}

async function pairRound(first: BenchCluster, second: BenchCluster, pods: number): Promise<Round> {
  const name = `app-${pods}`;
  const creator = KubeClient.fromKubeconfig(
    await second.controlPlane.kubeconfigFor({ name: CREATOR, groups: ["system:masters"] }),
  );
  const writer = new ContractWriter(first.client, creator);
  await writer.start();
  const seconds = await timed(() => [
    ...[first, second].map(({ client }) => deployAndWait(client, NAMESPACE, name, pods)),
    until("all is written", () => writer.written >= pods, { timeoutMs: 600_000, everyMs: 10 }),
  ]);
  const deletionSeconds = await timed(() => [
    ...[first, second].map(({ client }) => deleteAndWait(client, NAMESPACE, name)),
    until("all ShadowPods are gone", () => writer.removed >= pods, { timeoutMs: 600_000, everyMs: 10 }),
  ]);
  await writer.stop();
  await writer.removeSecrets();
  creator.close();
  return { seconds, deletionSeconds };
}

async function timed(work: () => Promise<unknown>[]): Promise<number> {
  const start = performance.now();
  await Promise.all(work());
  return (performance.now() - start) / 1000;
}

function specOf(pod: Pod, remoteLabels: Record<string, string>) {
  return shadowPodSpec(
    { name: pod.metadata.name, spec: pod.spec, remoteLabels },
    { consumerId: "rome", apiServer: { host: HOME_API_SERVER_HOST, port: "443", addresses: [] } },
  );
}

/** Writes a token, a ShadowPod and a Secret for each pod that is bound, and deletes the ShadowPod of each that goes. */
class ContractWriter {
  written = 0;
  removed = 0;
  private readonly informers: InformerSet;
  private readonly waiting: (() => Promise<void>)[] = [];
  private readonly seen = new Set<string>();
  private active = 0;

  constructor(
    private readonly consumer: KubeClient,
    private readonly provider: KubeClient,
  ) {
    this.informers = new InformerSet(consumer);
  }

  async start(): Promise<void> {
    const pods = this.informers.informer(Pod, { namespace: NAMESPACE });
    const consider = (pod: Pod) => {
      if ((pod.spec.nodeName ?? "") === "" || this.seen.has(pod.metadata.name)) return;
      this.seen.add(pod.metadata.name);
      this.do(() => this.write(pod));
    };
    pods.on({
      added: consider,
      updated: (_before, after) => consider(after),
      deleted: ({ metadata }) => this.do(() => this.remove(metadata.name)),
    });
    await pods.whenSynced();
  }

  stop(): Promise<void> {
    return this.informers.stop();
  }

  async removeSecrets(): Promise<void> {
    const remove = (name: string) =>
      this.provider.delete(Secret, { name: `${name}-token`, namespace: NAMESPACE });
    const names = [...this.seen];
    for (let at = 0; at < names.length; at += WRITERS)
      await Promise.all(names.slice(at, at + WRITERS).map(remove));
  }

  private do(work: () => Promise<void>): void {
    this.waiting.push(work);
    this.go();
  }

  private go(): void {
    while (this.active < WRITERS) {
      const work = this.waiting.shift();
      if (work === undefined) return;
      this.active++;
      void work().finally(() => {
        this.active--;
        this.go();
      });
    }
  }

  private async remove(name: string): Promise<void> {
    await this.provider.delete(ShadowPod, { name, namespace: NAMESPACE });
    this.removed++;
  }

  private async write(pod: Pod): Promise<void> {
    const { name, uid } = pod.metadata;
    const labels = {
      ...pod.metadata.labels,
      "offloading.liqo.io/nodename": "milan",
      "offloading.liqo.io/origin": "rome",
      "offloading.liqo.io/destination": "milan",
      "liqo.io/creator-user": CREATOR,
    };
    await Promise.all([
      this.provider.createForMetadata(ShadowPod, {
        apiVersion: ShadowPod.apiVersion,
        kind: ShadowPod.kind,
        metadata: { name, namespace: NAMESPACE, labels },
        spec: { pod: specOf(pod, labels) },
      }),
      this.token(name, uid).then((token) =>
        this.provider.createForMetadata(Secret, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: `${name}-token`, namespace: NAMESPACE, labels },
          type: "Opaque",
          data: { token: Buffer.from(token).toString("base64") },
        }),
      ),
    ]);
    this.written++;
  }

  private async token(name: string, uid: string | undefined): Promise<string> {
    const { apiVersion, kind } = TokenRequest;
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name, uid };
    const { status } = await this.consumer.createSubresource(
      ServiceAccount,
      { name: "default", namespace: NAMESPACE },
      "token",
      { apiVersion, kind, spec: { expirationSeconds: 3607, boundObjectRef } },
      (answer) => TokenRequest.parse(answer),
    );
    return status?.token ?? "";
  }
}
