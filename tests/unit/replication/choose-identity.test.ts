import assert from "node:assert/strict";
import type { Secret } from "../../../runtime/api";
import { chooseIdentity } from "../../../runtime/replication/choose-identity";
import { Recreation } from "../../../runtime/replication/recreation";

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

describe("the making of copies that do not stay", () => {
  it("goes on at once the first time, then ever slower, at most every half minute", () => {
    let now = 0;
    const recreation = new Recreation(() => now);
    const delays: number[] = [];
    for (let time = 0; time < 8; time++) {
      const delay = recreation.delayMs("a");
      delays.push(delay);
      now += delay;
      assert.equal(recreation.delayMs("a"), 0);
      recreation.attempted("a");
    }
    assert.deepEqual(delays, [0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
    assert.equal(recreation.delayMs("b"), 0, "another is not held back");
  });

  it("begins anew after a minute without trouble, and with a new source", () => {
    let now = 0;
    const recreation = new Recreation(() => now);
    for (let time = 0; time < 5; time++) recreation.attempted("a");
    assert.ok(recreation.delayMs("a") > 0);
    now += 60_001;
    assert.equal(recreation.delayMs("a"), 0);
    recreation.attempted("a");
    assert.equal(recreation.delayMs("a"), 0);
    for (let time = 0; time < 5; time++) recreation.attempted("a");
    recreation.forget("a");
    assert.equal(recreation.delayMs("a"), 0);
  });
});
