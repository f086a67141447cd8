import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  ClusterRoleBinding,
  type Desired,
  ForeignCluster,
  RoleBinding,
  Secret,
  Tenant,
} from "../../runtime/api";
import {
  controlPlaneSubject,
  createCertificateRequest,
  generateKeyPair,
  generateNonce,
  type KeyPair,
  publicKeyFingerprint,
  signNonce,
} from "../../runtime/identity";
import type { KubeClient } from "../../runtime/kube";
import { tenantNamespace } from "../../runtime/plan/peering";
import { refusal } from "../support/admission-cluster";
import { peeringUserOf } from "../support/attackers";
import { base64 } from "../support/base64";
import { eventAbout, eventWith } from "../support/events";
import { ManagedAdmission } from "../support/managed-admission";
import { atMilan, tenantOfRome, withPeeringOfRome } from "../support/peering-of-rome";
import { until } from "../support/until";

const guests = "guests-from-rome";
const wideOfTurin = { name: "liqo-binding-liqo-virtual-kubelet-remote-clusterwide-turin" };

function tenantOf(
  consumer: string,
  namespace: string,
  spec: Partial<Tenant["spec"]>,
  labels = {},
): Desired<Tenant> {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: {
      name: `${consumer}-in-${namespace}`,
      namespace,
      labels: { "liqo.io/remote-cluster-id": consumer, ...labels },
    },
    spec: { clusterID: consumer, authzPolicy: "KeysExchange", tenantCondition: "Active", ...spec },
  };
}

function secretIn(
  namespace: string,
  name: string,
  labels: object,
  data: Record<string, string>,
): Desired<Secret> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: { ...labels } },
    data,
  };
}

function proofOf(consumer: string, { publicKey, privateKey }: KeyPair, nonce?: string) {
  return {
    publicKey: base64(publicKey),
    csr: base64(createCertificateRequest(controlPlaneSubject(consumer), privateKey)),
    ...(nonce === undefined ? {} : { signature: signNonce(nonce, privateKey).toString("base64") }),
  };
}

