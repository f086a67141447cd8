import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import { Lease, Node, Pod, RoleBinding, Secret, ShadowPod, VirtualNode } from "../../runtime/api";
import { SubjectAccessReview } from "../../runtime/api/kubernetes";
import type { KubeClient } from "../../runtime/kube";
import { TENANT } from "../support/offloading-pair";
import { until } from "../support/until";
import { gone, HERE, NODE, podOf, THERE, withVirtualKubelet } from "../support/virtual-kubelet-lab";

describe("virtual kubelet: restarts, replicas, and a provider that is away", function () {
  this.timeout(60_000);
  const lab = withVirtualKubelet();

  describe("killed and started again", () => {
    it("changes nothing that is right, and mends what changed meanwhile", async () => {
      await lab.rome.create(Pod, podOf("stays"));
      await lab.rome.create(Pod, podOf("leaves"));
      await lab.running("stays");
      await lab.running("leaves");
      // The provider writes that when it has nothing else to do.
      await until(
        "the phase is written",
        async () => (await lab.shadow("stays"))?.status?.phase === "Running",
      );
      const before = { shadow: await lab.shadow("stays"), remote: await lab.remote("stays") };
      await lab.kubelet.end("SIGKILL");
      await lab.rome.delete(Pod, { name: "leaves", namespace: HERE });
      await lab.rome.create(Pod, podOf("comes"));
      const from = Date.now();
      lab.kubelet = await lab.startKubelet("vk-0");
      await lab.running("comes");
      await gone("the pod that was to end", () => lab.local("leaves"));
      assert.equal((await lab.shadow("stays"))?.metadata.uid, before.shadow?.metadata.uid);
      assert.equal((await lab.remote("stays"))?.metadata.uid, before.remote?.metadata.uid);
      assert.equal(
        (await lab.shadow("stays"))?.metadata.resourceVersion,
        before.shadow?.metadata.resourceVersion,
      );
      await pause(1_500);
      assert.deepEqual(lab.requests(from), {
        "rome: delete pods": 1,
        "rome: patch pods/status": 1,
        "milan: create shadowpods": 1,
        "milan: delete shadowpods": 1,
      });
    });

    it("renews a token that would expire soon, for the same pod", async () => {
      await lab.rome.create(Pod, podOf("patient", { spec: { automountServiceAccountToken: true } }));
      await lab.running("patient");
      const ref = { name: "patient-token", namespace: THERE };
      const first = await until("the token is there", () => lab.milan.get(Secret, ref));
      await lab.kubelet.end("SIGKILL");
      const soon = new Date(Date.now() + 300_000).toISOString().replace(/\.\d+Z$/, "Z");
      await lab.milan.patch(
        Secret,
        ref,
        { metadata: { annotations: { "offloading.liqo.io/service-account-expiration": soon } } },
        { type: "merge" },
      );
      lab.kubelet = await lab.startKubelet("vk-0");
      const [key = ""] = Object.keys(first.data ?? {});
      const second = await until("the token is another", async () => {
        const found = await lab.milan.get(Secret, ref);
        return found?.data?.[key] !== first.data?.[key] ? found : undefined;
      });
      assert.equal(second.metadata.uid, first.metadata.uid);
      const payload =
        Buffer.from(second.data?.[key] ?? "", "base64")
          .toString("utf8")
          .split(".")[1] ?? "";
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as {
        "kubernetes.io": { pod: { uid: string } };
      };
      assert.equal(claims["kubernetes.io"].pod.uid, (await lab.local("patient"))?.metadata.uid);
    });

    it("renews a token once the provider takes it, where the first write of it was refused", async () => {
      await lab.rome.create(Pod, podOf("refused", { spec: { automountServiceAccountToken: true } }));
      await lab.running("refused");
      const ref = { name: "refused-token", namespace: THERE };
      const first = await until("the token is there", () => lab.milan.get(Secret, ref));
      await lab.kubelet.end("SIGKILL");
      const soon = new Date(Date.now() + 300_000).toISOString().replace(/\.\d+Z$/, "Z");
      const annotations = { "offloading.liqo.io/service-account-expiration": soon };
      await lab.milan.patch(Secret, ref, { metadata: { annotations } }, { type: "merge" });
      const allow = await refuseUpdates(lab.milan, ref.name);
      const from = Date.now();
      lab.kubelet = await lab.startKubelet("vk-0");
      await until("a write is refused", () => (lab.requests(from)["milan: patch secrets"] ?? 0) > 0);
      assert.deepEqual((await lab.milan.get(Secret, ref))?.data, first.data);
      await allow();
      const [key = ""] = Object.keys(first.data ?? {});
      await until("the token is another", async () => {
        const found = await lab.milan.get(Secret, ref);
        return found?.data?.[key] !== first.data?.[key];
      });
    });

    it("writes nothing when nothing changes", async () => {
      await lab.kubelet.end("SIGKILL");
      const from = Date.now();
      lab.kubelet = await lab.startKubelet("vk-0");
      await pause(4_000);
      assert.deepEqual(lab.requests(from), {});
    });

    it("again and again while pods come and go, ends with each pod once", async function () {
      this.timeout(120_000);
      const names = Array.from({ length: 15 }, (_, i) => `chaos-${i}`);
      let over = false;
      const churn = async (name: string) => {
        while (!over) {
          if (Math.random() < 0.6) {
            await lab.rome.create(Pod, podOf(name)).catch(() => undefined);
          } else {
            const gracePeriodSeconds = Math.random() < 0.3 ? 0 : 30;
            await lab.rome.delete(Pod, { name, namespace: HERE }, { gracePeriodSeconds });
          }
          await pause(Math.random() * 800);
        }
      };
      const churning = names.map(churn);
      for (let round = 0; round < 6; round++) {
        await pause(500 + Math.random() * 2_000);
        await lab.kubelet.end("SIGKILL");
        lab.kubelet = await lab.startKubelet("vk-0");
      }
      over = true;
      await Promise.all(churning);
      for (const name of names) await lab.rome.create(Pod, podOf(name)).catch(() => undefined);

      let unsettled: string[] = [];
      await until("each pod runs once, or is gone on both sides", async () => {
        unsettled = await unsettledPods(names);
        return unsettled.length === 0;
      }).catch((error: unknown) => assert.fail(`${String(error)}:\n${unsettled.join("\n")}`));
      await pause(1_500);
      const from = Date.now();
      await pause(3_000);
      assert.deepEqual(lab.requests(from), {});
    });

    /** Pods that do not run once on each side, and are not gone from both either; with what there is of them. */
    async function unsettledPods(names: readonly string[]): Promise<string[]> {
      const [here, there, shadows] = await Promise.all([
        lab.rome.list(Pod, { namespace: HERE }),
        lab.milan.list(Pod, { namespace: THERE }),
        lab.milan.list(ShadowPod, { namespace: THERE }),
      ]);
      return names.flatMap((name) => {
        const own = here.find(({ metadata }) => metadata.name === name);
        const remotes = there.filter(({ metadata }) => metadata.name === name);
        const shadowed = shadows.filter(({ metadata }) => metadata.name === name);
        if (own === undefined && remotes.length === 0 && shadowed.length === 0) return [];
        const source = JSON.parse(
          remotes[0]?.metadata.annotations?.["offloading.liqo.io/source"] ?? "{}",
        ) as { uid?: string };
        const runs =
          own !== undefined &&
          own.metadata.deletionTimestamp == null &&
          own.status?.phase === "Running" &&
          remotes.length === 1 &&
          shadowed.length === 1 &&
          source.uid === own.metadata.uid;
        const brief = (object: Pod | ShadowPod | undefined) =>
          object && [object.metadata.uid, object.metadata.deletionTimestamp, object.status];
        return runs
          ? []
          : [`${name}: ${JSON.stringify([brief(own), brief(remotes[0]), brief(shadowed[0]), source])}`];
      });
    }

    it("shares its nodes with another replica, and takes them back", async () => {
      const others = ["milan-2", "milan-3"];
      for (const name of others) await lab.pair.virtualNode(name);
      await lab.kubelet.end("SIGTERM");
      lab.kubelet = await lab.startKubelet("vk-0", "--replicas=2");
      const holders = async () => {
        const leases = await Promise.all(
          [NODE, ...others].map((name) => lab.rome.get(Lease, { name, namespace: TENANT })),
        );
        return leases.map((lease) => lease?.spec.holderIdentity || "nobody").sort();
      };
      const mine = ["vk-0", "vk-0", "vk-0"];
      await until("all are hosted here", async () => (await holders()).join() === mine.join());
      const second = await lab.startKubelet("vk-1", "--replicas=2");
      await until("one of three went over", async () => (await holders()).join() === "vk-0,vk-0,vk-1");
      await second.end("SIGTERM");
      await until("it came back", async () => (await holders()).join() === mine.join());
      for (const name of others) {
        await lab.rome.delete(VirtualNode, { name, namespace: TENANT });
        await lab.rome.delete(Node, { name });
      }
    });

    it("leaves its nodes to another replica", async () => {
      const other = await lab.startKubelet("vk-1");
      await pause(1_000);
      await lab.kubelet.end("SIGKILL");
      const begin = performance.now();
      await lab.rome.create(Pod, podOf("orphan"));
      await lab.running("orphan");
      const tookMs = performance.now() - begin;
      console.log(`      taken over after ${(tookMs / 1000).toFixed(1)} s`);
      assert.ok(tookMs < 15_000);
      lab.kubelet = other;
      const begin2 = performance.now();
      const third = await lab.startKubelet("vk-2");
      await lab.kubelet.end("SIGTERM");
      await lab.rome.create(Pod, podOf("handed-over"));
      await lab.running("handed-over");
      console.log(`      handed over after ${((performance.now() - begin2) / 1000).toFixed(1)} s`);
      lab.kubelet = third;
    });
  });

  describe("its provider", () => {
    it("away, makes the node silent and nothing else", async () => {
      await lab.kubelet.end("SIGTERM");
      lab.kubelet = await lab.startKubelet("vk-0", "--node-ping-interval=500ms", "--node-lease-duration=4s");
      await until(
        "the lease is ours",
        async () =>
          (await lab.rome.get(Lease, { name: NODE, namespace: TENANT }))?.spec.holderIdentity === "vk-0",
      );
      const lease = async () =>
        (await lab.rome.get(Lease, { name: NODE, namespace: "kube-node-lease" }))?.spec.renewTime;
      const shown = await lease();
      await until("the lease is renewed", async () => (await lease()) !== shown);
      const restarted = lab.controlPlane("milan").restartApiServer({ downtimeMs: 4_000 });
      await pause(2_000);
      const silent = await lease();
      await pause(1_500);
      assert.equal(await lease(), silent);
      await restarted;
      await until("the lease is renewed again", async () => (await lease()) !== silent);
      await lab.rome.create(Pod, podOf("after"));
      await lab.running("after");
    });

    it("denying, leaves no pod Ready that it has removed or hides, and each comes back with the rights", async () => {
      const rights = { name: "tenant-of-rome", namespace: THERE };
      for (const name of ["removed", "hidden", "probe"]) {
        await lab.rome.create(Pod, podOf(name));
        await lab.running(name);
      }
      // The watches are back after the test before, each in its own time.
      const probe = (await lab.shadow("probe"))?.metadata.uid;
      await lab.milan.delete(ShadowPod, { name: "probe", namespace: THERE });
      await until("the ShadowPod is made again", async () => {
        const uid = (await lab.shadow("probe"))?.metadata.uid;
        return uid !== undefined && uid !== probe;
      });
      const readyOf = async (name: string) =>
        (await lab.local(name))?.status?.conditions?.find(({ type }) => type === "Ready");
      const binding = await lab.milan.get(RoleBinding, rights);
      assert.ok(binding);
      await lab.milan.delete(RoleBinding, rights);
      // API servers learn of it from a watch; until then they would take the ShadowPod that is made again.
      await until("the rights are gone", async () => {
        const { apiVersion, kind } = SubjectAccessReview;
        const resourceAttributes = {
          group: "offloading.liqo.io",
          resource: "shadowpods",
          verb: "create",
          namespace: THERE,
        };
        const spec = {
          user: "of rome",
          groups: binding.subjects?.map(({ name }) => name),
          resourceAttributes,
        };
        const { status } = await lab.milan.post(SubjectAccessReview, { apiVersion, kind, spec });
        return status?.allowed === false;
      });
      await lab.milan.delete(ShadowPod, { name: "removed", namespace: THERE });
      await until("the pod is lost", async () => (await readyOf("removed"))?.reason === "RemotePodLost");
      const lost = await lab.local("removed");
      assert.equal(lost?.status?.phase, "Running");
      assert.deepEqual(
        lost.status.containerStatuses?.map(({ ready }) => ready),
        [false],
      );
      assert.match((await readyOf("removed"))?.message ?? "", /shadowpods.* is forbidden/);
      assert.equal((await readyOf("hidden"))?.status, "True");

      await lab.kubelet.end("SIGKILL");
      lab.kubelet = await lab.startKubelet("vk-0");
      await until(
        "what cannot be seen is not ready",
        async () => (await readyOf("hidden"))?.status === "False",
      );
      assert.match((await readyOf("hidden"))?.message ?? "", /forbidden/);
      assert.equal(
        (await readyOf("removed"))?.lastTransitionTime,
        lost.status.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime,
      );

      const { apiVersion, kind, roleRef, subjects = [] } = binding;
      await lab.milan.create(RoleBinding, { apiVersion, kind, metadata: rights, roleRef, subjects });
      for (const name of ["removed", "hidden"]) {
        await until(`${name} is ready again`, async () => (await readyOf(name))?.status === "True");
      }
    });

    it("gone for good, lets the node go", async () => {
      await lab.rome.patch(
        VirtualNode,
        { name: NODE, namespace: TENANT },
        { metadata: { finalizers: ["test/finalizer"] } },
        { type: "merge" },
      );
      await lab.rome.delete(VirtualNode, { name: NODE, namespace: TENANT });
      await lab.rome.patch(
        VirtualNode,
        { name: NODE, namespace: TENANT },
        { status: { conditions: [{ type: "VirtualKubelet", status: "Deleting" }] } },
        { type: "merge", subresource: "status" },
      );
      await until("the lease is given back", async () => {
        return !(await lab.rome.get(Lease, { name: NODE, namespace: TENANT }))?.spec.holderIdentity;
      });
      await lab.rome.delete(Node, { name: NODE });
      await pause(1_500);
      assert.equal(await lab.rome.get(Node, { name: NODE }), undefined);
      await lab.rome.patch(
        VirtualNode,
        { name: NODE, namespace: TENANT },
        { metadata: { finalizers: null } },
        { type: "merge" },
      );
      await gone("its lease", () => lab.rome.get(Lease, { name: NODE, namespace: TENANT }));
    });
  });
});

