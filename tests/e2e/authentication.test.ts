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
import { registerPeeringMetrics } from "../../runtime/controller-manager/peering-metrics";
import { parseCertificate, parseKubeconfig, publicKeyDer, publicKeyOf } from "../../runtime/identity";
import { createRegistry, InformerSet, KubeClient } from "../../runtime/kube";
import { eventAbout } from "../support/events";
import { handshake } from "../support/handshake";
import type { ManagedCluster } from "../support/managed-cluster";
import {
  atRome,
  clusterWide,
  conditionsAt,
  controlPlaneBinding,
  quotaOfPool,
  sides,
  tenantOfRome,
  withPeeringOfRome,
} from "../support/peering-of-rome";
import type { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { versions } from "../support/versions";

const sliceAtRome = atRome("pool");

describe("authentication, of rome at milan", function () {
  this.timeout(180_000);
  const peering = withPeeringOfRome();
  const { controlPlane, assertPeered } = peering;
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  before(() => {
    ({ rome, milan, steps } = peering);
  });

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
});
