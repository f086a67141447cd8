import assert from "node:assert/strict";

import type { Secret } from "../../../runtime/api";
import { chooseIdentity, waitingMessage } from "../../../runtime/replication/control-plane-secret";
import type { Replicable } from "../../../runtime/replication/copy";

const secret = (
  name: string,
  over: Partial<Secret["metadata"]> = {},
  kubeconfig: string | undefined = "eA==",
): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name,
    namespace: "to-milan",
    uid: name,
    annotations: { "liqo.io/remote-tenant-namespace": "guests" },
    ...over,
  },
  ...(kubeconfig === undefined ? {} : { data: { kubeconfig } }),
});
const going = {
  deletionTimestamp: "2026-03-01T10:00:00Z",
  finalizers: ["crdreplicator.liqo.io/operator"],
};
const names = (secrets: readonly Secret[]) => secrets.map(({ metadata }) => metadata.name);

describe("the Secret to replicate with", () => {
  const rows: [
    string,
    Secret[],
    string | undefined,
    { use?: string; leaving?: string[]; faulty?: string[] },
  ][] = [
    ["none", [], undefined, {}],
    ["the only one", [secret("a")], undefined, { use: "a" }],
    ["none of two", [secret("a"), secret("b")], undefined, { faulty: ["a", "b"] }],
    ["of two the one in use", [secret("a"), secret("b")], "b", { use: "b", faulty: ["a", "b"] }],
    [
      "none without a namespace at the peer",
      [secret("a", { annotations: {} })],
      undefined,
      { faulty: ["a"] },
    ],
    ["none without a kubeconfig", [secret("a", {}, "")], undefined, { faulty: ["a"] }],
    [
      "the usable one beside a faulty one",
      [secret("a", { annotations: {} }), secret("b")],
      undefined,
      { use: "b", faulty: ["a"] },
    ],
    ["the one that is going, to clean up with", [secret("a", going)], "a", { use: "a", leaving: ["a"] }],
    [
      "the new one, not the one that is going",
      [secret("a", going), secret("b")],
      "a",
      { use: "b", leaving: ["a"] },
    ],
    ["none that goes without being held", [secret("a", { ...going, finalizers: [] })], "a", {}],
    ["none that is going and faulty", [secret("a", { ...going, annotations: {} })], "a", { leaving: ["a"] }],
  ];
  for (const [title, secrets, used, expected] of rows) {
    it(`is ${title}`, () => {
      const choice = chooseIdentity(secrets, used);
      assert.equal(choice.use?.metadata.name, expected.use);
      assert.deepEqual(names(choice.leaving), expected.leaving ?? []);
      assert.deepEqual(names(choice.faulty.map((fault) => fault.secret)), expected.faulty ?? []);
    });
  }
});

const slice = (name: string, deletionTimestamp?: string): Replicable => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "ResourceSlice",
  metadata: { name, namespace: "to-milan", ...(deletionTimestamp ? { deletionTimestamp } : {}) },
  spec: {},
});
const goingSlice = (name: string) => slice(name, "2026-03-01T10:00:00Z");

describe("what the deletion of a control-plane Secret waits for", () => {
  it("is told of by name and with the way out, where objects stay", () => {
    const message = waitingMessage("milan", [slice("pool"), goingSlice("old")], true) ?? "";
    assert.match(message, /cluster "milan".*ResourceSlice "to-milan\/pool"; delete them.*liqoctl unpeer/);
    assert.ok(!message.includes("old"), "that goes by itself");
  });

  it("names few of many", () => {
    const many = ["a", "b", "c", "d", "e", "f", "g"].map((name) => slice(name));
    assert.match(waitingMessage("milan", many, false) ?? "", /"to-milan\/e" and 2 more;/);
  });

  it("is the peer's answer where all goes already", () => {
    assert.equal(waitingMessage("milan", [goingSlice("pool")], false), undefined);
    assert.match(
      waitingMessage("milan", [goingSlice("pool")], true) ?? "",
      /copies of ResourceSlice "to-milan\/pool"/,
    );
    assert.match(waitingMessage("milan", [], true) ?? "", /does not answer.*liqoctl force unpeer/);
  });
});
