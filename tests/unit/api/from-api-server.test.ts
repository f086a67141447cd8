import assert from "node:assert/strict";

import {
  Configuration,
  InvalidObjectError,
  Lease,
  Pod,
  SubjectAccessReview,
  Tenant,
} from "../../../runtime/api";
import type { Kind, KubeObject } from "../../../runtime/api";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0", namespace: "shop" },
  spec: { containers: [] },
};
const tenant = { apiVersion: "authentication.liqo.io/v1beta1", kind: "Tenant", metadata: { name: "rome" } };

describe("reading what an API server returned", () => {
  it("gives back the same object, for our kinds and the built-in ones", () => {
    const object = { ...tenant, spec: { tenantCondition: "Active", fieldOfALaterVersion: 1 } };
    assert.equal(Tenant.fromApiServer(object), object);
    assert.equal(Pod.fromApiServer(pod), pod);
  });

  it("gives an object of ours a spec", () => {
    assert.deepEqual(Tenant.fromApiServer({ ...tenant }).spec, {});
  });

  it("brings the networks of a Configuration of Liqo 1.0 into lists", () => {
    const object = {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Configuration",
      metadata: { name: "milan" },
      spec: { remote: { cidr: { pod: "10.201.0.0/16", external: ["10.71.0.0/16"] } } },
    };
    assert.deepEqual(Configuration.fromApiServer(object).spec.remote?.cidr, {
      pod: ["10.201.0.0/16"],
      external: ["10.71.0.0/16"],
    });
    assert.deepEqual(Configuration.fromApiServer({ ...object, spec: {} }).spec, {});
  });

  const refused: [what: string, kind: Kind<KubeObject>, value: unknown, message: RegExp][] = [
    ["nothing", Pod, undefined, /^Pod: is missing, not an object/],
    ["a list", Pod, [pod], /^Pod: is a list, not an object/],
    [
      "an error in the place of an object",
      Pod,
      { apiVersion: "v1", kind: "Status", code: 404 },
      /kind: is "Status"/,
    ],
    [
      "another group",
      Lease,
      { ...pod, kind: "Lease" },
      /apiVersion: is "v1"; write coordination\.k8s\.io\/v1/,
    ],
    ["no metadata", Pod, { ...pod, metadata: null }, /metadata: is null, not an object/],
    [
      "no name",
      Tenant,
      { ...tenant, metadata: { name: "" } },
      /metadata\.name: is ""; give the object's name/,
    ],
    ["a pod without a spec", Pod, { ...pod, spec: undefined }, /^Pod "shop\/web-0": spec: is missing/],
    [
      "a spec that is no object",
      Tenant,
      { ...tenant, spec: "x" },
      /^Tenant "rome": spec: is "x", not an object/,
    ],
    ["a status that is no object", Tenant, { ...tenant, status: [] }, /status: is a list, not an object/],
  ];
  for (const [what, kind, value, message] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => kind.fromApiServer(value),
        (error: Error) => error instanceof InvalidObjectError && message.test(error.message),
      );
    });
  }

  it("reads a review, which has no name", () => {
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: {},
      spec: {},
      status: { allowed: true },
    };
    assert.equal(SubjectAccessReview.parse(review).status?.allowed, true);
    assert.throws(() => SubjectAccessReview.parse({ ...review, kind: "Status" }), /kind: is "Status"/);
  });

  it("costs less than 2 µs of processor time an object", () => {
    const object = { ...tenant, spec: {}, status: {} };
    const count = 200_000;
    for (let warm = 0; warm < count; warm++) Tenant.fromApiServer(object);
    const before = process.cpuUsage();
    for (let run = 0; run < count; run++) Tenant.fromApiServer(object);
    const { user, system } = process.cpuUsage(before);
    const microseconds = (user + system) / count;
    assert.ok(microseconds < 2, `${microseconds.toFixed(2)} µs`);
  });
});
