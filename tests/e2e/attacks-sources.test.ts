import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  type Desired,
  Identity,
  type Kind,
  type KubeObject,
  NamespaceMap,
  Renew,
  ResourceSlice,
  Secret,
  VirtualNode,
} from "../../runtime/api";
import { createCertificateAuthority } from "../../runtime/identity/serving-certificate";
import { isForbidden, type KubeClient } from "../../runtime/kube";
import { refusal } from "../support/admission-cluster";
import { controlPlaneOf } from "../support/attackers";
import { ManagedAdmission } from "../support/managed-admission";
import { ACCEPTED, atMilan, withPeeringOfRome } from "../support/peering-of-rome";
import { until } from "../support/until";

const guests = "guests-from-rome";
/** What makes an object at milan look like one that milan asks rome by. */
const sourceLabels = {
  "liqo.io/replication": "true",
  "liqo.io/remoteID": "rome",
  "liqo.io/remote-cluster-id": "rome",
};
/** What makes it a copy of rome's. */
const copyLabels = {
  "liqo.io/replication": "false",
  "liqo.io/replicated": "true",
  "liqo.io/originID": "rome",
  "liqo.io/remoteID": "milan",
  "liqo.io/remote-cluster-id": "rome",
};
const slice = (name: string, labels: Record<string, string>): Desired<ResourceSlice> => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "ResourceSlice",
  metadata: { name, namespace: guests, labels, annotations: { "liqo.io/create-virtual-node": "true" } },
  spec: { class: "default", consumerClusterID: "milan", providerClusterID: "rome", resources: { cpu: "8" } },
});
const renew = (name: string, labels: Record<string, string>): Desired<Renew> => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "Renew",
  metadata: { name, namespace: guests, labels },
  spec: { consumerClusterID: "milan", identityType: "ControlPlane" },
});
const map = (name: string, labels: Record<string, string>): Desired<NamespaceMap> => ({
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "NamespaceMap",
  metadata: { name, namespace: guests, labels },
  spec: { desiredMapping: {} },
});
/** The answer of a provider that was never asked. */
const answer = {
  conditions: ["Authentication", "Resources"].map((type) => ({
    type,
    status: "Accepted",
    lastTransitionTime: "2026-03-01T10:00:00Z",
    reason: "Trap",
    message: "",
  })),
  resources: { cpu: "64" },
  authParams: { apiServer: "https://trap.example.org:6443" },
};

