/** A control plane with the controller manager on it, in this process or one of its own, with the rights of its service account and no others. */
import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { splitCommandLine, readFlags } from "../../runtime/component/command-line";
import { startControllers } from "../../runtime/controller-manager/component";
import { controllerManagerFlags } from "../../runtime/controller-manager/flags";
import { type Clock, createLogger, KubeClient, silentLogger, systemClock } from "../../runtime/kube";
import { DeploymentName } from "../../runtime/plan/deployments";
import { liqoNamespace as liqoNamespaceManifest } from "../../runtime/plan/installation";
import type { Desired, KubeObject } from "../../runtime/api";
import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { installDefinitions } from "./install-definitions";
import { installRoles } from "./install-roles";
import { kindOf } from "./kind-of";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";

export interface ManagedClusterOptions {
  controlPlane: ControlPlane;
  clusterId: string;
  liqoNamespace: string;
  /** Where peers reach the API server; its own address by default. */
  address?: string;
  flags?: string[];
  /** Whether it has the networking's controllers; false by default. */
  networking?: boolean;
}

export class ManagedCluster {
  readonly admin: KubeClient;
  readonly clusterId: string;
  readonly liqoNamespace: string;
  /** User of the controller manager, as audit logs name it. */
  readonly user: string;
  private context: TestContext | undefined;
  private child: ChildProcess | undefined;
  /** Length of the log when the process began. */
  private logBegin = 0;

  private constructor(private readonly options: ManagedClusterOptions) {
    process.once("exit", () => this.child?.kill("SIGKILL"));
    this.admin = KubeClient.fromKubeconfig(options.controlPlane.kubeconfig, { userAgent: "test-admin" });
    this.clusterId = options.clusterId;
    this.liqoNamespace = options.liqoNamespace;
    this.user = `system:serviceaccount:${options.liqoNamespace}:${DeploymentName.controllerManager}`;
  }

  /** Installs definitions and roles; starts nothing. */
  static async install(options: ManagedClusterOptions): Promise<ManagedCluster> {
    const cluster = new ManagedCluster(options);
    await installDefinitions(cluster.admin);
    const { liqoNamespace } = options;
    await cluster.apply(liqoNamespaceManifest(liqoNamespace));
    await installRoles(cluster.admin, liqoNamespace, { networking: options.networking ?? false });
    return cluster;
  }

  get controlPlane(): ControlPlane {
    return this.options.controlPlane;
  }

  /** Starts the controllers, by a clock of their own if need be. `LIQO_TEST_LOG=info` shows their log. */
  async start(flags: string[] = [], clock: Clock = systemClock): Promise<void> {
    const kubeconfig = await this.kubeconfig();
    const level = process.env.LIQO_TEST_LOG;
    const log =
      level === "debug" || level === "info" || level === "warn"
        ? createLogger({ level, fields: { cluster: this.clusterId } })
        : silentLogger;
    this.context = testContext(kubeconfig, "controller-manager", log, clock);
    const line = splitCommandLine(this.words(flags));
    await startControllers(this.context, readFlags(line, controllerManagerFlags));
    await this.context.informers.whenSynced();
  }

  /** What the controllers in this process tell Prometheus, as text. */
  async metrics(): Promise<string> {
    return (await this.context?.metrics.metrics()) ?? "";
  }

  /** The value of one metric of the controllers in this process, its labels written as Prometheus does; undefined where there is none. */
  async metric(name: string): Promise<number | undefined> {
    const line = (await this.metrics()).split("\n").find((each) => each.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  }

  async stop(): Promise<void> {
    await this.context?.end();
    this.context = undefined;
  }

  /** Starts the controllers in a process of their own. */
  async spawn(): Promise<void> {
    const { folder } = this.options.controlPlane;
    const file = join(folder, "controller-manager.kubeconfig");
    await writeFile(file, await this.kubeconfig(), { mode: 0o600 });
    const log = openSync(this.logFile, "a");
    this.logBegin = (await stat(this.logFile)).size;
    const servers = ["--metrics-address=", "--health-probe-address="];
    this.child = spawn(
      process.execPath,
      [require.resolve("../../runtime/main"), ...this.words([`--kubeconfig=${file}`, ...servers])],
      { stdio: ["ignore", log, log] },
    );
  }

  /** Returns when the process of the controllers has started them. */
  async untilStarted(): Promise<void> {
    await until(`the controllers of ${this.clusterId} have started`, async () =>
      (await readFile(this.logFile)).subarray(this.logBegin).includes('"message":"started"'),
    );
  }

  private get logFile(): string {
    return join(this.options.controlPlane.folder, "liqo-controller-manager.log");
  }

  /** Ends the process of the controllers, at once or as Kubernetes does it; returns its exit status. */
  async kill(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined) return null;
    return await new Promise((resolve) => {
      child.once("exit", resolve);
      child.kill(signal);
    });
  }

  private words(flags: string[]): string[] {
    return [
      "controller-manager",
      `--cluster-id=${this.clusterId}`,
      `--liqo-namespace=${this.liqoNamespace}`,
      `--api-server-address-override=${this.options.address ?? this.options.controlPlane.url}`,
      `--networking-enabled=${this.options.networking ?? false}`,
      ...(this.options.flags ?? []),
      ...flags,
    ];
  }

  private async kubeconfig(): Promise<string> {
    return await this.options.controlPlane.kubeconfigFor({
      name: this.user,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${this.liqoNamespace}`],
    });
  }

  async end(): Promise<void> {
    await this.stop();
    await this.kill("SIGKILL");
    this.admin.close();
  }

  async apply(object: Desired<KubeObject>): Promise<void> {
    await this.admin.apply(kindOf(object), object, { fieldManager: "test-administrator", force: true });
  }
}
