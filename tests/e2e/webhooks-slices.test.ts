import assert from "node:assert/strict";

import { type Desired, ResourceSlice } from "../../runtime/api";
import { createCertificateRequest, generateKeyPair, resourceSliceSubject } from "../../runtime/identity";
import type { KubeClient } from "../../runtime/kube";
import { AdmissionCluster, AUTHENTICATION, refusal } from "../support/admission-cluster";

const key = "liqo.io/remote-cluster-id";

describe("admission of ResourceSlices, over the wire", function () {
  this.timeout(60_000);
  const cluster = AdmissionCluster.forSuite();
  const admin = () => cluster().admin;
  const slice = (
    name: string,
    inNamespace: string,
    labels: Record<string, string>,
  ): Desired<ResourceSlice> => ({
    apiVersion: AUTHENTICATION,
    kind: "ResourceSlice",
    metadata: { name, namespace: inNamespace, labels },
    spec:
      labels["liqo.io/replication"] === "true"
        ? { consumerClusterID: "milan", providerClusterID: inNamespace.replace("liqo-tenant-", "") }
        : { consumerClusterID: "rome", providerClusterID: "milan" },
  });

  before(async () => {
    await cluster().makeTenantNamespace("rome");
    await cluster().makeTenantNamespace("turin");
  });

  it("keeps names of own slices unique, and copies what the peer may not change", async () => {
    const own = { "liqo.io/replication": "true" };
    await admin().create(ResourceSlice, slice("pool", "liqo-tenant-rome", own));
    assert.match(
      await refusal(admin().create(ResourceSlice, slice("pool", "liqo-tenant-turin", own))),
      /a resourceslice with the same name already exists in the cluster: "pool" in namespace "liqo-tenant-rome"; choose another name/,
    );
    const copy = {
      "liqo.io/replication": "false",
      "liqo.io/replicated": "true",
      "liqo.io/originID": "rome",
      "liqo.io/remoteID": "milan",
      [key]: "rome",
    };
    cluster().calls.take();
    const made = await cluster().peers.controlPlane.create(
      ResourceSlice,
      slice("pool", "liqo-tenant-turin", copy),
    );
    assert.deepEqual(cluster().calls.take(), { "/validate/peer-copies": 1 });
    const edit = (client: KubeClient, metadata: object) =>
      client.patch(ResourceSlice, made.metadata, { metadata }, { type: "merge" });
    const label = (value: string | null) => ({ labels: { [key]: value } });
    const annotation = (value: string | null) => ({ annotations: { "liqo.io/cordon": value } });
    const rows: [attempt: object, denial: RegExp, next?: object][] = [
      [label("turin"), /can't change the remoteClusterID label/],
      [label(null), /can't delete the remoteClusterID label/, label(null)],
      [label("rome"), /can't add the remoteClusterID label/, label("rome")],
      [annotation("true"), /can't add the liqo\.io\/cordon annotation/, annotation("true")],
      [annotation("false"), /can't change the liqo\.io\/cordon annotation/],
      [annotation(null), /control plane users can't delete the liqo\.io\/cordon annotation/],
    ];
    for (const [attempt, denial, next] of rows) {
      assert.match(await refusal(edit(cluster().peers.controlPlane, attempt)), denial);
      // Whoever is no peer may.
      if (next !== undefined) await edit(admin(), next);
    }
    const others = { labels: { [key]: "rome", tier: "gold" }, annotations: { note: "the peer's" } };
    await edit(cluster().peers.controlPlane, others);
  });

  it("refuses a slice that names two providers, or asks for what no node has", async () => {
    const own = { "liqo.io/replication": "true", [key]: "turin" };
    const right = slice("odd", "liqo-tenant-turin", own);
    const wrong = { ...right, spec: { ...right.spec, providerClusterID: "naples" } };
    assert.match(
      await refusal(admin().create(ResourceSlice, wrong)),
      /ResourceSlice "liqo-tenant-turin\/odd": spec\.providerClusterID: "naples" is not the cluster of the label .*remote-cluster-id, "turin"/,
    );
    for (const [resources, fault] of [
      [{ cpu: "-1" }, /spec\.resources: cpu: "-1" is negative; give an amount of zero or more/],
      [{ pods: "1.5" }, /pods: "1\.5" is not a whole number/],
      [{ "Bad Name!": "1" }, /"Bad Name!" is no name of a resource/],
    ] as const) {
      const asked = { ...right, spec: { ...right.spec, resources } };
      assert.match(await refusal(admin().create(ResourceSlice, asked)), fault);
    }
    const named = (length: number) => ({ ...right.metadata, name: "p".repeat(length) });
    assert.match(
      await refusal(admin().create(ResourceSlice, { ...right, metadata: named(64) })),
      /ResourceSlice "liqo-tenant-turin\/p{64}": metadata\.name: "p{64}" has 64 characters.*choose a shorter name/,
    );
    const longest = await admin().create(ResourceSlice, { ...right, metadata: named(63) });
    await admin().delete(ResourceSlice, longest.metadata);
  });

  it("keeps what an accepted slice is, lets it be completed again, and tells what a new class means", async () => {
    const own = { "liqo.io/replication": "true", [key]: "rome" };
    const requestOf = (name: string) =>
      Buffer.from(
        createCertificateRequest(resourceSliceSubject(name, "milan"), generateKeyPair().privateKey),
      ).toString("base64");
    const made = slice("kept", "liqo-tenant-rome", own);
    const csr = requestOf("kept");
    const { metadata } = await admin().create(ResourceSlice, { ...made, spec: { ...made.spec, csr } });
    const edit = (spec: object) => admin().patch(ResourceSlice, metadata, { spec }, { type: "merge" });
    assert.match(
      await refusal(edit({ csr: requestOf("other") })),
      /spec\.csr: common name .*leave the field out/,
    );
    const conditions = ["Authentication", "Resources"].map((type) => ({ type, status: "Accepted" }));
    const status = { conditions };
    await admin().patch(ResourceSlice, metadata, { status }, { type: "merge", subresource: "status" });
    for (const [spec, denial] of [
      [
        { csr: requestOf("kept") },
        /"liqo-tenant-rome\/kept": spec\.csr: may not become another .*take the field out/,
      ],
      [
        { providerClusterID: "turin" },
        /spec\.providerClusterID: is "rome" and may not become "turin".*delete it, and/,
      ],
      [
        { consumerClusterID: "turin" },
        /spec\.consumerClusterID: is "milan" and may not become "turin".*delete it, and/,
      ],
      [{ resources: { cpu: "-1" } }, /spec\.resources: cpu: "-1" is negative; give/],
    ] as const)
      assert.match(await refusal(edit(spec)), denial);
    // As a client does that writes the whole spec anew: the controllers fill it in again.
    await edit({ csr: null, consumerClusterID: null, providerClusterID: null, resources: { cpu: "8" } });
    assert.match(
      await cluster().warningOf("PATCH", ResourceSlice, metadata, { spec: { class: "gold" } }),
      /spec\.class: becomes "gold", and what "default" has answered stays until/,
    );
    cluster().calls.take();
    // Neither finalizers, annotations nor the controllers that complete a slice ask anybody; nor does a deletion.
    await admin().patch(
      ResourceSlice,
      metadata,
      { metadata: { finalizers: ["example.org/held"], annotations: { a: "b" } } },
      { type: "merge" },
    );
    await cluster().peers.controllers.patch(
      ResourceSlice,
      metadata,
      { spec: { csr: requestOf("kept") } },
      { type: "merge" },
    );
    await admin().delete(ResourceSlice, metadata);
    await admin().patch(ResourceSlice, metadata, { metadata: { finalizers: null } }, { type: "merge" });
    assert.equal(await admin().get(ResourceSlice, metadata), undefined);
    assert.deepEqual(cluster().calls.take(), {});
  });

  it("gives the name of a slice free that is gone", async () => {
    const own = { "liqo.io/replication": "true" };
    const made = await admin().create(ResourceSlice, slice("freed", "liqo-tenant-rome", own));
    const again = () => admin().create(ResourceSlice, slice("freed", "liqo-tenant-turin", own));
    assert.match(await refusal(again()), /already exists in the cluster/);
    await admin().delete(ResourceSlice, made.metadata);
    await again();
  });
});
