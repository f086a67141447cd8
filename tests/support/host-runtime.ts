/**
 * The runtime as processes of this machine against a control plane without nodes: the objects of a real installation, its Deployments' own
 * flags and environment, and the rights of its service accounts. Only the pods are missing.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { CustomResourceDefinition, type Deployment } from "../../runtime/api/kubernetes";
import type { Desired } from "../../runtime/api/meta";
import { KubeClient } from "../../runtime/kube";
import { installation } from "../../runtime/plan/installation";
import type { InstallationSettings } from "../../runtime/plan/installation-settings";
import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { freePorts } from "../../provider/local-cluster/free-port";
import { accountKubeconfig } from "./account-kubeconfig";
import { installDefinitions } from "./install-definitions";
import { kindOf } from "./kind-of";

export type ComponentName = "controller-manager" | "virtual-kubelet" | "webhook";

interface HostProcess {
  component: ComponentName;
  child: ChildProcess;
  healthPort: number;
}

export interface HostRuntimeOptions {
  cluster: ControlPlane;
  clusterId: string;
  namespace: string;
  settings?: Partial<InstallationSettings>;
  /** Appended to a component's flags. */
  flags?: Partial<Record<ComponentName, string[]>>;
}

/** One cluster's runtime. Every process can be killed and started again. */
export class HostRuntime {
  private readonly processes = new Map<ComponentName, HostProcess>();
  private readonly deployments = new Map<ComponentName, Desired<Deployment>>();

  private constructor(private readonly options: HostRuntimeOptions) {}

  /** Installs the objects and starts all components; returns when all are ready. */
  static async start(options: HostRuntimeOptions): Promise<HostRuntime> {
    const runtime = new HostRuntime(options);
    await runtime.install();
    await Promise.all([...runtime.deployments.keys()].map((component) => runtime.startComponent(component)));
    return runtime;
  }

  pid(component: ComponentName): number {
    const pid = this.processes.get(component)?.child.pid;
    if (pid === undefined) throw new Error(`${component} does not run`);
    return pid;
  }

  components(): ComponentName[] {
    return [...this.processes.keys()];
  }

  logFile(component: ComponentName): string {
    return join(this.options.cluster.folder, `liqo-${component}.log`);
  }

  /** SIGKILL, as when the kernel or a node takes the process away. */
  async kill(component: ComponentName): Promise<void> {
    const running = this.processes.get(component);
    if (running === undefined) return;
    this.processes.delete(component);
    await new Promise<void>((resolve) => {
      running.child.once("exit", () => resolve());
      running.child.kill("SIGKILL");
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.components().map((component) => this.kill(component)));
  }

  /** Starts one component; returns when it says that it is ready. */
  async startComponent(component: ComponentName): Promise<void> {
    const { cluster, clusterId, namespace, flags, settings } = this.options;
    const deployment = this.deployments.get(component);
    const container = deployment?.spec?.template?.spec?.containers?.[0];
    if (deployment === undefined || container === undefined)
      throw new Error(`the installation has no ${component}`);
    const account = deployment.spec?.template?.spec?.serviceAccountName ?? "";
    const kubeconfig = join(cluster.folder, `${account}.kubeconfig`);
    await writeFile(kubeconfig, await this.credentials(account), { mode: 0o600 });
    const [healthPort = 0, metricsPort = 0, servicePort = 0] = await freePorts(3);
    const values: Record<string, string> = {
      CLUSTER_ID: clusterId,
      POD_NAME: `${account}-0`,
      POD_NAMESPACE: namespace,
      POD_IP: "127.0.0.1",
      ...(settings?.telemetryIdentity !== undefined && { TELEMETRY_IDENTITY: settings.telemetryIdentity }),
    };
    const args = (container.args ?? []).map((arg) =>
      String(arg).replace(/\$\((\w+)\)/g, (_all, name: string) => values[name] ?? ""),
    );
    const nodeOptions = container.env?.find((variable) => variable?.name === "NODE_OPTIONS")?.value ?? "";
    const log = openSync(this.logFile(component), "a");
    const child = spawn(
      process.execPath,
      [
        require.resolve("../../runtime/main"),
        ...args,
        `--kubeconfig=${kubeconfig}`,
        `--health-probe-address=127.0.0.1:${healthPort}`,
        `--metrics-address=127.0.0.1:${metricsPort}`,
        ...(component === "virtual-kubelet" ? [`--listen-port=${servicePort}`] : []),
        ...(component === "webhook"
          ? [`--webhook-port=${servicePort}`, `--webhook-url=https://127.0.0.1:${servicePort}`]
          : []),
        ...(flags?.[component] ?? []),
      ],
      { stdio: ["ignore", log, log], env: { PATH: process.env.PATH, ...values, NODE_OPTIONS: nodeOptions } },
    );
    endWithThisProcess(child);
    this.processes.set(component, { component, child, healthPort });
    await this.untilReady(component);
  }

  private async credentials(account: string): Promise<string> {
    const { cluster, namespace } = this.options;
    const admin = KubeClient.fromKubeconfig(cluster.kubeconfig);
    try {
      return await accountKubeconfig(admin, cluster, { name: account, namespace });
    } finally {
      admin.close();
    }
  }

  private async untilReady(component: ComponentName): Promise<void> {
    const deadline = Date.now() + 60_000;
    const running = this.processes.get(component);
    while (running !== undefined && Date.now() < deadline) {
      if (running.child.exitCode !== null) break;
      const answer = await fetch(`http://127.0.0.1:${running.healthPort}/readyz`).catch(() => undefined);
      if (answer?.ok === true) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const end = readFileSync(this.logFile(component), "utf8").slice(-3_000);
    throw new Error(
      `${component} of ${this.options.clusterId} did not become ready; the end of its log:\n${end}`,
    );
  }

  private async install(): Promise<void> {
    const { cluster, clusterId, namespace, settings } = this.options;
    const client = KubeClient.fromKubeconfig(cluster.kubeconfig);
    try {
      await installDefinitions(client);
      const manifests = installation({ clusterId, namespace, image: "host", ...settings });
      for (const manifest of manifests) {
        if (manifest.kind === CustomResourceDefinition.kind) continue;
        if (manifest.kind === "Deployment") {
          const deployment = manifest as unknown as Desired<Deployment>;
          const component = deployment.spec?.template?.spec?.containers?.[0]?.args?.[0];
          if (
            component === "controller-manager" ||
            component === "virtual-kubelet" ||
            component === "webhook"
          ) {
            this.deployments.set(component, deployment);
          }
          continue;
        }
        await client.apply(kindOf(manifest), manifest, { fieldManager: "test-installation", force: true });
      }
    } finally {
      client.close();
    }
  }
}

const children = new Set<ChildProcess>();
process.once("exit", () => children.forEach((running) => running.kill("SIGKILL")));

/** However the test ends, its processes do too. */
function endWithThisProcess(child: ChildProcess): void {
  children.add(child);
  child.once("exit", () => children.delete(child));
}
