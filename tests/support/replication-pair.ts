/**
 * The consumer `rome`, which replicates to the provider `milan` by a connection that a test can break. No provider's controllers run: what
 * arrives is the replicator's alone.
 */
import { ResourceSlice } from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import type { ManagedCluster } from "./managed-cluster";
import { installPair } from "./managed-pair";
import { PeeringSteps } from "./peering-steps";
import { TcpProxy } from "./tcp-proxy";
import { until } from "./until";
import { withControlPlanes } from "./with-control-planes";

const toMilan: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
/** Whom the provider knows the replicator as. */
export const REPLICATOR = "rome-replicator";
export const atMilan = (name: string) => ({ name, namespace: "guests-from-rome" });
export const atRome = (name: string) => ({ name, namespace: "to-milan" });

export class ReplicationPair {
  readonly steps: PeeringSteps;

  private constructor(
    readonly rome: ManagedCluster,
    readonly milan: ManagedCluster,
    readonly proxy: TcpProxy,
  ) {
    this.steps = new PeeringSteps(rome, milan, toMilan, "pool");
  }

  /** For a mocha suite; the pair is there from `before` hooks on, rome's controllers running, and nothing connected yet. */
  static forSuite(): () => ReplicationPair {
    let pair: ReplicationPair | undefined;
    after(() => pair?.end());
    const controlPlane = withControlPlanes({
      rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
      milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
    });
    before(async () => {
      const [rome, milan] = await installPair(controlPlane);
      pair = new ReplicationPair(rome, milan, await proxyTo(milan));
      await pair.start();
      await pair.steps.namespaces();
      await pair.steps.roleBinding(REPLICATOR);
    });
    return () => {
      if (pair === undefined)
        throw new Error("the clusters are not running yet; use them inside a hook or a test");
      return pair;
    };
  }

  /** Starts rome's controllers. */
  async start(): Promise<void> {
    await this.rome.start(["--foreign-cluster-ping-interval=1s", "--foreign-cluster-ping-timeout=500ms"]);
  }

  /** Gives rome the replicator's credentials at milan. */
  async connect(): Promise<void> {
    await this.steps.handmadeSecret(await this.kubeconfigThrough(this.proxy));
  }

  async kubeconfigThrough({ port }: TcpProxy): Promise<string> {
    const kubeconfig = await this.milan.controlPlane.kubeconfigFor({ name: REPLICATOR });
    return kubeconfig.replace(/server: .*/, `server: https://127.0.0.1:${port}`);
  }

  /** Removes what there is on both sides; the replicator keeps its rights. */
  async clear(): Promise<void> {
    await this.steps.remove();
    await this.steps.roleBinding(REPLICATOR);
  }

  source(name: string): Promise<ResourceSlice | undefined> {
    return this.rome.admin.get(ResourceSlice, atRome(name));
  }

  copy(name: string): Promise<ResourceSlice | undefined> {
    return this.milan.admin.get(ResourceSlice, atMilan(name));
  }

  copied(name: string): Promise<ResourceSlice> {
    return until(`copy of ${name}`, () => this.copy(name));
  }

  private async end(): Promise<void> {
    await Promise.all([this.rome.end(), this.milan.end()]);
    await this.proxy.close();
  }
}

export async function proxyTo({ controlPlane }: ManagedCluster): Promise<TcpProxy> {
  return await TcpProxy.start({ host: "127.0.0.1", port: Number(new URL(controlPlane.url).port) });
}
