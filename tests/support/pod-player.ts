/** Plays scheduler and kubelet of one node for the pods of a control plane without nodes: binds them, reports them Running, ends them. */
import { Node, Pod } from "../../runtime/api";
import { isConflict, isNotFound, type KubeClient, InformerSet } from "../../runtime/kube";

export interface PlayedStatus {
  phase: string;
  restartCount?: number;
}

export class PodPlayer {
  /** Pods that are not reported Running by themselves. */
  readonly held = new Set<string>();
  /** Pods that take this long to end, in milliseconds. */
  endAfterMs = 0;
  private readonly informers: InformerSet;
  private readonly taken = new Set<string>();
  private readonly addresses = new Map<string, string>();
  private heartbeat: NodeJS.Timeout | undefined;

  private constructor(
    private readonly client: KubeClient,
    private readonly node: string,
  ) {
    this.informers = new InformerSet(client);
  }

  static async start(client: KubeClient, node: string): Promise<PodPlayer> {
    await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: node } });
    const player = new PodPlayer(client, node);
    await player.live();
    player.heartbeat = setInterval(() => void player.live().catch(() => undefined), 5_000);
    const pods = player.informers.informer(Pod);
    pods.on({
      added: (pod) => player.consider(pod),
      updated: (_before, pod) => player.consider(pod),
    });
    await pods.whenSynced();
    return player;
  }

  async stop(): Promise<void> {
    clearInterval(this.heartbeat);
    await this.informers.stop();
  }

  /** Reports a status of a pod, as a kubelet does. */
  async report(pod: Pod, { phase, restartCount = 0 }: PlayedStatus): Promise<void> {
    const uid = pod.metadata.uid ?? "";
    const ip =
      this.addresses.get(uid) ??
      `10.201.${(this.addresses.size + 1) >> 8}.${(this.addresses.size + 1) & 255}`;
    this.addresses.set(uid, ip);
    const ready = phase === "Running" ? "True" : "False";
    const state =
      phase === "Running"
        ? { running: { startedAt: now() } }
        : { terminated: { exitCode: phase === "Succeeded" ? 0 : 1, startedAt: now(), finishedAt: now() } };
    const status = {
      phase,
      hostIP: "127.0.0.1",
      hostIPs: [{ ip: "127.0.0.1" }],
      podIP: ip,
      podIPs: [{ ip }],
      startTime: now(),
      conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
        type,
        status: type === "PodScheduled" || type === "Initialized" ? "True" : ready,
        lastTransitionTime: now(),
      })),
      containerStatuses: pod.spec.containers.map(({ name, image = "" }) => ({
        name,
        image,
        imageID: "",
        ready: phase === "Running",
        started: phase === "Running",
        restartCount,
        state,
      })),
    };
    const { name, namespace } = pod.metadata;
    await this.client.patch(
      Pod,
      { name, namespace },
      { status },
      { type: "strategic", subresource: "status" },
    );
  }

  /** Otherwise the node lifecycle controller would declare the pods not ready. */
  private async live(): Promise<void> {
    const ready = { type: "Ready", status: "True", reason: "Played", lastHeartbeatTime: now() };
    await this.client.patch(
      Node,
      { name: this.node },
      { status: { conditions: [ready] } },
      { type: "strategic", subresource: "status" },
    );
  }

  private consider(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    if (pod.metadata.deletionTimestamp != null) {
      setTimeout(() => void this.end(pod), this.endAfterMs);
    } else if (!this.taken.has(uid)) {
      this.taken.add(uid);
      void tolerant(this.run(pod));
    }
  }

  private async run(pod: Pod): Promise<void> {
    const { name, namespace } = pod.metadata;
    if (pod.spec.nodeName === undefined) {
      const target = { apiVersion: "v1", kind: "Node", name: this.node };
      const binding = { apiVersion: "v1", kind: "Binding", metadata: { name }, target };
      await this.client.createSubresource(Pod, { name, namespace }, "binding", binding, (answer) => answer);
    }
    if (!this.held.has(name)) await this.report(pod, { phase: "Running" });
  }

  private async end(pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    await tolerant(this.client.delete(Pod, { name, namespace }, { uid, gracePeriodSeconds: 0 }));
  }
}

async function tolerant(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}