/** The administrator of rome, who may write rome's Tenant at milan and Secrets beside it, tries for more than rome has. */
describe("an attack by Tenants", function () {
  this.timeout(180_000);
  const peering = withPeeringOfRome();
  const admin = () => peering.milan.admin;
  let attacker: KubeClient;
  let admission: ManagedAdmission | undefined;
  before(async () => {
    await peering.peer();
    attacker = await peeringUserOf("rome", peering.milan, guests);
    // Another consumer, whose administrator hands out the credentials.
    await peering.milan.apply(tenantNamespace("guests-from-turin", "turin"));
    await peering.milan.apply(tenantOf("turin", "guests-from-turin", { authzPolicy: "TolerateNoHandshake" }));
    await until("turin is granted", () => admin().get(ClusterRoleBinding, wideOfTurin));
  });
  after(async () => {
    attacker?.close();
    await admission?.stop();
  });
  const edit = (body: object) => attacker.patch(Tenant, tenantOfRome, body, { type: "merge" });
  const signed = async () => (await peering.tenantAtMilan()).status?.authParams?.signedCRT;

  it("gets no role bound by an annotation", async () => {
    const binding = {
      name: "trap",
      namespace: "kube-system",
      clusterRole: "liqo-virtual-kubelet-remote",
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "rome" }],
    };
    await edit({ metadata: { annotations: { "liqo.io/drained-role-bindings": JSON.stringify([binding]) } } });
    await pause(3_000);
    assert.equal(await admin().get(RoleBinding, { name: "trap", namespace: "kube-system" }), undefined);
    assert.match(
      await refusal(
        attacker.patch(
          Tenant,
          tenantOfRome,
          { status: { drainedRoleBindings: [binding] } },
          { type: "merge", subresource: "status" },
        ),
      ),
      /forbidden/,
    );
    await edit({ metadata: { annotations: { "liqo.io/drained-role-bindings": null } } });
  });

  it("gets no certificate for another key by an annotation in place of the signature", async () => {
    const [before, { spec }] = [await signed(), await peering.tenantAtMilan()];
    const other = generateKeyPair();
    const annotations = { "liqo.io/rotated-public-key": publicKeyFingerprint(other.publicKey) };
    const tenant = await edit({ metadata: { annotations }, spec: proofOf("rome", other) });
    await eventWith(admin(), tenant, "SignatureVerificationFailed", /spec\.signature/);
    assert.equal(await signed(), before);
    const { publicKey, csr, signature } = spec;
    await edit({
      metadata: { annotations: { "liqo.io/rotated-public-key": null } },
      spec: { publicKey, csr, signature },
    });
  });

  it("takes nothing from another consumer by a Tenant in the own namespace, and gets none of its credentials", async () => {
    const nonce = generateNonce();
    const marks = { "liqo.io/nonce": "true", "liqo.io/remote-cluster-id": "turin" };
    await attacker.create(Secret, secretIn(guests, "nonce-of-turin", marks, { nonce: base64(nonce) }));
    const skip = { "liqo.io/webhook-skip": "true" };
    for (const tenantCondition of ["Active", "Drained"] as const) {
      const spec = { tenantCondition, ...proofOf("turin", generateKeyPair(), nonce) };
      const { metadata } = await attacker.create(Tenant, tenantOf("turin", guests, spec, skip));
      assert.match(
        await eventAbout(
          admin(),
          { kind: "Tenant", name: metadata.name, namespace: guests },
          "WrongNamespace",
        ),
        /"guests-from-rome" is not the tenant namespace of cluster "turin", which is "guests-from-turin"/,
      );
      await pause(1_000);
      const found = await admin().get(Tenant, metadata);
      assert.equal(found?.status?.authParams, undefined);
      assert.ok(await admin().get(ClusterRoleBinding, wideOfTurin));
      await attacker.delete(Tenant, metadata);
      await until("the Tenant is gone", async () => (await admin().get(Tenant, metadata)) === undefined);
      assert.ok(await admin().get(ClusterRoleBinding, wideOfTurin));
    }
  });

  it("does not hold up another consumer's handshake by a nonce in the own namespace", async () => {
    const ref = { name: "turin-in-guests-from-turin", namespace: "guests-from-turin" };
    const nonce = generateNonce();
    const marks = { "liqo.io/nonce": "true", "liqo.io/remote-cluster-id": "turin" };
    await admin().create(
      Secret,
      secretIn("guests-from-turin", "liqo-nonce", marks, { nonce: base64(nonce) }),
    );
    const spec = { authzPolicy: "KeysExchange", ...proofOf("turin", generateKeyPair(), nonce) };
    await admin().patch(Tenant, ref, { spec }, { type: "merge" });
    await until("turin has credentials", async () => (await admin().get(Tenant, ref))?.status?.authParams);
  });

  it("brings no cluster into being that milan does not know", async () => {
    const { metadata } = await attacker.create(Tenant, tenantOf("genoa", guests, {}));
    await eventAbout(
      admin(),
      { kind: "Tenant", name: metadata.name, namespace: guests },
      "TenantNamespaceNotFound",
    );
    await pause(1_000);
    assert.equal(await admin().get(ForeignCluster, { name: "genoa" }), undefined);
    assert.ok(await admin().get(ForeignCluster, { name: "rome" }));
    await attacker.delete(Tenant, metadata);
  });

  it("has nothing but nonces signed with milan's key", async () => {
    const request = createCertificateRequest(controlPlaneSubject("milan"), generateKeyPair().privateKey);
    const marks = { "liqo.io/signed-nonce": "true", "liqo.io/remote-cluster-id": "rome" };
    const der = request.replace(/-----[^-]*-----|\s/g, "");
    const made = await attacker.create(Secret, secretIn(guests, "oracle", marks, { nonce: der }));
    await eventWith(admin(), made, "NonceNotFound", /is no nonce/);
    assert.equal((await attacker.get(Secret, made.metadata))?.data?.signedNonce, undefined);
    await attacker.delete(Secret, made.metadata);
  });

  describe("with the webhooks", () => {
    before(async () => {
      admission = await ManagedAdmission.start(peering.milan);
    });

    it("is refused whatever the labels say", async () => {
      const skip = { "liqo.io/webhook-skip": "true" };
      for (const tenant of [
        tenantOf("turin", guests, {}, skip),
        tenantOf("turin", guests, {}, { ...skip, "liqo.io/remote-cluster-id": "rome" }),
      ])
        assert.match(
          await refusal(attacker.create(Tenant, tenant)),
          /belongs to cluster "rome"|make them equal/,
        );
    });

    it("does not undo what milan's administrator decided", async () => {
      const condition = (tenantCondition: string) => ({ spec: { tenantCondition } });
      await admin().patch(Tenant, tenantOfRome, condition("Cordoned"), { type: "merge" });
      // Upstream's liqoctl writes Active whenever it authenticates again, so that the request goes through and changes nothing.
      assert.equal(await refusal(edit(condition("Active"))), "allowed");
      assert.equal((await admin().get(Tenant, tenantOfRome))?.spec.tenantCondition, "Cordoned");
      assert.equal(await refusal(edit({ spec: { proxyURL: "http://proxy.example.org:8118" } })), "allowed");
      await admin().patch(Tenant, tenantOfRome, condition("Active"), { type: "merge" });
    });

    it("makes no Secret by which milan would act as a consumer, and makes its nonce as ever", async () => {
      const peer = { "liqo.io/remote-cluster-id": "rome" };
      for (const [label, value] of [
        ["liqo.io/identity-type", "ControlPlane"],
        ["liqo.io/signed-nonce", "true"],
      ] as const) {
        const secret = secretIn(guests, "trap", { ...peer, [label]: value }, { kubeconfig: base64("a") });
        assert.match(
          await refusal(attacker.create(Secret, secret)),
          new RegExp(`the label ${label} makes it`),
        );
      }
      const nonce = secretIn(guests, "again", { ...peer, "liqo.io/nonce": "true" }, {});
      assert.equal(await refusal(attacker.create(Secret, nonce)), "allowed");
      await attacker.delete(Secret, atMilan("again"));
    });

    it("leaves milan's administrator able to drain when no webhook answers", async () => {
      await admission?.stop();
      admission = undefined;
      const drained = { spec: { tenantCondition: "Drained" } };
      assert.match(await refusal(edit(drained)), /failed calling webhook/);
      await admin().patch(Tenant, tenantOfRome, drained, { type: "merge" });
    });
  });
});
