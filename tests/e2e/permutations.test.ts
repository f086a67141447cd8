import assert from "node:assert/strict";

import {
  Identity,
  Label,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  Quota,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import { eventWith } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { spread } from "../support/statistics";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const user = "guest-of-milan";
const sliceAtRome = { name: "pool", namespace: "to-milan" };
const sliceAtMilan = { name: "pool", namespace: "guests-from-rome" };

/**
 * The objects of the declarative guide, one a step; the labels of each tenant namespace are a step, too. Of the 720 orders of the peering's six
 * steps sixty are tried, spread evenly over their lexicographic order, the first and the last among them. The offloading of a namespace,
 * whose removal takes Kubernetes seconds, is tried at each place of one order.
 */
const PEERING = ["home", "guests", "binding", "tenant", "secret", "slice"] as const;
const OFFLOADING = "offloading";
type Step = (typeof PEERING)[number] | typeof OFFLOADING;
const STEPS: readonly Step[] = [...PEERING, OFFLOADING];
const TRIED = 60;
/** The end state comes in well under a second; a busy machine has this long. */
const PATIENCE_MS = 40_000;

describe("the declarative peering", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  let kubeconfig: string;

  after(async () => {
    await Promise.all([rome?.end(), milan?.end()]);
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    await Promise.all([rome.start(), milan.start()]);
    kubeconfig = await controlPlane("milan").kubeconfigFor({ name: user });
    steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.bareNamespaces();
    await rome.admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  });

  const take: Record<Step, () => Promise<unknown>> = {
    home: () =>
      label(rome, "to-milan", { [Label.tenantNamespace]: "true", [Label.remoteClusterID]: "milan" }),
    guests: () =>
      label(milan, "guests-from-rome", { [Label.tenantNamespace]: "true", [Label.remoteClusterID]: "rome" }),
    binding: () => steps.roleBinding(user),
    tenant: () => steps.tolerantTenant(),
    secret: () => steps.handmadeSecret(kubeconfig),
    slice: () => steps.slice(),
    offloading: () =>
      rome.apply({
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "NamespaceOffloading",
        metadata: { name: "offloading", namespace: "shop" },
        spec: { podOffloadingStrategy: "LocalAndRemote", namespaceMappingStrategy: "DefaultName" },
      } as Parameters<ManagedCluster["apply"]>[0]),
  };

  async function label(
    cluster: ManagedCluster,
    name: string,
    labels: Record<string, string | null>,
  ): Promise<void> {
    await cluster.admin.patch(Namespace, { name }, { metadata: { labels } }, { type: "merge" });
  }

  /** What is there at the end, without what each run gives anew: UIDs, times, keys. */
  async function endState(): Promise<unknown> {
    const [slice, copy, virtualNode, identity, secret, quota, offloading, map] = await Promise.all([
      rome.admin.get(ResourceSlice, sliceAtRome),
      milan.admin.get(ResourceSlice, sliceAtMilan),
      rome.admin.get(VirtualNode, sliceAtRome),
      rome.admin.get(Identity, { name: "resourceslice-pool", namespace: "to-milan" }),
      rome.admin.get(Secret, { name: "kubeconfig-resourceslice-pool", namespace: "to-milan" }),
      milan.admin.get(Quota, { name: "pool-a8a4c692b93b", namespace: "guests-from-rome" }),
      rome.admin.get(NamespaceOffloading, { name: "offloading", namespace: "shop" }),
      milan.admin.list(NamespaceMap, { namespace: "guests-from-rome" }),
    ]);
    return {
      slice: slice && {
        labels: slice.metadata.labels,
        finalizers: slice.metadata.finalizers,
        resources: slice.status?.resources,
        conditions: slice.status?.conditions
          ?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
          .sort(),
      },
      copy: copy && {
        labels: copy.metadata.labels,
        same: JSON.stringify(copy.spec) === JSON.stringify(slice?.spec),
      },
      virtualNode: virtualNode && { labels: virtualNode.metadata.labels, spec: virtualNode.spec },
      identity: identity && { labels: identity.metadata.labels, type: identity.spec.type },
      secret: secret && { labels: secret.metadata.labels },
      quota: quota && quota.spec,
      map: map.map(({ metadata, spec }) => [metadata.labels, spec]),
      offloading: offloading?.status?.observedGeneration,
    };
  }

  /** Its parts, in the order in which they matter to whoever reads a failure. */
  async function isWhole(steps: readonly Step[]): Promise<boolean> {
    const { conditions } = (await rome.admin.get(ResourceSlice, sliceAtRome))?.status ?? {};
    if (conditions?.length !== 2 || conditions.some(({ status }) => status !== "Accepted")) return false;
    const [virtualNode, quota, [map]] = await Promise.all([
      rome.admin.get(VirtualNode, sliceAtRome),
      milan.admin.get(Quota, { name: "pool-a8a4c692b93b", namespace: "guests-from-rome" }),
      milan.admin.list(NamespaceMap, { namespace: "guests-from-rome" }),
    ]);
    const mapped =
      map !== undefined && (!steps.includes(OFFLOADING) || map.spec.desiredMapping?.shop !== undefined);
    return virtualNode !== undefined && quota !== undefined && mapped;
  }

  async function start(): Promise<void> {
    for (const [cluster, name] of [
      [rome, "to-milan"],
      [milan, "guests-from-rome"],
    ] as const)
      await label(cluster, name, { [Label.tenantNamespace]: null, [Label.remoteClusterID]: null });
  }

  async function clear(): Promise<void> {
    // The labels first: controllers clean up where they know whom the namespace is for.
    await Promise.all([take.home(), take.guests()]);
    await rome.admin.delete(NamespaceOffloading, { name: "offloading", namespace: "shop" });
    await until(
      "the offloading is gone",
      async () => (await rome.admin.list(NamespaceOffloading)).length === 0,
    );
    await steps.remove();
    await until("nothing is left", async () => {
      const left = await Promise.all([
        rome.admin.list(VirtualNode),
        rome.admin.list(NamespaceMap),
        milan.admin.list(NamespaceMap),
        milan.admin.list(Quota),
      ]);
      return left.flat().length === 0;
    });
  }

  /** Takes the steps in each of some orders, from nothing to the end state and back. */
  async function inOrders(orders: readonly (readonly Step[])[]): Promise<void> {
    const times: number[] = [];
    const cleared: number[] = [];
    let expected: unknown;
    for (const order of orders) {
      await start();
      for (const step of order) await take[step]();
      const begin = performance.now();
      await until(`the end state of ${order.join(", ")}`, () => isWhole(order), { timeoutMs: PATIENCE_MS });
      times.push(performance.now() - begin);
      expected ??= await endState();
      await until(
        `the same state after ${order.join(", ")}`,
        async () => JSON.stringify(await endState()) === JSON.stringify(expected),
        { timeoutMs: PATIENCE_MS },
      ).catch(async (error: unknown) => {
        assert.deepEqual(await endState(), expected, order.join(", "));
        throw error;
      });
      const end = performance.now();
      await clear();
      cleared.push(performance.now() - end);
    }
    console.log(
      `      whole after ${spread(times, 0)} ms, removed after ${spread(cleared, 0)} ms (least / median / most)`,
    );
  }

  it(`ends in the same state, whatever comes first: ${TRIED} of 720 orders`, async function () {
    this.timeout(480_000); // a minute on a machine that does nothing else
    await inOrders(sampled(PEERING, TRIED));
  });

  it("ends in the same state, whenever a namespace is offloaded", async function () {
    this.timeout(240_000);
    const peering: Step[] = [...PEERING];
    await inOrders(STEPS.map((_step, place) => peering.toSpliced(place, 0, OFFLOADING)));
  });

  describe("without one of its labels", () => {
    beforeEach(start);
    afterEach(clear);

    type Row = {
      what: string;
      /** Takes the label away again, or leaves it out, before anything else is there. */
      without: Partial<Record<Step, () => Promise<unknown>>>;
      /** Waits until it is said. */
      says: (words: RegExp) => Promise<void>;
      words: RegExp;
      /** Gives the label. */
      mend: () => Promise<unknown>;
    };
    const only = (cluster: () => ManagedCluster, namespace: string, key: string, value: string) => () =>
      label(cluster(), namespace, { [key]: value });
    const sliceEvent = (reason: string) => async (words: RegExp) => {
      const slice = await rome.admin.get(ResourceSlice, sliceAtRome);
      assert.ok(slice);
      await eventWith(rome.admin, slice, reason, words);
    };
    const tenantEvent = async (words: RegExp) => {
      const tenant = await milan.admin.get(Tenant, { name: "my-tenant", namespace: "guests-from-rome" });
      assert.ok(tenant);
      await eventWith(milan.admin, tenant, "TenantNamespaceNotFound", words);
    };
    const secretWithout = (key: string) => () =>
      steps.handmadeSecret(kubeconfig, {
        labels: Object.fromEntries(
          Object.entries({ [Label.identityType]: "ControlPlane", [Label.remoteClusterID]: "milan" }).filter(
            ([each]) => each !== key,
          ),
        ),
      });
    const sliceWithout = (key: string) => async () => {
      await steps.slice();
      await rome.admin.patch(
        ResourceSlice,
        sliceAtRome,
        { metadata: { labels: { [key]: null } } },
        { type: "merge" },
      );
    };
    const rows: Row[] = [
      {
        what: "liqo.io/tenant-namespace at the consumer",
        without: { home: only(() => rome, "to-milan", Label.remoteClusterID, "milan") },
        says: sliceEvent("FailedGetClusterID"),
        words: /namespace "to-milan" is not a tenant namespace/,
        mend: () => take.home(),
      },
      {
        what: "liqo.io/remote-cluster-id of the consumer's namespace",
        without: { home: only(() => rome, "to-milan", Label.tenantNamespace, "true") },
        says: sliceEvent("FailedGetClusterID"),
        words: /namespace "to-milan" is not a tenant namespace/,
        mend: () => take.home(),
      },
      {
        what: "liqo.io/tenant-namespace at the provider",
        without: { guests: only(() => milan, "guests-from-rome", Label.remoteClusterID, "rome") },
        says: tenantEvent,
        words: /liqo\.io\/tenant-namespace/,
        mend: () => take.guests(),
      },
      {
        what: "liqo.io/remote-cluster-id of the provider's namespace",
        without: { guests: only(() => milan, "guests-from-rome", Label.tenantNamespace, "true") },
        says: tenantEvent,
        words: /liqo\.io\/remote-cluster-id/,
        mend: () => take.guests(),
      },
      {
        what: "liqo.io/identity-type of the Secret",
        without: { secret: secretWithout(Label.identityType) },
        says: sliceEvent("ControlPlaneIdentityMissing"),
        words:
          /no Secret is labelled liqo\.io\/identity-type=ControlPlane and liqo\.io\/remote-cluster-id=milan/,
        mend: () => take.secret(),
      },
      {
        what: "liqo.io/remote-cluster-id of the Secret",
        without: { secret: secretWithout(Label.remoteClusterID) },
        says: sliceEvent("ControlPlaneIdentityMissing"),
        words:
          /no Secret is labelled liqo\.io\/identity-type=ControlPlane and liqo\.io\/remote-cluster-id=milan/,
        mend: () => take.secret(),
      },
      ...[Label.replication, Label.replicationDestination, Label.remoteClusterID].map((key) => ({
        what: `${key} of the ResourceSlice`,
        without: { slice: sliceWithout(key) },
        says: sliceEvent("MissingLabels"),
        words: new RegExp(`label ${key} is missing`),
        mend: () => take.slice(),
      })),
    ];
    for (const { what, without, says, words, mend } of rows) {
      it(`says so, and goes on when it is given: ${what}`, async () => {
        for (const step of PEERING) await (without[step] ?? take[step])();
        await says(words);
        await mend();
        await until(`the end state, once there is ${what}`, () => isWhole(PEERING), {
          timeoutMs: PATIENCE_MS,
        });
      });
    }

    for (const [what, step, strip] of [
      [
        "liqo.io/remote-cluster-id of the RoleBinding",
        "binding",
        () =>
          milan.admin.patch(
            RoleBinding,
            { name: "liqo-binding-liqo-remote-controlplane", namespace: "guests-from-rome" },
            { metadata: { labels: { [Label.remoteClusterID]: null } } },
            { type: "merge" },
          ),
      ],
      [
        "liqo.io/remote-cluster-id of the Tenant, which the webhook gives it",
        "tenant",
        () =>
          milan.admin.patch(
            Tenant,
            { name: "my-tenant", namespace: "guests-from-rome" },
            { metadata: { labels: { [Label.remoteClusterID]: null } } },
            { type: "merge" },
          ),
      ],
    ] as const) {
      it(`does without ${what}`, async () => {
        for (const each of PEERING) {
          await take[each]();
          if (each === step) await strip();
        }
        await until("the end state", () => isWhole(PEERING), { timeoutMs: PATIENCE_MS });
      });
    }
  });
});

/** Orders of steps, spread evenly over all of them; the first and the last in lexicographic order are among them. */
function sampled<T>(items: readonly T[], count: number): T[][] {
  const total = items.reduce((product, _item, index) => product * (index + 1), 1);
  return Array.from({ length: count }, (_, index) =>
    permutation(items, Math.round((index * (total - 1)) / (count - 1))),
  );
}

function permutation<T>(items: readonly T[], rank: number): T[] {
  const left = [...items];
  const order: T[] = [];
  let rest = rank;
  for (let size = left.length; size > 0; size -= 1) {
    const block = Array.from({ length: size - 1 }, (_, index) => index + 1).reduce((a, b) => a * b, 1);
    order.push(...left.splice(Math.floor(rest / block), 1));
    rest %= block;
  }
  return order;
}
