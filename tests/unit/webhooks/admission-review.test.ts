import assert from "node:assert/strict";

import fc from "fast-check";

import {
  denied,
  labelPatch,
  MalformedReview,
  parseReview,
  patched,
  reviewResponse,
} from "../../../runtime/webhooks/admission-review";

const review = (object: unknown, apiVersion = "admission.k8s.io/v1") =>
  parseReview(
    JSON.stringify({
      apiVersion,
      kind: "AdmissionReview",
      request: {
        uid: "u1",
        operation: "CREATE",
        namespace: "shop",
        userInfo: { username: "jane", groups: ["a", 7] },
        object,
      },
    }),
  );

describe("admission reviews", () => {
  it("are read without their parts being judged", () => {
    const { request } = review({
      metadata: { name: "x", labels: { a: "1", b: 2 }, deletionTimestamp: "2026-03-01T10:00:00Z" },
      spec: 5,
    });
    assert.equal(request.name, "");
    assert.deepEqual(request.groups, ["a"]);
    assert.equal(request.dryRun, false);
    assert.deepEqual(request.object?.metadata, {
      name: "x",
      labels: { a: "1" },
      annotations: {},
      deleting: true,
    });
    assert.equal(request.object?.raw.spec, 5);
    assert.equal(request.oldObject, undefined);
  });

  for (const body of [
    "",
    "[]",
    "{}",
    '{"kind":"AdmissionReview","apiVersion":"v1"}',
    '{"kind":"AdmissionReview","apiVersion":"v1","request":{"uid":"1","operation":"GRAB"}}',
  ]) {
    it(`refuses ${JSON.stringify(body)}`, () => assert.throws(() => parseReview(body), MalformedReview));
  }

  it("are refused or read, whatever comes", () => {
    const request = fc.record({
      uid: fc.anything(),
      operation: fc.anything(),
      object: fc.anything(),
      userInfo: fc.anything(),
    });
    const any = fc.oneof(
      fc.json(),
      request.map((one) => JSON.stringify({ apiVersion: "v1", kind: "AdmissionReview", request: one })),
    );
    fc.assert(
      fc.property(any, (body) => {
        try {
          parseReview(body);
        } catch (error) {
          assert.ok(error instanceof MalformedReview);
        }
      }),
    );
  });

  it("are answered in the version they came in", () => {
    const answer: unknown = JSON.parse(reviewResponse(review({}, "admission.k8s.io/v1beta1"), denied("no")));
    assert.deepEqual(answer, {
      apiVersion: "admission.k8s.io/v1beta1",
      kind: "AdmissionReview",
      response: { uid: "u1", allowed: false, status: { code: 403, message: "no", reason: "Forbidden" } },
    });
  });

  it("carry a patch only when there is one", () => {
    const answer = (verdict: Parameters<typeof reviewResponse>[1]) => reviewResponse(review({}), verdict);
    assert.doesNotMatch(answer(patched([])), /patch/);
    const text = answer(patched([{ op: "remove", path: "/spec" }]));
    const patch = /"patch":"([^"]+)"/.exec(text)?.[1] ?? "";
    assert.equal(Buffer.from(patch, "base64").toString(), '[{"op":"remove","path":"/spec"}]');
  });

  it("set a label on objects with and without labels", () => {
    const objectOf = (object: unknown) => {
      const { request } = review(object);
      assert.ok(request.object);
      return request.object;
    };
    assert.deepEqual(labelPatch(objectOf({ metadata: {} }), "liqo.io/x", "1"), [
      { op: "add", path: "/metadata/labels", value: { "liqo.io/x": "1" } },
    ]);
    assert.deepEqual(labelPatch(objectOf({ metadata: { labels: { a: "b" } } }), "liqo.io/x", "1"), [
      { op: "add", path: "/metadata/labels/liqo.io~1x", value: "1" },
    ]);
    assert.deepEqual(
      labelPatch(objectOf({ metadata: { labels: { "liqo.io/x": "1" } } }), "liqo.io/x", "1"),
      [],
    );
  });
});
