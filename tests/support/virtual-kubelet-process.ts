import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { freePorts } from "../../provider/local-cluster/free-port";
import { kubeconfigOf } from "./install-roles";
import type { ManagedCluster } from "./managed-cluster";
import { until } from "./until";

export interface VirtualKubeletOptions {
  /** Path. */
  kubeconfig: string;
  /** Appended to. */
  logFile: string;
  flags: string[];
}

/** A virtual kubelet in a process of its own. */
export class VirtualKubeletProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly options: VirtualKubeletOptions,
    private readonly port: number,
  ) {}

  /** Resolves when the process says that it is ready. */
  static async start(options: VirtualKubeletOptions): Promise<VirtualKubeletProcess> {
    const [port = 0] = await freePorts(1);
    const log = openSync(options.logFile, "a");
    const address = `127.0.0.1:${port}`;
    const child = spawn(
      process.execPath,
      [
        join(__dirname, "../../runtime/main.js"),
        "virtual-kubelet",
        `--kubeconfig=${options.kubeconfig}`,
        `--metrics-address=${address}`,
        `--health-probe-address=${address}`,
        "--log-level=debug",
        ...options.flags,
      ],
      { stdio: ["ignore", log, log] },
    );
    const killAtExit = () => child.kill("SIGKILL");
    process.once("exit", killAtExit);
    child.once("exit", () => process.removeListener("exit", killAtExit));
    const started = new VirtualKubeletProcess(child, options, port);
    await until("the virtual kubelet is ready", async () => {
      if (child.exitCode !== null) throw new Error(started.log().slice(-4000));
      return (await fetch(`http://${address}/readyz`)).ok;
    });
    return started;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  log(): string {
    return readFileSync(this.options.logFile, "utf8");
  }

  async metrics(): Promise<string> {
    return await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text();
  }

  /** SIGKILL is what a node that fails does; SIGTERM is a rollout. Resolves when the process is gone. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => this.child.once("exit", () => resolve()));
    this.child.kill(signal);
    await gone;
  }
}

/** The virtual kubelet of a cluster, with the rights of its service account and no others. */
export async function startVirtualKubelet(cluster: ManagedCluster): Promise<VirtualKubeletProcess> {
  const { clusterId, liqoNamespace, controlPlane } = cluster;
  const kubeconfig = join(controlPlane.folder, "virtual-kubelet.kubeconfig");
  const text = await kubeconfigOf(controlPlane, liqoNamespace, "liqo-virtual-kubelet");
  await writeFile(kubeconfig, text, { mode: 0o600 });
  const [port = 0] = await freePorts(1);
  return await VirtualKubeletProcess.start({
    kubeconfig,
    logFile: join(controlPlane.folder, "virtual-kubelet.log"),
    flags: [
      `--cluster-id=${clusterId}`,
      `--liqo-namespace=${liqoNamespace}`,
      "--pod-name=vk-0",
      `--listen-port=${port}`,
      "--certificate-type=self-signed",
    ],
  });
}
