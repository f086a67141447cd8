import assert from "node:assert/strict";

import fc from "fast-check";

import { NamespaceMap, NamespaceOffloading } from "../../../runtime/api";
import { askedNames, creatorUserLabel, tenantOf } from "../../../runtime/plan/peer-objects";

const map = (desiredMapping?: Record<string, string>): NamespaceMap => ({
  apiVersion: NamespaceMap.apiVersion,
  kind: NamespaceMap.kind,
  metadata: { name: "milan", namespace: "to-milan" },
  spec: desiredMapping === undefined ? {} : { desiredMapping },
});

const offloading = (status?: NamespaceOffloading["status"], deleting = false): NamespaceOffloading => ({
  apiVersion: NamespaceOffloading.apiVersion,
  kind: NamespaceOffloading.kind,
  metadata: {
    name: "offloading",
    namespace: "shop",
    ...(deleting ? { deletionTimestamp: "2026-03-01T10:00:00Z" } : {}),
  },
  spec: NamespaceOffloading.parseSpec({}),
  status,
});

const required = (status: string, cluster = "milan") => ({
  remoteNamespaceName: "shop-rome",
  remoteNamespacesConditions: { [cluster]: [{ type: "OffloadingRequired", status }] },
});
const gaveWay = {
  remoteNamespaceName: "shop-rome",
  remoteNamespacesConditions: {
    milan: [
      { type: "OffloadingRequired", status: "True" },
      { type: "Ready", status: "False", reason: "RemoteNamespaceTaken" },
    ],
  },
};

describe("the names that are asked of a provider for a namespace", () => {
  const mapped = map({ shop: "shop-rome" });
  const rows: [string, NamespaceMap, NamespaceOffloading | undefined, string[]][] = [
    ["none without a NamespaceOffloading, whatever the map says", mapped, undefined, []],
    ["none while the NamespaceOffloading goes", mapped, offloading(required("True"), true), []],
    ["none of a cluster that is not selected", mapped, offloading(required("False")), []],
    ["none where another namespace has the name", mapped, offloading(gaveWay), []],
    ["none where the map has none and nothing is worked out", map(), offloading(), []],
    [
      "none where the map has none and another cluster is selected",
      map(),
      offloading(required("True", "turin")),
      [],
    ],
    ["that of the map", mapped, offloading(required("True")), ["shop-rome"]],
    ["that of the map before anything is worked out", mapped, offloading(), ["shop-rome"]],
    [
      "that of the map while other clusters are selected",
      mapped,
      offloading(required("True", "turin")),
      ["shop-rome"],
    ],
    [
      "that which was worked out, where somebody took it from the map",
      map(),
      offloading(required("True")),
      ["shop-rome"],
    ],
    [
      "both, where somebody edited the map",
      map({ shop: "x" }),
      offloading(required("True")),
      ["x", "shop-rome"],
    ],
    ["none that is empty", map({ shop: "" }), offloading(), []],
  ];
  for (const [title, desired, offloaded, expected] of rows)
    it(`are ${title}`, () => assert.deepEqual(askedNames(desired, "shop", offloaded), expected));

  it("do not come from an object's prototype", () => {
    for (const name of ["constructor", "valueof", "__proto__"])
      assert.deepEqual(askedNames(mapped, name, offloading()), []);
  });
});

describe("the creator's label", () => {
  const table: [username: string, label: string | undefined][] = [
    ["pool-a8a4c692b93b", "pool-a8a4c692b93b"],
    ["system:serviceaccount:a:b", "system-serviceaccount-a-b"],
    ["jane@example.com", "jane-example.com"],
    ["", undefined],
  ];
  for (const [username, label] of table) {
    it(`of ${JSON.stringify(username)} is ${JSON.stringify(label)}`, () => {
      assert.equal(creatorUserLabel(username), label);
    });
  }

  it("is a label value for any name", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300 }), (username) => {
        assert.match(creatorUserLabel(username) ?? "", /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/);
      }),
    );
  });

  it("differs for long names that begin alike", () => {
    const long = "system:serviceaccount:".padEnd(80, "a");
    assert.notEqual(creatorUserLabel(`${long}1`), creatorUserLabel(`${long}2`));
  });
});

describe("whose a tenant namespace is", () => {
  const table: [labels: Record<string, string>, consumer: string | undefined][] = [
    [{ "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "rome" }, "rome"],
    [{ "liqo.io/tenant-namespace": "", "liqo.io/remote-cluster-id": "rome" }, "rome"],
    [{ "liqo.io/tenant-namespace": "false", "liqo.io/remote-cluster-id": "rome" }, undefined],
    [{ "liqo.io/tenant-namespace": "False", "liqo.io/remote-cluster-id": "rome" }, undefined],
    [{ "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "" }, ""],
    [{ "liqo.io/tenant-namespace": "true" }, undefined],
    [{ "liqo.io/remote-cluster-id": "rome" }, undefined],
    [{}, undefined],
  ];
  for (const [labels, consumer] of table) {
    it(`${JSON.stringify(labels)} says ${consumer === undefined ? "nobody" : JSON.stringify(consumer)}`, () =>
      assert.equal(tenantOf(labels), consumer));
  }
});