/** The consumer rome, which milan provides for, tries to become milan's provider. */
describe("an attack by sources in the tenant namespace", function () {
  this.timeout(180_000);
  const peering = withPeeringOfRome();
  const { says, peer } = peering;
  const admin = () => peering.milan.admin;
  let attacker: KubeClient;
  let admission: ManagedAdmission | undefined;
  before(async () => {
    await peer();
    attacker = await controlPlaneOf(peering.rome, "to-milan", "milan");
  });
  after(async () => {
    attacker?.close();
    await admission?.stop();
  });

  async function answerTo(name: string): Promise<void> {
    await attacker.patch(
      ResourceSlice,
      { name, namespace: guests },
      { status: answer },
      { type: "merge", subresource: "status" },
    );
  }

  it("fails where no webhook stood in its way: no identity and no virtual node is made, and nothing is signed", async () => {
    await attacker.create(ResourceSlice, slice("trap", sourceLabels));
    await answerTo("trap");
    await pause(3_000);
    assert.equal(await admin().get(Identity, atMilan("resourceslice-trap")), undefined);
    assert.equal(await admin().get(Secret, atMilan("kubeconfig-resourceslice-trap")), undefined);
    assert.equal(await admin().get(VirtualNode, atMilan("trap")), undefined);
    assert.equal((await admin().get(ResourceSlice, atMilan("trap")))?.spec.csr, undefined);
    await attacker.delete(ResourceSlice, atMilan("trap"));
  });

  it("fails where milan is a consumer of rome, and a Renew waits for its Identity with other credentials", async () => {
    const certificate = () =>
      Buffer.from(
        createCertificateAuthority(
          { commonName: "milan", organization: "liqo.io" },
          { notBefore: new Date("2026-01-01"), notAfter: new Date("2046-01-01") },
        ).certificate,
      ).toString("base64");
    const [right, wrong] = [certificate(), certificate()];
    const { metadata } = await attacker.create(Renew, renew("controlplane-rome", sourceLabels));
    const status = { authParams: { signedCRT: wrong, apiServer: "https://trap.example.org:6443" } };
    await attacker.patch(Renew, metadata, { status }, { type: "merge", subresource: "status" });
    const identity: Desired<Identity> = {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Identity",
      metadata: {
        name: "controlplane-rome",
        namespace: guests,
        labels: { "liqo.io/remote-cluster-id": "rome" },
      },
      spec: {
        clusterID: "rome",
        type: "ControlPlane",
        namespace: "to-milan",
        authParams: { signedCRT: right },
      },
    };
    const made = await admin().create(Identity, identity);
    await until("the Identity has a Renew of its own", async () => {
      const found = await admin().get(Renew, atMilan("controlplane-rome"));
      return found?.metadata.ownerReferences?.some(({ uid }) => uid === made.metadata.uid);
    });
    await pause(1_000);
    const { spec } = (await admin().get(Identity, atMilan("controlplane-rome"))) ?? assert.fail();
    assert.deepEqual(spec.authParams, { signedCRT: right });
    const own = await admin().get(Renew, atMilan("controlplane-rome"));
    assert.notEqual(own?.metadata.uid, metadata.uid);
    assert.equal(own?.status?.authParams, undefined);
    await admin().delete(Identity, made.metadata);
    await until("its Renew is gone", async () => {
      await admin().delete(Renew, atMilan("controlplane-rome"));
      return (await admin().get(Renew, atMilan("controlplane-rome"))) === undefined;
    });
  });

  it("fails where a map of namespaces names another consumer", async () => {
    const labels = { ...copyLabels, "liqo.io/originID": "turin" };
    await attacker.create(NamespaceMap, {
      ...map("turin", labels),
      spec: { desiredMapping: { shop: "shop-turin" } },
    });
    await pause(2_000);
    const found = await admin().get(NamespaceMap, atMilan("turin"));
    assert.deepEqual(found?.status?.currentMapping ?? {}, {});
    await attacker.delete(NamespaceMap, atMilan("turin"));
  });

  describe("with the webhooks", () => {
    before(async () => {
      admission = await ManagedAdmission.start(peering.milan);
      // Its replicator removes copies that have no source.
      await peering.rome.stop();
    });
    const kinds: [Kind<KubeObject>, (name: string, labels: Record<string, string>) => Desired<KubeObject>][] =
      [
        [ResourceSlice, slice],
        [Renew, renew],
        [NamespaceMap, map],
      ];
    const make = (kind: Kind<KubeObject>, object: Desired<KubeObject>) =>
      refusal(attacker.create(kind, object));

    for (const [kind, object] of kinds) {
      it(`writes no ${kind.kind} but its own copies, and not their status`, async () => {
        assert.match(await make(kind, object("trap", sourceLabels)), /is no copy of cluster "rome"/);
        assert.match(await make(kind, object("trap", {})), /is no copy of cluster "rome"/);
        const skipped = { ...sourceLabels, "liqo.io/webhook-skip": "true" };
        assert.match(await make(kind, object("trap", skipped)), /is no copy of cluster "rome"/);
        const ofTurin = { ...copyLabels, "liqo.io/originID": "turin" };
        assert.match(await make(kind, object("trap", ofTurin)), /liqo\.io\/originID is "turin"/);

        // A copy may not become a source, nor get a status.
        assert.equal(await make(kind, object("copied", copyLabels)), "allowed");
        const ref = atMilan("copied");
        const patch = (body: object, subresource?: string) =>
          refusal(attacker.patch(kind, ref, body, { type: "merge", subresource }));
        const turned = { ...sourceLabels, "liqo.io/replicated": null, "liqo.io/originID": null };
        assert.match(await patch({ metadata: { labels: turned } }), /is no copy of cluster "rome"/);
        assert.match(
          await patch({ status: { conditions: [], authParams: {}, currentMapping: {} } }, "status"),
          /its status is written by cluster "milan" alone/,
        );
        assert.equal(await patch({ metadata: { annotations: { note: "mine" } } }), "allowed");

        // Nor is what milan asks rome by the peer's to change.
        const milans = object("milans-own", sourceLabels);
        // Held, since a map without a virtual node is removed at once.
        const held = { ...milans.metadata, finalizers: ["example.org/held"] };
        await admin().create(kind, { ...milans, metadata: held });
        const own = atMilan("milans-own");
        const edit = { metadata: { annotations: { note: "rome's" } } };
        assert.match(await refusal(attacker.patch(kind, own, edit, { type: "merge" })), /is no copy/);
        assert.match(await refusal(attacker.delete(kind, own)), /is no copy/);
        await admin().delete(kind, own);
        const freed = { metadata: { finalizers: null } };
        await admin().patch(kind, own, freed, { type: "merge" });
        await attacker.delete(kind, ref);
        await until("gone", async () => (await admin().get(kind, ref)) === undefined);
      });
    }

    it("goes on with what peers do", async () => {
      await peering.rome.start();
      await peering.steps.slice("more");
      await says("more", ACCEPTED);
      await peering.rome.admin.delete(ResourceSlice, { name: "more", namespace: "to-milan" });
      await until(
        "the copy is gone",
        async () => (await admin().get(ResourceSlice, atMilan("more"))) === undefined,
      );
    });

    it("fails closed for peers alone when no webhook answers", async () => {
      await peering.rome.stop();
      await attacker.create(NamespaceMap, map("leaving", copyLabels));
      await admission?.stop();
      admission = undefined;
      assert.match(await make(Renew, renew("trap", sourceLabels)), /failed calling webhook/);
      await assert.rejects(answerTo("pool"), (error) => !isForbidden(error) && /webhook/.test(String(error)));
      // It may leave, and this cluster's own people and controllers go on.
      await attacker.delete(NamespaceMap, atMilan("leaving"));
      const cordon = { metadata: { annotations: { "liqo.io/cordon": "true" } } };
      await admin().patch(ResourceSlice, atMilan("pool"), cordon, { type: "merge" });
      const forged = { status: { resources: { cpu: "64" } } };
      await admin().patch(ResourceSlice, atMilan("pool"), forged, { type: "merge", subresource: "status" });
      await until("the controllers put the status back", async () => {
        const found = await admin().get(ResourceSlice, atMilan("pool"));
        return found?.status?.resources?.cpu === "8";
      });
    });
  });
});
