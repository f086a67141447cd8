import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import {
  CertificateSigningRequest,
  ClusterRoleBinding,
  DataKey,
  type Desired,
  Identity,
  Quota,
  Renew,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import { parseCertificate, parseKubeconfig, publicKeyDer, publicKeyOf } from "../../runtime/identity";
import { registerPeeringMetrics } from "../../runtime/controller-manager/peering-metrics";
import { createRegistry, InformerSet, KubeClient } from "../../runtime/kube";
import type { PeeringSides } from "../../runtime/plan/peering";
import { eventAbout } from "../support/events";
import { handshake } from "../support/handshake";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { versions } from "../support/versions";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const sliceAtRome = { name: "pool", namespace: "to-milan" };
const sliceAtMilan = { name: "pool", namespace: "guests-from-rome" };
const quotaOfPool = { name: "pool-a8a4c692b93b", namespace: "guests-from-rome" };
const tenantOfRome = { name: "rome", namespace: "guests-from-rome" };
const clusterWide = { name: "liqo-binding-liqo-virtual-kubelet-remote-clusterwide-rome" };
const controlPlaneBinding = {
  name: "liqo-binding-liqo-remote-controlplane",
  namespace: "guests-from-rome",
};

describe("authentication, of rome at milan", function () {
  this.timeout(180_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;

  // Before the control planes go.
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
    steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.namespaces();
  });

  const conditionsAt = async (client: KubeClient, ref: { name: string; namespace: string }) => {
    const slice = await client.get(ResourceSlice, ref);
    return Object.fromEntries((slice?.status?.conditions ?? []).map(({ type, status }) => [type, status]));
  };

  /** The end of every successful order of steps. */
  async function assertPeered(name = "pool"): Promise<void> {
    const virtualNode = await until("virtual node", () =>
      rome.admin.get(VirtualNode, { name, namespace: "to-milan" }),
    );
    assert.deepEqual(virtualNode.spec.resourceQuota?.hard, {
      cpu: "8",
      memory: "8Gi",
      pods: "110",
      "ephemeral-storage": "20Gi",
    });
    assert.equal(virtualNode.spec.clusterID, "milan");
    await until("slice accepted", async () => {
      const { Authentication, Resources } = await conditionsAt(rome.admin, { name, namespace: "to-milan" });
      return Authentication === "Accepted" && Resources === "Accepted";
    });
    const quota = await until("quota", () => milan.admin.get(Quota, quotaOfPool));
    assert.deepEqual(quota.spec, {
      user: "pool-a8a4c692b93b",
      limitsEnforcement: "None",
      resources: { cpu: "8", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" },
    });
  }

  async function kubeconfigOf(secretName: string) {
    const secret = await rome.admin.get(Secret, { name: secretName, namespace: "to-milan" });
    assert.ok(secret !== undefined, `Secret ${secretName}`);
    const text = Buffer.from(secret.data?.[DataKey.kubeconfig] ?? "", "base64").toString();
    return { secret, text, context: parseKubeconfig(text) };
  }

  describe("by exchange of keys", () => {
    after(() => steps.remove());

    it("ends in a granted slice, a virtual node and a quota", async () => {
      const begin = performance.now();
      await handshake({
        consumer: rome.admin,
        provider: milan.admin,
        sides,
        consumerLiqoNamespace: "liqo",
        sliceName: "pool",
        resources: { cpu: "8" },
      });
      await until("virtual node", () => rome.admin.get(VirtualNode, sliceAtRome));
      console.log(`      virtual node ${Math.round(performance.now() - begin)} ms after the first object`);
      await assertPeered();
    });

    it("gives the control plane an identity for its tenant namespace alone", async () => {
      const { secret, text, context } = await kubeconfigOf("kubeconfig-controlplane-milan");
      assert.deepEqual(secret.metadata.labels, {
        "liqo.io/remote-cluster-id": "milan",
        "liqo.io/identity-type": "ControlPlane",
      });
      assert.deepEqual(secret.metadata.annotations, {
        "liqo.io/remote-tenant-namespace": "guests-from-rome",
      });
      assert.equal(context.server, controlPlane("milan").url);
      assert.equal(context.namespace, "guests-from-rome");
      const certificate = parseCertificate(context.certificate ?? "");
      assert.deepEqual([certificate.commonName, certificate.organizations], ["rome", ["liqo.io"]]);
      const client = KubeClient.fromKubeconfig(text);
      assert.equal((await client.list(ResourceSlice, { namespace: "guests-from-rome" })).length, 1);
      await assert.rejects(client.list(ResourceSlice), /403/);
      await assert.rejects(client.list(Secret, { namespace: "guests-from-rome" }), /403/);
      client.close();
    });

    it("gives the slice an identity of its own, for the same key", async () => {
      const { secret, context } = await kubeconfigOf("kubeconfig-resourceslice-pool");
      assert.equal(secret.metadata.labels?.["liqo.io/identity-type"], "ResourceSlice");
      assert.equal(secret.metadata.annotations, undefined);
      assert.equal(context.namespace, undefined);
      const certificate = parseCertificate(context.certificate ?? "");
      assert.deepEqual([certificate.commonName, certificate.organizations], ["pool-a8a4c692b93b", ["rome"]]);
      const keys = await steps.consumerKeys();
      assert.ok(publicKeyDer(publicKeyOf(context.privateKey ?? "")).equals(publicKeyDer(keys.publicKey)));
      const virtualNode = await rome.admin.get(VirtualNode, sliceAtRome);
      assert.equal(virtualNode?.spec.kubeconfigSecretRef?.name, secret.metadata.name);
    });

    it("hands out the roles, and puts a mailbox for renewals beside the identity", async () => {
      const binding = await milan.admin.get(RoleBinding, controlPlaneBinding);
      assert.deepEqual(binding?.subjects, [
        { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "rome" },
      ]);
      assert.equal(binding?.metadata.ownerReferences?.[0]?.kind, "Tenant");
      const wide = await milan.admin.get(ClusterRoleBinding, clusterWide);
      assert.deepEqual(wide?.subjects, [
        { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "rome" },
      ]);
      await until("mailbox filled", async () => {
        const renew = await rome.admin.get(Renew, { name: "controlplane-milan", namespace: "to-milan" });
        return renew?.status?.authParams?.signedCRT;
      });
    });

    it("shows roles, conditions, expiry and grants as metrics", async () => {
      const metrics = createRegistry();
      const informers = new InformerSet(rome.admin);
      registerPeeringMetrics(metrics, informers);
      await informers.whenSynced();
      const text = await metrics.metrics();
      await informers.stop();
      assert.match(text, /^liqo_peer_role\{cluster_id="milan",role="Provider"\} 1$/m);
      assert.match(
        text,
        /^liqo_peer_condition\{cluster_id="milan",type="AuthIdentityControlPlaneStatus"\} 1$/m,
      );
      assert.match(
        text,
        /^liqo_resource_slice_granted\{cluster_id="milan",slice="pool",direction="consuming",resource="memory"\} 8589934592$/m,
      );
      const [, expiry = ""] =
        /^liqo_identity_certificate_expiry_seconds\{.*identity="controlplane-milan".*\} (\d+)$/m.exec(text) ??
        [];
      const { context } = await kubeconfigOf("kubeconfig-controlplane-milan");
      assert.equal(Number(expiry) * 1000, parseCertificate(context.certificate ?? "").notAfter.getTime());
      const issued = createRegistry();
      const atMilan = new InformerSet(milan.admin);
      registerPeeringMetrics(issued, atMilan);
      await atMilan.whenSynced();
      const told = await issued.metrics();
      await atMilan.stop();
      assert.ok(
        told.includes(`liqo_issued_certificate_expiry_seconds{cluster_id="rome",slice=""} ${expiry}\n`),
      );
      assert.match(told, /^liqo_issued_certificate_expiry_seconds\{cluster_id="rome",slice="pool"\} \d+$/m);
      assert.equal(await rome.metric('liqo_replication_pending{cluster_id="milan"}'), 0);
    });

    it("writes nothing when nothing changes, over a restart of both controller managers", async () => {
      await pause(1_500); // events of the last changes are on their way
      const before = [await versions(rome.admin), await versions(milan.admin)];
      await Promise.all([rome.stop(), milan.stop()]);
      await Promise.all([rome.start(), milan.start()]);
      await pause(4_000);
      assert.deepEqual([await versions(rome.admin), await versions(milan.admin)], before);
    });

    it("makes again what somebody deletes", async () => {
      const quota = await milan.admin.get(Quota, quotaOfPool);
      const [identity] = await rome.admin.list(Identity, {
        namespace: "to-milan",
        labelSelector: "liqo.io/resourceslice-name=pool",
      });
      await milan.admin.delete(Quota, quotaOfPool);
      await milan.admin.delete(RoleBinding, controlPlaneBinding);
      await milan.admin.delete(ClusterRoleBinding, clusterWide);
      await rome.admin.delete(Identity, identity?.metadata ?? { name: "" });
      const ofPool = { name: "pool", namespace: "to-milan" };
      const virtualNode = await rome.admin.get(VirtualNode, ofPool);
      await rome.admin.delete(VirtualNode, ofPool);
      await until("another virtual node", async () => {
        const found = await rome.admin.get(VirtualNode, ofPool);
        return found !== undefined && found.metadata.uid !== virtualNode?.metadata.uid;
      });
      await until("all there again", async () => {
        const [again, binding, wide, other] = await Promise.all([
          milan.admin.get(Quota, quotaOfPool),
          milan.admin.get(RoleBinding, controlPlaneBinding),
          milan.admin.get(ClusterRoleBinding, clusterWide),
          rome.admin.get(Identity, identity?.metadata ?? { name: "" }),
        ]);
        return (
          again !== undefined &&
          again.metadata.uid !== quota?.metadata.uid &&
          binding !== undefined &&
          wide !== undefined &&
          other?.status?.kubeconfigSecretRef !== undefined &&
          other.metadata.uid !== identity?.metadata.uid
        );
      });
    });

    it("signs once: one certificate for each identity, kept at the provider", async () => {
      const requests = await milan.admin.list(CertificateSigningRequest, {
        labelSelector: "liqo.io/remote-tenant-csr=true",
      });
      assert.equal(requests.length, 2);
      for (const name of ["liqo-remote-certificate", "liqo-remote-certificate-pool"]) {
        const cache = await milan.admin.get(Secret, { name, namespace: "guests-from-rome" });
        assert.ok(cache?.data?.[DataKey.certificate], name);
        assert.ok(cache.data[DataKey.csr], name);
      }
    });
  });

  describe("in whatever order the objects come", () => {
    const slice = () => steps.slice();
    const nonce = () => steps.nonceSecret();
    const tenant = () => steps.tenant();
    const identity = () => steps.identity();
    const orders: [string, (() => Promise<void>)[]][] = [
      ["the slice first", [slice, nonce, tenant, identity]],
      ["the Tenant before its nonce", [tenant, slice, nonce, identity]],
      ["the slice last", [nonce, tenant, identity, slice]],
    ];
    for (const [title, order] of orders) {
      it(`ends in the same peering: ${title}`, async () => {
        for (const step of order) await step();
        await assertPeered();
        await steps.remove();
      });
    }

    it("ends in the same peering: namespaces that get their labels last", async () => {
      const late = new PeeringSteps(
        rome,
        milan,
        {
          consumer: { clusterId: "rome", tenantNamespace: "late-to-milan" },
          provider: { clusterId: "milan", tenantNamespace: "late-from-rome" },
        },
        "pool",
      );
      await steps.setPeer(undefined);
      await late.bareNamespaces();
      await late.slice();
      await late.nonceSecret();
      await late.tenant();
      const missing = await eventAbout(
        milan.admin,
        { kind: "Tenant", name: "rome", namespace: "late-from-rome" },
        "TenantNamespaceNotFound",
      );
      assert.match(missing, /liqo\.io\/tenant-namespace=true and liqo\.io\/remote-cluster-id=rome/);
      await late.providerNamespace();
      await late.identity();
      await late.consumerNamespace();
      await until("slice accepted", async () => {
        const { Authentication, Resources } = await conditionsAt(rome.admin, {
          name: "pool",
          namespace: "late-to-milan",
        });
        return Authentication === "Accepted" && Resources === "Accepted";
      });
      await late.remove();
      await late.setPeer(undefined);
      await steps.namespaces();
    });
  });

  describe("without a handshake", () => {
    const user = "guest-of-milan";
    let kubeconfig: string;
    before(async () => {
      kubeconfig = await controlPlane("milan").kubeconfigFor({ name: user });
    });

    const actions: Record<string, () => Promise<void>> = {
      binding: () => steps.roleBinding(user),
      tenant: () => steps.tolerantTenant(),
      secret: () => steps.handmadeSecret(kubeconfig),
      slice: () => steps.slice(),
    };
    for (const order of permutations(Object.keys(actions))) {
      it(`ends in the same peering: ${order.join(", ")}`, async () => {
        for (const name of order) await actions[name]?.();
        await assertPeered();
        assert.equal((await rome.admin.list(Renew, { namespace: "to-milan" })).length, 0);
        assert.equal(
          await milan.admin.get(Secret, { name: "liqo-remote-certificate", namespace: "guests-from-rome" }),
          undefined,
        );
        await steps.remove();
      });
    }

    it("comes back after a drain, though the binding was an administrator's", async () => {
      for (const action of Object.values(actions)) await action();
      await assertPeered();
      const tenant = { name: "my-tenant", namespace: "guests-from-rome" };
      await milan.admin.patch(Tenant, tenant, { spec: { tenantCondition: "Drained" } }, { type: "merge" });
      await until("binding and copies gone", async () => {
        const binding = await milan.admin.get(RoleBinding, controlPlaneBinding);
        return binding === undefined && (await milan.admin.get(ResourceSlice, sliceAtMilan)) === undefined;
      });
      await milan.admin.patch(Tenant, tenant, { spec: { tenantCondition: "Active" } }, { type: "merge" });
      await until("binding back", async () => {
        const binding = await milan.admin.get(RoleBinding, controlPlaneBinding);
        return binding?.subjects?.[0]?.name === user;
      });
      await until("copy back", () => milan.admin.get(ResourceSlice, sliceAtMilan));
      await until("virtual node", () => rome.admin.get(VirtualNode, sliceAtRome));
      await steps.remove();
    });
  });

  describe("is refused", () => {
    afterEach(() => steps.remove());

    it("for a signature of another nonce, once and for all", async () => {
      await steps.nonceSecret();
      await steps.tenant({ signature: Buffer.alloc(64, 7).toString("base64") });
      const about = { kind: "Tenant", ...tenantOfRome };
      assert.match(await eventAbout(milan.admin, about, "SignatureVerificationFailed"), /spec\.signature/);
      assert.equal((await milan.admin.get(Tenant, tenantOfRome))?.status?.authParams, undefined);
      assert.equal(await milan.admin.get(RoleBinding, controlPlaneBinding), undefined);
      await steps.tenant();
      await steps.identity();
    });

    it("for a request in another cluster's name", async () => {
      await steps.nonceSecret();
      await steps.tenant({ csr: Buffer.from("nonsense").toString("base64") });
      assert.match(
        await eventAbout(milan.admin, { kind: "Tenant", ...tenantOfRome }, "InvalidCSR"),
        /spec\.csr/,
      );
    });

    it("for a slice in another's namespace, or with another's request", async () => {
      await steps.nonceSecret();
      await steps.tenant();
      await steps.identity();
      const forged: Desired<ResourceSlice> = {
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "ResourceSlice",
        metadata: {
          name: "forged",
          namespace: "guests-from-rome",
          labels: {
            "liqo.io/replication": "false",
            "liqo.io/replicated": "true",
            "liqo.io/originID": "turin",
            "liqo.io/remote-cluster-id": "turin",
            "liqo.io/remoteID": "milan",
          },
        },
        spec: { consumerClusterID: "turin", csr: Buffer.from("x").toString("base64") },
      };
      await milan.apply(forged);
      await eventAbout(
        milan.admin,
        { kind: "ResourceSlice", name: "forged", namespace: "guests-from-rome" },
        "Invalid ResourceSlice",
      );
      assert.deepEqual(await conditionsAt(milan.admin, { name: "forged", namespace: "guests-from-rome" }), {
        Authentication: "Denied",
      });
      await steps.slice("wrong", {
        spec: { providerClusterID: "milan", csr: Buffer.from("nonsense").toString("base64") },
      });
      await until("denied at the consumer", async () => {
        const { Authentication } = await conditionsAt(rome.admin, { name: "wrong", namespace: "to-milan" });
        return Authentication === "Denied";
      });
      assert.equal(
        await rome.admin.get(Identity, { name: "resourceslice-wrong", namespace: "to-milan" }),
        undefined,
      );
    });

    const labels = ["liqo.io/replication", "liqo.io/remoteID", "liqo.io/remote-cluster-id"];
    for (const label of labels) {
      it(`with a word on the label ${label} where a slice lacks it`, async () => {
        const all = Object.fromEntries(
          labels.map((key) => [key, key === "liqo.io/replication" ? "true" : "milan"]),
        );
        const { [label]: _left, ...rest } = all;
        const name = `without-${label.replace(/\W/g, "-").toLowerCase()}`;
        await steps.slice(name, { metadata: { name, namespace: "to-milan", labels: rest } });
        const about = { kind: "ResourceSlice", name, namespace: "to-milan" };
        assert.match(
          await eventAbout(rome.admin, about, "MissingLabels"),
          new RegExp(`label ${label} is missing`),
        );
      });
    }

    it("with a word on what a Secret lacks", async () => {
      await steps.handmadeSecret("apiVersion: v1", { annotations: {} });
      const about = { kind: "Secret", name: "cplane-secret", namespace: "to-milan" };
      assert.match(
        await eventAbout(rome.admin, about, "InvalidControlPlaneSecret"),
        /annotation liqo\.io\/remote-tenant-namespace is missing/,
      );
    });
  });

  describe("cordoned and drained", () => {
    const setCondition = (tenantCondition: string) =>
      milan.admin.patch(Tenant, tenantOfRome, { spec: { tenantCondition } }, { type: "merge" });
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

  describe("in processes that are killed", () => {
    before(() => Promise.all([rome.stop(), milan.stop()]));

    it("ends in the same peering, whenever they die", async () => {
      const clusters = [rome, milan];
      await Promise.all(clusters.map((cluster) => cluster.spawn()));
      let over = false;
      const deaths = async () => {
        // Long enough to begin something, short enough to finish little.
        for (let death = 0; death < 8; death++) {
          await pause(400 + 150 * death);
          const cluster = clusters[death % 2];
          await cluster?.kill("SIGKILL");
          await cluster?.spawn();
        }
        over = true;
      };
      const dying = deaths();
      await steps.nonceSecret();
      await steps.tenant();
      await steps.identity();
      await steps.slice();
      await dying;
      assert.ok(over);
      await assertPeered();
      const requests = await milan.admin.list(CertificateSigningRequest, {
        labelSelector: "liqo.io/remote-tenant-csr=true",
      });
      const names = requests.map(({ metadata }) => metadata.name);
      assert.equal(new Set(names).size, names.length);
    });

    it("end in an orderly way when they are told to", async () => {
      await Promise.all([rome.untilStarted(), milan.untilStarted()]);
      assert.equal(await rome.kill("SIGTERM"), 0);
      assert.equal(await milan.kill("SIGTERM"), 0);
      await Promise.all([rome.start(), milan.start()]);
      await steps.remove();
    });
  });
});

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}
