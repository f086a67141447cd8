/** Clusters `rome` and `milan`, API servers only, with a virtual kubelet of rome's in a process of its own and pods that a player runs at milan. */
import { join } from "node:path";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { freePorts } from "../../provider/local-cluster/free-port";
import { type Desired, Event, Node, Pod, ShadowPod } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { providerControllers } from "../../runtime/offloading";
import { auditEvents, countRequests } from "./audit-log";
import { LIQO, OffloadingPair, TOLERATION } from "./offloading-pair";
import { PodPlayer } from "./pod-player";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";
import { VirtualKubeletProcess } from "./virtual-kubelet-process";
import { withControlPlanes } from "./with-control-planes";

/** The virtual node. */
export const NODE = "milan-pool";
/** The offloaded namespace, and its other end. */
export const [HERE, THERE] = ["shop", "shop-rome"];
const AGENT = "liqo-virtual-kubelet";

/** For a mocha suite: the lab, started before its tests and stopped after them. Call it inside `describe`, and use it inside hooks and tests. */
export function withVirtualKubelet(): VirtualKubeletLab {
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, auditLog: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, auditLog: true, serviceCidr: "10.98.0.0/16" },
  });
  const lab = new VirtualKubeletLab(controlPlane);
  before(async function () {
    this.timeout(120_000);
    await lab.start();
  });
  after(() => lab.stop());
  return lab;
}

export class VirtualKubeletLab {
  pair!: OffloadingPair;
  player!: PodPlayer;
  /** Set it to the one that took its place. */
  kubelet!: VirtualKubeletProcess;
  /** From the VirtualNode to its Node. */
  nodeAfterMs = 0;
  private provider?: TestContext;
  /** Of the kubelet endpoints, by replica: the node shows them. */
  private readonly ports = new Map<string, number>();

  constructor(readonly controlPlane: (name: "rome" | "milan") => ControlPlane) {}

  get rome(): KubeClient {
    return this.pair.rome;
  }

  get milan(): KubeClient {
    return this.pair.milan;
  }

  async start(): Promise<void> {
    const milan = this.controlPlane("milan");
    this.pair = new OffloadingPair({ rome: this.controlPlane("rome"), milan });
    await this.pair.prepare();
    this.provider = testContext(milan.kubeconfig, "controller-manager");
    providerControllers(this.provider, { clusterID: "milan" });
    this.player = await PodPlayer.start(this.milan, "milan-worker");
    await this.pair.offload(HERE, THERE);
    for (const port of await freePorts(3)) this.ports.set(`vk-${this.ports.size}`, port);
    this.kubelet = await this.startKubelet("vk-0");
    const begin = performance.now();
    await this.pair.virtualNode(NODE, {
      labels: { region: "north" },
      storageClasses: [{ storageClassName: "fast" }],
    });
    await until("the node is there", () => this.rome.get(Node, { name: NODE }));
    this.nodeAfterMs = performance.now() - begin;
  }

  async stop(): Promise<void> {
    await (this.kubelet as VirtualKubeletProcess | undefined)?.end("SIGKILL");
    await (this.player as PodPlayer | undefined)?.stop();
    await this.provider?.end();
    (this.pair as OffloadingPair | undefined)?.close();
  }

  async startKubelet(replica: string, ...flags: string[]): Promise<VirtualKubeletProcess> {
    return await VirtualKubeletProcess.start({
      kubeconfig: await this.pair.kubeconfigOfVirtualKubelet(),
      logFile: join(this.controlPlane("rome").folder, `virtual-kubelet-${replica}.log`),
      flags: [
        "--cluster-id=rome",
        `--liqo-namespace=${LIQO}`,
        `--pod-name=${replica}`,
        `--listen-port=${this.ports.get(replica) ?? 0}`,
        "--certificate-type=self-signed",
        ...flags,
      ],
    });
  }

  local(name: string, namespace = HERE): Promise<Pod | undefined> {
    return this.rome.get(Pod, { name, namespace });
  }

  shadow(name: string): Promise<ShadowPod | undefined> {
    return this.milan.get(ShadowPod, { name, namespace: THERE });
  }

  remote(name: string): Promise<Pod | undefined> {
    return this.milan.get(Pod, { name, namespace: THERE });
  }

  running(name: string): Promise<Pod> {
    return until(`${name} runs`, async () => {
      const found = await this.local(name);
      return found?.status?.phase === "Running" ? found : undefined;
    });
  }

  async eventsOf(name: string): Promise<Event[]> {
    return (await this.rome.list(Event, { namespace: HERE })).filter(
      ({ involvedObject }) => involvedObject.name === name,
    );
  }

  /** Requests of the virtual kubelet at both clusters since a time, as `rome: patch pods/status` with their number. */
  requests(from: number, writesOnly = true): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const cluster of ["rome", "milan"] as const) {
      const events = auditEvents(this.controlPlane(cluster).auditLogPath ?? "", from).filter(
        ({ userAgent = "", verb }) =>
          userAgent.startsWith(AGENT) && !(writesOnly && ["get", "list", "watch"].includes(verb)),
      );
      for (const [what, count] of countRequests(events)) {
        // Leases are renewed, and the provider is asked whether it lives, at their own pace.
        if (!what.endsWith("leases") && what !== "get -") counts[`${cluster}: ${what}`] = count;
      }
    }
    return counts;
  }
}

/** A pod of the offloaded namespace, bound to the virtual node. */
export function podOf(
  name: string,
  changes: { spec?: Partial<Pod["spec"]>; metadata?: Partial<Pod["metadata"]> } = {},
): Desired<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: HERE, labels: { app: name }, ...changes.metadata },
    spec: {
      nodeName: NODE,
      tolerations: [TOLERATION],
      terminationGracePeriodSeconds: 30,
      automountServiceAccountToken: false,
      containers: [{ name: "app", image: "app:1" }],
      ...changes.spec,
    },
  };
}

/** Until a look finds nothing. */
export async function gone(what: string, look: () => Promise<unknown>): Promise<void> {
  await until(`${what} is gone`, async () => (await look()) === undefined);
}
