/** The peering of `rome` at `milan`, step by step: both controller managers inside the test, the tenant namespaces, and how it is seen that they are peered. */
import assert from "node:assert/strict";

import { Quota, ResourceSlice, Tenant, VirtualNode } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import type { PeeringSides } from "../../runtime/plan/peering";
import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import type { ManagedCluster } from "./managed-cluster";
import { installPair } from "./managed-pair";
import { PeeringSteps } from "./peering-steps";
import { until } from "./until";
import { withControlPlanes } from "./with-control-planes";

export const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
export const atRome = (name: string) => ({ name, namespace: "to-milan" });
export const atMilan = (name: string) => ({ name, namespace: "guests-from-rome" });
export const tenantOfRome = atMilan("rome");
export const quotaOfPool = atMilan("pool-a8a4c692b93b");
export const controlPlaneBinding = atMilan("liqo-binding-liqo-remote-controlplane");
export const clusterWide = { name: "liqo-binding-liqo-virtual-kubelet-remote-clusterwide-rome" };

/** The conditions of a slice that is granted, as `says` writes them. */
export const ACCEPTED = {
  Authentication: "Accepted ResourceSliceAuthenticationAccepted",
  Resources: "Accepted ResourceSliceResourcesAccepted",
};

/** For a mocha suite: starts the clusters before its tests and ends them after. Call it inside `describe`, and use it inside hooks and tests. */
export function withPeeringOfRome(): PeeringOfRome {
  // Before the control planes go.
  after(() => peering.end());
  const peering = new PeeringOfRome(
    withControlPlanes({
      rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
      milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
    }),
  );
  before(() => peering.start());
  return peering;
}

export class PeeringOfRome {
  rome!: ManagedCluster;
  milan!: ManagedCluster;
  steps!: PeeringSteps;

  constructor(readonly controlPlane: (name: "rome" | "milan") => ControlPlane) {}

  async start(): Promise<void> {
    [this.rome, this.milan] = await installPair(this.controlPlane);
    await Promise.all([this.rome.start(), this.milan.start()]);
    this.steps = new PeeringSteps(this.rome, this.milan, sides, "pool");
    await this.steps.namespaces();
  }

  async end(): Promise<void> {
    const { rome, milan }: Partial<PeeringOfRome> = this;
    await Promise.all([rome?.end(), milan?.end()]);
  }

  /** Waits until a slice says just this, at the consumer. */
  readonly says = async (name: string, expected: Record<string, string>): Promise<void> => {
    const sorted = (value: object) => JSON.stringify(Object.entries(value).sort());
    await until(
      `${name} says ${JSON.stringify(expected)}`,
      async () => sorted(await this.conditionsOf(name)) === sorted(expected),
    ).catch(async (error: unknown) => {
      assert.deepEqual(await this.conditionsOf(name), expected);
      throw error;
    });
  };

  readonly tenantAtMilan = (): Promise<Tenant> =>
    until("the Tenant", () => this.milan.admin.get(Tenant, tenantOfRome));

  readonly virtualNode = (name: string): Promise<VirtualNode> =>
    until(`virtual node ${name}`, () => this.rome.admin.get(VirtualNode, atRome(name)));

  /** By exchange of keys, up to the slice `pool`, granted, and its virtual node. */
  readonly peer = async (): Promise<void> => {
    await this.steps.nonceSecret();
    await this.steps.tenant();
    await this.steps.identity();
    await this.steps.slice();
    await this.virtualNode("pool");
    await this.says("pool", ACCEPTED);
  };

  /** The end of every successful order of steps. */
  readonly assertPeered = async (): Promise<void> => {
    const virtualNode = await until("virtual node", () => this.rome.admin.get(VirtualNode, atRome("pool")));
    assert.deepEqual(virtualNode.spec.resourceQuota?.hard, {
      cpu: "8",
      memory: "8Gi",
      pods: "110",
      "ephemeral-storage": "20Gi",
    });
    assert.equal(virtualNode.spec.clusterID, "milan");
    await until("slice accepted", async () => {
      const { Authentication, Resources } = await conditionsAt(this.rome.admin, atRome("pool"));
      return Authentication === "Accepted" && Resources === "Accepted";
    });
    const quota = await until("quota", () => this.milan.admin.get(Quota, quotaOfPool));
    assert.deepEqual(quota.spec, {
      user: "pool-a8a4c692b93b",
      limitsEnforcement: "None",
      resources: { cpu: "8", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" },
    });
  };

  private async conditionsOf(name: string): Promise<Record<string, string>> {
    const slice = await this.rome.admin.get(ResourceSlice, atRome(name));
    return Object.fromEntries(
      (slice?.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
    );
  }
}

/** Status of each condition of a slice or of its copy. */
export async function conditionsAt(
  client: KubeClient,
  ref: { name: string; namespace: string },
): Promise<Record<string, string | undefined>> {
  const slice = await client.get(ResourceSlice, ref);
  return Object.fromEntries((slice?.status?.conditions ?? []).map(({ type, status }) => [type, status]));
}
