import assert from "node:assert/strict";

import { Label, Namespace, ResourceSlice, RoleBinding, Tenant } from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import { DeclarativePeering, OFFLOADING, PEERING, type Step } from "../support/declarative-peering";
import { eventWith } from "../support/events";
import { ManagedCluster } from "../support/managed-cluster";
import { permutations } from "../support/permutations";
import { spread } from "../support/statistics";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const ofRome: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const ofTurin: PeeringSides = {
  consumer: { clusterId: "turin", tenantNamespace: "lent-by-milan" },
  provider: { clusterId: "milan", tenantNamespace: "turin-at-milan" },
};
const sliceAtRome = { name: "pool", namespace: "to-milan" };

/**
 * All 720 orders of the peering's six steps, by two consumers of one provider side by side. The offloading of a namespace, whose removal takes
 * Kubernetes seconds, is tried at each place of one order.
 */
describe("the declarative peering", function () {
  this.timeout(120_000);
  let clusters: ManagedCluster[] = [];
  let peerings: DeclarativePeering[] = [];

  after(async () => {
    await Promise.all(peerings.map((peering) => peering.end()));
    await Promise.all(clusters.map((cluster) => cluster.end()));
  });
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.97.0.0/16" },
    turin: { serviceCidr: "10.99.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    const install = (clusterId: "rome" | "turin" | "milan", liqoNamespace: string) =>
      ManagedCluster.install({ controlPlane: controlPlane(clusterId), clusterId, liqoNamespace });
    const [rome, turin, milan] = await Promise.all([
      install("rome", "liqo"),
      install("turin", "liqo-turin"),
      install("milan", "liqo-system"),
    ]);
    clusters = [rome, turin, milan];
    await Promise.all(clusters.map((cluster) => cluster.start(["--foreign-cluster-ping-interval=0"])));
    peerings = await Promise.all(
      [
        { consumer: rome, sides: ofRome, user: "guest-of-milan" },
        { consumer: turin, sides: ofTurin, user: "another-guest" },
      ].map(async ({ consumer, sides, user }) => {
        const kubeconfig = await controlPlane("milan").kubeconfigFor({ name: user });
        return new DeclarativePeering(consumer, milan, sides, { user, kubeconfig });
      }),
    );
    await Promise.all(peerings.map((peering) => peering.prepare()));
  });

  /** Takes the steps in each of some orders, from nothing to the end state and back, each order by the peering that is free. */
  async function inOrders(orders: readonly (readonly Step[])[]): Promise<void> {
    const times: number[] = [];
    const cleared: number[] = [];
    const next = orders.values();
    const tried = peerings.map(async (peering) => {
      let expected: unknown;
      for (const order of next) {
        await peering.start();
        for (const step of order) await peering.take[step]();
        const begin = performance.now();
        await peering.untilWhole(order);
        times.push(performance.now() - begin);
        expected ??= peering.state();
        await until(
          `the same state after ${order.join(", ")}`,
          () => JSON.stringify(peering.state()) === JSON.stringify(expected),
          { timeoutMs: 40_000, everyMs: 5 },
        ).catch((error: unknown) => {
          assert.deepEqual(peering.state(), expected, order.join(", "));
          throw error;
        });
        const end = performance.now();
        await peering.clear();
        cleared.push(performance.now() - end);
      }
    });
    await Promise.all(tried);
    assert.equal(times.length, orders.length);
    console.log(
      `      whole after ${spread(times, 0)} ms, removed after ${spread(cleared, 0)} ms (least / median / most)`,
    );
  }

  it("ends in the same state, whatever comes first: all 720 orders", async function () {
    this.timeout(900_000);
    const orders = permutations(PEERING);
    assert.equal(new Set(orders.map(String)).size, 720);
    await inOrders(orders);
  });

  it("ends in the same state, whenever a namespace is offloaded", async function () {
    this.timeout(240_000);
    const steps: Step[] = [...PEERING];
    await inOrders([...steps, OFFLOADING].map((_step, place) => steps.toSpliced(place, 0, OFFLOADING)));
  });

  describe("without one of its labels", () => {
    let peering: DeclarativePeering;
    let rome: ManagedCluster;
    let milan: ManagedCluster;
    before(() => {
      const [first] = peerings;
      assert.ok(first);
      peering = first;
      rome = peering.consumer;
      milan = peering.provider;
    });
    beforeEach(() => peering.start());
    afterEach(() => peering.clear());

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
      cluster().admin.patch(
        Namespace,
        { name: namespace },
        { metadata: { labels: { [key]: value } } },
        { type: "merge" },
      );
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
      peering.steps.handmadeSecret(peering.credentials.kubeconfig, {
        labels: Object.fromEntries(
          Object.entries({ [Label.identityType]: "ControlPlane", [Label.remoteClusterID]: "milan" }).filter(
            ([each]) => each !== key,
          ),
        ),
      });
    const sliceWithout = (key: string) => async () => {
      await peering.steps.slice();
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
        mend: () => peering.take.home(),
      },
      {
        what: "liqo.io/remote-cluster-id of the consumer's namespace",
        without: { home: only(() => rome, "to-milan", Label.tenantNamespace, "true") },
        says: sliceEvent("FailedGetClusterID"),
        words: /namespace "to-milan" is not a tenant namespace/,
        mend: () => peering.take.home(),
      },
      {
        what: "liqo.io/tenant-namespace at the provider",
        without: { guests: only(() => milan, "guests-from-rome", Label.remoteClusterID, "rome") },
        says: tenantEvent,
        words: /liqo\.io\/tenant-namespace/,
        mend: () => peering.take.guests(),
      },
      {
        what: "liqo.io/remote-cluster-id of the provider's namespace",
        without: { guests: only(() => milan, "guests-from-rome", Label.tenantNamespace, "true") },
        says: tenantEvent,
        words: /liqo\.io\/remote-cluster-id/,
        mend: () => peering.take.guests(),
      },
      {
        what: "liqo.io/identity-type of the Secret",
        without: { secret: secretWithout(Label.identityType) },
        says: sliceEvent("ControlPlaneIdentityMissing"),
        words:
          /no Secret is labelled liqo\.io\/identity-type=ControlPlane and liqo\.io\/remote-cluster-id=milan/,
        mend: () => peering.take.secret(),
      },
      {
        what: "liqo.io/remote-cluster-id of the Secret",
        without: { secret: secretWithout(Label.remoteClusterID) },
        says: sliceEvent("ControlPlaneIdentityMissing"),
        words:
          /no Secret is labelled liqo\.io\/identity-type=ControlPlane and liqo\.io\/remote-cluster-id=milan/,
        mend: () => peering.take.secret(),
      },
      ...[Label.replication, Label.replicationDestination, Label.remoteClusterID].map((key) => ({
        what: `${key} of the ResourceSlice`,
        without: { slice: sliceWithout(key) },
        says: sliceEvent("MissingLabels"),
        words: new RegExp(`label ${key} is missing`),
        mend: () => peering.take.slice(),
      })),
    ];
    for (const { what, without, says, words, mend } of rows) {
      it(`says so, and goes on when it is given: ${what}`, async () => {
        for (const step of PEERING) await (without[step] ?? peering.take[step])();
        await says(words);
        await mend();
        await peering.untilWhole(PEERING);
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
          await peering.take[each]();
          if (each === step) await strip();
        }
        await peering.untilWhole(PEERING);
      });
    }
  });
});
