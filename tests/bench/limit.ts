/**
 * `npm run bench -- limit [--pods 500,1000] [--rounds 3]`
 *
 * How fast pods could be offloaded if nothing had to be decided: two clusters without our runtime run the same Deployment, each on a fake node of
 * its own, and for each pod of the first one bare process writes what the contract asks for besides, a token there and a ShadowPod and a Secret at the
 * second. No webhook, no reflection, no status carried over. Beside it, in turns, the same Deployment on one plain cluster, as in `bench offload`:
 * the share that comes of it is the most that an implementation can reach on this machine.
 */
import { parseArgs } from "node:util";

import { Pod, Secret, ServiceAccount, TokenRequest } from "../../runtime/api/kubernetes";
import { ShadowPod } from "../../runtime/api/offloading";
import { KubeClient } from "../../runtime/kube/client";
import { InformerSet } from "../../runtime/kube/informer-set";
import { HOME_API_SERVER_HOST } from "../../runtime/virtual-kubelet/pods/api-server-support";
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
      for (let round = 0; round < Number(values.rounds); round++) {
        rates.plain.push(pods / (await plainRound(plain, pods)));
        rates.pair.push(pods / (await pairRound(first, second, pods)));
      }
      const shares = rates.pair.map((rate, i) => (100 * rate) / (rates.plain[i] ?? NaN));
      process.stdout.write(
        `${pods} pods, ${values.rounds} rounds, min / median / max: ${spread(rates.pair)} pods/s on both clusters with what the contract asks for, ` +
          `${spread(rates.plain)} pods/s on the plain one; share ${spread(shares)} %\n`,
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

async function plainRound({ client }: BenchCluster, pods: number): Promise<number> {
  const { seconds } = await deployAndWait(client, NAMESPACE, `app-${pods}`, pods);
  await deleteAndWait(client, NAMESPACE, `app-${pods}`);
  return seconds;
}

async function pairRound(first: BenchCluster, second: BenchCluster, pods: number): Promise<number> {
  const name = `app-${pods}`;
  const creator = KubeClient.fromKubeconfig(
    await second.controlPlane.kubeconfigFor({ name: CREATOR, groups: ["system:masters"] }),
  );
  const writer = new ContractWriter(first.client, creator);
  const start = performance.now();
  await writer.start();
  await Promise.all([
    ...[first, second].map(({ client }) => deployAndWait(client, NAMESPACE, name, pods)),
    until("all is written", () => writer.written >= pods, { timeoutMs: 600_000, everyMs: 10 }),
  ]);
  const seconds = (performance.now() - start) / 1000;
  await writer.stop();
  await Promise.all([first, second].map(({ client }) => deleteAndWait(client, NAMESPACE, name)));
  await writer.removeAll();
  creator.close();
  return seconds;
}

function specOf(pod: Pod, remoteLabels: Record<string, string>) {
  return shadowPodSpec(
    { name: pod.metadata.name, spec: pod.spec, remoteLabels },
    { consumerId: "rome", apiServer: { host: HOME_API_SERVER_HOST, port: "443", addresses: [] } },
  );
}

/** Writes a token, a ShadowPod and a Secret for each pod that is bound. */
class ContractWriter {
  written = 0;
  private readonly informers: InformerSet;
  private readonly waiting: Pod[] = [];
  private readonly seen = new Set<string>();
  private readonly names: string[] = [];
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
      this.waiting.push(pod);
      this.go();
    };
    pods.on({ added: consider, updated: (_before, after) => consider(after) });
    await pods.whenSynced();
  }

  stop(): Promise<void> {
    return this.informers.stop();
  }

  async removeAll(): Promise<void> {
    const remove = async (name: string) => {
      await this.provider.delete(ShadowPod, { name, namespace: NAMESPACE });
      await this.provider.delete(Secret, { name: `${name}-token`, namespace: NAMESPACE });
    };
    for (let at = 0; at < this.names.length; at += WRITERS)
      await Promise.all(this.names.slice(at, at + WRITERS).map(remove));
  }

  private go(): void {
    while (this.active < WRITERS) {
      const pod = this.waiting.shift();
      if (pod === undefined) return;
      this.active++;
      void this.write(pod).finally(() => {
        this.active--;
        this.written++;
        this.go();
      });
    }
  }

  private async write(pod: Pod): Promise<void> {
    const { name, uid } = pod.metadata;
    this.names.push(name);
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
