import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  ClusterRoleBinding,
  Namespace,
  NamespaceMap,
  type ObjectRef,
  Quota,
  Renew,
  ResourceSlice,
  RoleBinding,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { eventAbout } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import {
  ACCEPTED,
  atMilan,
  atRome,
  clusterWide,
  conditionsAt,
  controlPlaneBinding,
  quotaOfPool,
  tenantOfRome,
  withPeeringOfRome,
} from "../support/peering-of-rome";
import type { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";

const sliceAtRome = atRome("pool");
const sliceAtMilan = atMilan("pool");

/** What follows at both clusters when a Tenant goes from one condition to the next (control plane reference 9.1 and 9.2). */
describe("a peering between rome and milan", function () {
  this.timeout(180_000);
  const peering = withPeeringOfRome();
  const { says, virtualNode, peer, assertPeered } = peering;
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  before(() => {
    ({ rome, milan, steps } = peering);
  });
  const setCondition = (tenantCondition: string) =>
    milan.admin.patch(Tenant, tenantOfRome, { spec: { tenantCondition } }, { type: "merge" });

  describe("whose Tenant changes its condition", () => {
    before(peer);
    after(() => steps.remove());
    const ofClass = (name: string) =>
      steps.slice(name, {
        spec: { class: "gpu", providerClusterID: "milan", resources: { "nvidia.com/gpu": "2" } },
      });

    it("active: resources of another class are left to whom it belongs", async () => {
      await ofClass("fast");
      await says("fast", { Authentication: ACCEPTED.Authentication });
      const unserved = (admin: KubeClient, ref: ObjectRef) =>
        eventAbout(admin, { kind: "ResourceSlice", ...ref }, "ClassNotServed");
      assert.match(
        await unserved(milan.admin, atMilan("fast")),
        /spec\.class: nobody has answered class "gpu": Liqo's own controller serves class "default"; run the controller/,
      );
      assert.match(
        await unserved(rome.admin, atRome("fast")),
        /class "gpu": ask the administrator of cluster "milan" .* set spec\.class to one of them/,
      );
      // Nothing but that: the status is for the controller of the class.
      await says("fast", { Authentication: ACCEPTED.Authentication });
      await milan.admin.patch(
        ResourceSlice,
        atMilan("fast"),
        {
          status: {
            conditions: [
              ...((await milan.admin.get(ResourceSlice, atMilan("fast")))?.status?.conditions ?? []),
              { type: "Resources", status: "Accepted", reason: "GpusFound", message: "two of them" },
            ],
            resources: { "nvidia.com/gpu": "2" },
            nodeLabels: { gpu: "a100" },
          },
        },
        { type: "merge", subresource: "status" },
      );
      const node = await virtualNode("fast");
      assert.deepEqual(node.spec.resourceQuota?.hard, { "nvidia.com/gpu": "2" });
      assert.equal(node.spec.labels?.gpu, "a100");
      await says("fast", { Authentication: ACCEPTED.Authentication, Resources: "Accepted GpusFound" });
    });

    it("cordoned: certificates go on, nothing new is granted in any class, what was granted stays", async () => {
      await setCondition("Cordoned");
      await ofClass("faster");
      await steps.slice("more");
      for (const name of ["faster", "more"]) {
        await says(name, {
          Authentication: ACCEPTED.Authentication,
          Resources: "Denied ResourceSliceResourcesDenied",
        });
        assert.equal(await rome.admin.get(VirtualNode, atRome(name)), undefined);
      }
      await says("pool", ACCEPTED);
      await says("fast", { Authentication: ACCEPTED.Authentication, Resources: "Accepted GpusFound" });
      const asks = (pods: string | null) =>
        rome.admin.patch(ResourceSlice, atRome("pool"), { spec: { resources: { pods } } }, { type: "merge" });
      const { pods: asked } = (await rome.admin.get(ResourceSlice, atRome("pool")))?.spec.resources ?? {};
      await asks("3");
      await until("it is told that more waits", async () => {
        const { conditions } = (await rome.admin.get(ResourceSlice, atRome("pool")))?.status ?? {};
        return conditions?.some(({ type, message }) => type === "Resources" && message?.includes("waits"));
      });
      await says("pool", ACCEPTED);
      await asks(asked === undefined ? null : String(asked));
      await until("the Renew is filled", async () => {
        const renew = await rome.admin.get(Renew, atRome("controlplane-milan"));
        return renew?.status?.authParams?.signedCRT;
      });
    });

    it("active again: its quotas are open, but where a slice is cordoned by itself", async () => {
      await setCondition("Active");
      const cordoned = async () => (await milan.admin.get(Quota, quotaOfPool))?.spec.cordoned === true;
      await until("open", async () => !(await cordoned()));
      for (const [value, closed] of [
        ["true", true],
        ["false", false],
        ["yes", true],
        ["False", false],
        ["1", true],
        ["0", false],
        ["", true],
        [null, false],
      ] as const) {
        await milan.admin.patch(
          ResourceSlice,
          atMilan("pool"),
          { metadata: { annotations: { "liqo.io/cordon": value } } },
          { type: "merge" },
        );
        await until(
          `cordoned by ${JSON.stringify(value)}: ${closed}`,
          async () => (await cordoned()) === closed,
        );
      }
      await says("more", ACCEPTED);
    });

    it("drained: copies of slices and of namespace maps go, with a word on it", async () => {
      await rome.admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
      await rome.apply({
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "NamespaceOffloading",
        metadata: { name: "offloading", namespace: "shop" },
        spec: {},
      } as Parameters<ManagedCluster["apply"]>[0]);
      const maps = () => milan.admin.list(NamespaceMap, { namespace: "guests-from-rome" });
      await until("the namespace map is copied", async () => (await maps()).length === 1);
      const phaseAtRome = async () => {
        const [map] = await rome.admin.list(NamespaceMap, { namespace: "to-milan" });
        assert.ok(map);
        return map.status?.currentMapping?.["shop"]?.phase;
      };
      await until("the namespace is mapped", async () => (await phaseAtRome()) === "Accepted");
      await setCondition("Drained");
      await until("copies gone", async () => {
        const slices = await milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
        return (
          slices.length === 0 && (await maps()).length === 0 && (await milan.admin.list(Quota)).length === 0
        );
      });
      const about = { kind: "Tenant", ...tenantOfRome };
      assert.match(await eventAbout(milan.admin, about, "ResourceSlicesDeleted"), /resource slices/);
      assert.match(await eventAbout(milan.admin, about, "NamespaceMapsDeleted"), /namespace maps/);
      await until("the consumer knows that nothing is mapped", async () => {
        const phase = await phaseAtRome();
        assert.notEqual(phase, "CreationLoopBackOff");
        return phase === undefined;
      });
      await setCondition("Active");
      await until("copies back", async () => {
        const slices = await milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
        return slices.length === 4 && (await maps()).length === 1;
      });
      await until("the namespace is mapped again", async () => (await phaseAtRome()) === "Accepted");
      await rome.admin.delete(Namespace, { name: "shop" });
    });

    it("denied after it was granted: quota and virtual node keep what they have", async () => {
      await says("pool", ACCEPTED);
      const [quota, node] = await Promise.all([milan.admin.get(Quota, quotaOfPool), virtualNode("pool")]);
      await milan.stop();
      await milan.start(["--default-resource-slice-class-enabled=false"]);
      await says("pool", {
        Authentication: ACCEPTED.Authentication,
        Resources: "Denied DefaultResourceSliceClassDisabled",
      });
      assert.deepEqual((await milan.admin.get(Quota, quotaOfPool))?.spec, quota?.spec);
      assert.deepEqual((await virtualNode("pool")).metadata.uid, node.metadata.uid);
      await milan.stop();
      await milan.start();
      await says("pool", ACCEPTED);
    });
  });

  describe("cordoned and drained", () => {
    before(async () => {
      await steps.nonceSecret();
      await steps.tenant();
      await steps.identity();
      await steps.slice();
      await assertPeered();
    });
    after(() => steps.remove());

    it("cordoned: what was granted stays, its quota takes no more, nothing new is granted", async () => {
      await setCondition("Cordoned");
      await until("quota cordoned", async () => (await milan.admin.get(Quota, quotaOfPool))?.spec.cordoned);
      await steps.slice("more");
      await until("new slice denied", async () => {
        const { Resources } = await conditionsAt(rome.admin, { name: "more", namespace: "to-milan" });
        return Resources === "Denied";
      });
      assert.equal((await conditionsAt(rome.admin, sliceAtRome)).Resources, "Accepted");
      const copy = await milan.admin.get(ResourceSlice, { name: "more", namespace: "guests-from-rome" });
      assert.equal(copy?.metadata.annotations?.["liqo.io/cordon-tenant"], "true");
    });

    it("active again: the quota is open, the denied slice is granted", async () => {
      await setCondition("Active");
      await until("quota open", async () => {
        const quota = await milan.admin.get(Quota, quotaOfPool);
        return quota !== undefined && quota.spec.cordoned === undefined;
      });
      await until("slice granted", async () => {
        const { Resources } = await conditionsAt(rome.admin, { name: "more", namespace: "to-milan" });
        return Resources === "Accepted";
      });
    });

    it("a slice cordoned by itself has a closed quota", async () => {
      const annotate = (value: string | null) =>
        milan.admin.patch(
          ResourceSlice,
          sliceAtMilan,
          { metadata: { annotations: { "liqo.io/cordon": value } } },
          { type: "merge" },
        );
      await annotate("true");
      await until("quota cordoned", async () => (await milan.admin.get(Quota, quotaOfPool))?.spec.cordoned);
      await annotate(null);
      await until("quota open", async () => {
        const quota = await milan.admin.get(Quota, quotaOfPool);
        return quota !== undefined && quota.spec.cordoned === undefined;
      });
    });

    it("drained: roles and copies are gone, and stay gone", async () => {
      await setCondition("Drained");
      const gone = async () => {
        const [binding, wide, slices] = await Promise.all([
          milan.admin.get(RoleBinding, controlPlaneBinding),
          milan.admin.get(ClusterRoleBinding, clusterWide),
          milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" }),
        ]);
        return binding === undefined && wide === undefined && slices.length === 0;
      };
      await until("all taken back", gone);
      await pause(3_000);
      assert.ok(await gone());
      assert.ok(await rome.admin.get(ResourceSlice, sliceAtRome), "the consumer's slice stays");
    });

    it("active again: copies come back by themselves", async () => {
      const begin = performance.now();
      await setCondition("Active");
      await until("copies back", async () => {
        const slices = await milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
        return slices.length === 2;
      });
      console.log(`      copies back after ${Math.round(performance.now() - begin)} ms`);
      await assertPeered();
    });

    it("deleted: the Tenant takes its roles along", async () => {
      await milan.admin.delete(Tenant, tenantOfRome);
      await until("bindings gone", async () => {
        const [tenant, binding, wide] = await Promise.all([
          milan.admin.get(Tenant, tenantOfRome),
          milan.admin.get(RoleBinding, controlPlaneBinding),
          milan.admin.get(ClusterRoleBinding, clusterWide),
        ]);
        return tenant === undefined && binding === undefined && wide === undefined;
      });
    });
  });
});
