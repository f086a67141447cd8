/**
 * Three real clusters whose networks are connected by their components: rome with milan, whose networks differ in everything, and rome with turin, whose
 * pods have the very same addresses, and who reach each other's API servers through the tunnel only.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Stack } from "@pulumi/pulumi/automation";

import { upCluster } from "../../provider/local-cluster/local-clusters";
import { type LocalImages, localImages } from "../../provider/local-cluster/local-images";
import { type CommandOptions, runCommand } from "../../provider/local-cluster/run-command";
import type { RunningCluster } from "../../provider/local-cluster/running-cluster";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import { KubeClient } from "../../runtime/kube";
import { ownCheckout } from "./local-checkout";
import { networkedProgram, type Parts, type Side, SIDES, SPECS } from "./networked-program";
import { type PulumiProject, pulumiProject } from "./pulumi-project";

export class NetworkedClusters {
  readonly clients: Record<Side, KubeClient>;

  private constructor(
    readonly running: Record<Side, RunningCluster>,
    readonly images: LocalImages,
    private readonly project: PulumiProject,
    private readonly folder: string,
    private readonly kubectlPath: string,
  ) {
    this.clients = {
      rome: KubeClient.fromKubeconfig(running.rome.kubeconfig),
      milan: KubeClient.fromKubeconfig(running.milan.kubeconfig),
      turin: KubeClient.fromKubeconfig(running.turin.kubeconfig),
    };
    for (const side of SIDES) {
      writeFileSync(this.kubeconfigFile(side), running[side].kubeconfig, { mode: 0o600 });
    }
  }

  /** For a mocha suite; the clusters are there from `before` hooks on, with nothing installed on them. */
  static forSuite(): () => NetworkedClusters {
    const checkout = ownCheckout("np");
    let clusters: NetworkedClusters | undefined;
    before(async function () {
      this.timeout(40 * 60_000); // the first run on a machine builds the tools
      const progress = (line: string) => console.log(`    ${line}`);
      const tools = await ensureTools(["kubernetes", "etcd", "coredns"], { progress });
      const images = await localImages(progress);
      const archives = [images.runtime.file, images.busybox.file];
      const up = (name: Side) => {
        const { nodes, podCidr, serviceCidr } = SPECS[name];
        return upCluster({ name, nodes, podCidr, serviceCidr, images: archives }, { progress });
      };
      const [rome, milan, turin, project] = await Promise.all([
        up("rome"),
        up("milan"),
        up("turin"),
        pulumiProject("networks", { progress, resourcePlugins: ["kubernetes", "random"] }),
      ]);
      const running = { rome, milan, turin };
      clusters = new NetworkedClusters(running, images, project, checkout.folder, tools.of("kubectl"));
    });
    after(() => clusters?.end());
    return () => {
      if (clusters === undefined)
        throw new Error("the clusters are not running yet; use them inside a hook or a test");
      return clusters;
    };
  }

  nodes(): [Side, string][] {
    return SIDES.flatMap((side) => this.running[side].nodeNames.map((node): [Side, string] => [side, node]));
  }

  /** The stack that connects them, with these parts. */
  stack(parts: Parts = {}): Promise<Stack> {
    const { running, images } = this;
    return this.project.stack("networks", () =>
      Promise.resolve(networkedProgram(running, images.runtime.name, parts)),
    );
  }

  async kubectl(side: Side, args: readonly string[], options: CommandOptions): Promise<string> {
    return await runCommand(this.kubectlPath, ["--kubeconfig", this.kubeconfigFile(side), ...args], options);
  }

  private kubeconfigFile(side: Side): string {
    return join(this.folder, `${side}.kubeconfig`);
  }

  /** The clusters themselves go with the suite's checkout. */
  private end(): void {
    for (const client of Object.values(this.clients)) client.close();
    this.project.remove();
  }
}
