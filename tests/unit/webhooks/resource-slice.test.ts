import assert from "node:assert/strict";

import { createCertificateRequest, generateKeyPair, resourceSliceSubject } from "../../../runtime/identity";
import { validateResourceSlice } from "../../../runtime/webhooks/resource-slice";
import { admissionRequest } from "./requests";

const cluster = "liqo.io/remote-cluster-id";
const slice = (labels: object, annotations: object = {}, spec: object = {}, status: object = {}) => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "ResourceSlice",
  metadata: { name: "pool", labels, annotations },
  spec,
  status,
});
const requestOf = (name: string, consumer: string) =>
  Buffer.from(
    createCertificateRequest(resourceSliceSubject(name, consumer), generateKeyPair().privateKey),
  ).toString("base64");
const subject = 'ResourceSlice "liqo-tenant-milan/pool": ';
const ofMilan = { "liqo.io/tenant-namespace": "true", [cluster]: "milan" };
const taken = [{ name: "pool", namespace: "liqo-tenant-turin" }];

describe("the validation of a ResourceSlice", () => {
  type Row = [
    title: string,
    request: Parameters<typeof admissionRequest>[0],
    existing: typeof taken,
    denial: string | undefined,
  ];
  const update = (before: object, after: object, user: object) => ({
    operation: "UPDATE" as const,
    oldObject: before,
    object: after,
    ...user,
  });
  const table: Row[] = [
    ["takes a new name", { object: slice({}) }, [], undefined],
    [
      "refuses a name that is taken",
      { object: slice({}) },
      taken,
      'a resourceslice with the same name already exists in the cluster: "pool" in namespace "liqo-tenant-turin"; choose another name, because the virtual node takes it',
    ],
    [
      "refuses two providers at once",
      { object: slice({ [cluster]: "milan" }, {}, { providerClusterID: "turin" }) },
      [],
      subject +
        'spec.providerClusterID: "turin" is not the cluster of the label liqo.io/remote-cluster-id, "milan"; give both the provider\'s ID; ' +
        'spec.providerClusterID: "turin" is not the cluster of namespace "liqo-tenant-milan", "milan"; create the slice in the tenant namespace of its provider',
    ],
    [
      "takes a provider that no label names",
      { object: slice({}, {}, { providerClusterID: "milan" }) },
      [],
      undefined,
    ],
    [
      "refuses what no node has",
      { object: slice({}, {}, { resources: { memory: "1Gi", cpu: -1 } }) },
      [],
      subject + "spec.resources: cpu: -1 is negative; give an amount of zero or more",
    ],
    ["takes a copy of any name", { object: slice({ "liqo.io/replicated": "true" }) }, taken, undefined],
  ];
  for (const [title, request, existing, denial] of table) {
    it(title, () => {
      const verdict = validateResourceSlice(
        admissionRequest({ namespace: "liqo-tenant-milan", ...request }),
        { ownClusterID: "rome", namespaceLabels: ofMilan, localSlices: existing },
      );
      assert.deepEqual(
        verdict,
        denial === undefined ? { allowed: true } : { allowed: false, code: 403, message: denial },
      );
    });
  }

  it("refuses a name that no label carries, when the slice is made", () => {
    const named = (length: number, labels: object = {}) => {
      const { metadata, ...rest } = slice(labels);
      return { ...rest, metadata: { ...metadata, name: "p".repeat(length) } };
    };
    const judge = (request: Parameters<typeof admissionRequest>[0]) =>
      validateResourceSlice(admissionRequest({ namespace: "liqo-tenant-milan", ...request }), {
        ownClusterID: "rome",
        namespaceLabels: ofMilan,
        localSlices: [],
      });
    assert.deepEqual(judge({ object: named(63) }), { allowed: true });
    const long = "p".repeat(64);
    assert.deepEqual(judge({ object: named(64) }), {
      allowed: false,
      code: 403,
      message: `ResourceSlice "liqo-tenant-milan/${long}": metadata.name: "${long}" has 64 characters, and the labels that carry the name of a virtual node hold 63; choose a shorter name`,
    });
    assert.deepEqual(judge({ object: named(64, { "liqo.io/replicated": "true" }) }), { allowed: true });
    assert.deepEqual(judge({ operation: "UPDATE", oldObject: named(64), object: named(64) }), {
      allowed: true,
    });
  });

  describe("of this cluster's own, edited by whoever", () => {
    const csr = requestOf("pool", "rome");
    const whole = { providerClusterID: "milan", consumerClusterID: "rome", class: "default", csr };
    const accepted = {
      conditions: [
        { type: "Authentication", status: "Accepted" },
        { type: "Resources", status: "Accepted" },
      ],
    };
    const own = { "liqo.io/replication": "true", [cluster]: "milan" };
    const judge = (before: object, after: object, namespaceLabels: Record<string, string> = ofMilan) =>
      validateResourceSlice(
        admissionRequest({
          ...update(before, after, { username: "jane", groups: [] }),
          namespace: "liqo-tenant-milan",
        }),
        {
          ownClusterID: "rome",
          namespaceLabels,
          localSlices: [{ name: "pool", namespace: "liqo-tenant-milan" }],
        },
      );
    const edit = (spec: object, status: object = accepted, before: object = whole) =>
      judge(slice(own, {}, before, status), slice(own, {}, { ...before, ...spec }, status));

    it("may ask for more, and leave out what is filled in", () => {
      assert.deepEqual(edit({ resources: { cpu: "8" } }), { allowed: true });
      const { class: kept } = whole;
      const rewritten = judge(slice(own, {}, whole, accepted), slice(own, {}, { class: kept }, accepted));
      assert.deepEqual(rewritten, { allowed: true });
    });

    it("keeps its request, its consumer and its provider once it is accepted", () => {
      const rows: [spec: object, message: RegExp][] = [
        [{ csr: requestOf("pool", "rome") }, /spec\.csr: may not become another .*; take the field out, and/],
        [{ csr: requestOf("spare", "rome") }, /spec\.csr: common name .*"spare-.*; leave the field out/],
        [{ csr: Buffer.from("no request").toString("base64") }, /spec\.csr: .*; leave the field out/],
        [
          { consumerClusterID: "turin" },
          /spec\.consumerClusterID: "turin" is not this cluster, "rome"; leave/,
        ],
        [
          { providerClusterID: "turin" },
          /spec\.providerClusterID: is "milan" and may not become "turin".*create one/,
        ],
        [{ resources: { cpu: "-1" } }, /spec\.resources: cpu: "-1" is negative; give/],
      ];
      for (const [spec, message] of rows) {
        const verdict = edit(spec);
        assert.ok(!verdict.allowed, JSON.stringify(spec));
        assert.equal(verdict.code, 403);
        assert.match(verdict.message, /^ResourceSlice "liqo-tenant-milan\/pool": /);
        assert.match(verdict.message, message);
      }
    });

    it("changes its request before, where that can be signed", () => {
      assert.deepEqual(edit({ csr: requestOf("pool", "rome") }, {}), { allowed: true });
      assert.ok(!edit({ csr: requestOf("pool", "turin") }, {}).allowed);
    });

    it("is moved to another class with a word of what stays", () => {
      const moved = edit({ class: "gold" });
      assert.ok(moved.allowed);
      assert.match(
        moved.warnings?.join() ?? "",
        /spec\.class: becomes "gold", and what "default" has answered stays until/,
      );
      assert.deepEqual(edit({ class: "gold" }, {}), { allowed: true });
      assert.deepEqual(edit({ class: "" }), { allowed: true });
    });

    it("may stay as wrong as it is, and be put right", () => {
      const wrong = { ...whole, providerClusterID: "turin", csr: requestOf("spare", "turin") };
      assert.deepEqual(edit({ resources: { cpu: "1" } }, {}, wrong), { allowed: true });
      assert.deepEqual(edit({ ...whole }, {}, wrong), { allowed: true });
      assert.ok(!edit({ providerClusterID: "naples" }, {}, wrong).allowed);
      // The namespace's labels came later, and contradict what was let in.
      const elsewhere = { "liqo.io/tenant-namespace": "true", [cluster]: "turin" };
      const labelled = slice({ ...own, tier: "a" }, {}, whole, accepted);
      assert.deepEqual(judge(slice(own, {}, whole, accepted), labelled, elsewhere), { allowed: true });
    });
  });
});