/** Has the API server refuse every update of one Secret. Returns the way to take that back. */
async function refuseUpdates(client: KubeClient, name: string): Promise<() => Promise<void>> {
  const group = "/apis/admissionregistration.k8s.io/v1";
  const apiVersion = "admissionregistration.k8s.io/v1";
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["secrets"] }];
  const objects = {
    validatingadmissionpolicies: {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "refused" },
      spec: {
        matchConstraints: { resourceRules: rules },
        validations: [{ expression: `object.metadata.name != "${name}"`, message: "not now" }],
      },
    },
    validatingadmissionpolicybindings: {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "refused" },
      spec: { policyName: "refused", validationActions: ["Deny"] },
    },
  };
  const headers = { "content-type": "application/json" };
  for (const [plural, object] of Object.entries(objects)) {
    const body = JSON.stringify(object);
    const { status } = await client.raw({ method: "POST", path: `${group}/${plural}`, headers, body });
    assert.equal(status, 201);
  }
  const path = `/api/v1/namespaces/${THERE}/secrets/${name}?dryRun=All`;
  const merge = { "content-type": "application/merge-patch+json" };
  const isRefused = async () =>
    (await client.raw({ method: "PATCH", path, headers: merge, body: "{}" })).status === 422;
  await until("updates are refused", isRefused);
  return async () => {
    for (const plural of Object.keys(objects)) {
      await client.raw({ method: "DELETE", path: `${group}/${plural}/refused` });
    }
    await until("updates are taken", async () => !(await isRefused()));
  };
}
