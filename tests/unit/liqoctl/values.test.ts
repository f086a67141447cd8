import assert from "node:assert/strict";

import { tagOf } from "../../../runtime/liqoctl/info/installation-info";
import { fieldAt, section } from "../../../runtime/liqoctl/output";
import { duration, pairs, quantities, selectorTerm, words } from "../../../runtime/liqoctl/values";
import { translated } from "../../../runtime/liqoctl/peering/in-band";
import { judge } from "../../../runtime/liqoctl/peering/slice";
import type { ResourceSlice } from "../../../runtime/api";

describe("values of liqoctl's flags", () => {
  it("are times", () => {
    assert.deepEqual(
      ["90s", "10m", "1h30m", "250ms", "1.5s"].map(duration),
      [90_000, 600_000, 5_400_000, 250, 1_500],
    );
    for (const wrong of ["", "10", "soon", "10 m", "-5s"]) assert.throws(() => duration(wrong), /10m/);
  });

  it("are pairs, amounts and words, by commas or repeated", () => {
    assert.deepEqual(pairs("a=1,b=2", { c: "3" }), { a: "1", b: "2", c: "3" });
    assert.throws(() => pairs("a"), /"a" is none/);
    assert.deepEqual(quantities("nvidia.com/gpu=2"), { "nvidia.com/gpu": "2" });
    assert.throws(() => quantities("cpu=lots"), /suffix/);
    assert.deepEqual(words("fast, slow", ["first"]), ["first", "fast", "slow"]);
  });

  it("are label selectors", () => {
    const text = "region=europe, tier != test,zone in (a, b),disk notin (hdd),gpu,!liqo.io/spot";
    assert.deepEqual(selectorTerm(text, "--selector").matchExpressions, [
      { key: "region", operator: "In", values: ["europe"] },
      { key: "tier", operator: "NotIn", values: ["test"] },
      { key: "zone", operator: "In", values: ["a", "b"] },
      { key: "disk", operator: "NotIn", values: ["hdd"] },
      { key: "gpu", operator: "Exists" },
      { key: "liqo.io/spot", operator: "DoesNotExist" },
    ]);
    for (const wrong of ["", "a=b,", "a>b", "in (a)", "a in a"])
      assert.throws(() => selectorTerm(wrong, "--selector"), /is no requirement/, wrong);
  });
});

describe("what liqoctl shows", () => {
  const document = {
    local: { clusterID: "rome", labels: { "liqo.io/provider": "kind" } },
    peers: [{ role: "" }],
  };

  it("is found field by field, in any case", () => {
    assert.equal(fieldAt(document, "local.clusterid"), "rome");
    assert.equal(fieldAt(document, ".Local.ClusterID"), "rome");
    assert.equal(fieldAt(document, "local.labels[liqo.io/provider]"), "kind");
    assert.equal(fieldAt(document, "peers.0.role"), "");
    assert.throws(() => fieldAt(document, "local.version"), {
      message: "--get local.version: local has no field version",
      next: "it has: clusterID, labels",
    });
    assert.throws(() => fieldAt(document, "nothing"), {
      message: "--get nothing: there is no field nothing",
    });
  });

  it("is readable", () => {
    const lines = section("Network", {
      podCIDRs: ["10.1.0.0/16"],
      gateway: { port: 51840, role: "Server" },
    }).split("\n");
    assert.equal(lines[0]?.length, 80);
    assert.deepEqual(lines.slice(1), [
      "  Pod CIDRs:",
      "      - 10.1.0.0/16",
      "  Gateway:",
      "      Port: 51840",
      "      Role: Server",
      "",
    ]);
  });

  it("knows the version of an image", () => {
    assert.deepEqual(
      ["registry:5000/runtime", "registry:5000/runtime:1.2", "runtime:1@sha256:ab"].map(tagOf),
      [undefined, "1.2", "1"],
    );
  });
});

describe("the answer to a slice", () => {
  const slice = (
    status: ResourceSlice["status"],
    spec: Partial<ResourceSlice["spec"]> = {},
  ): ResourceSlice => ({
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { name: "milan" },
    spec: { class: "default", resources: { cpu: "2" }, ...spec },
    status,
  });
  const accepted = [
    { type: "Authentication" as const, status: "Accepted" as const },
    { type: "Resources" as const, status: "Accepted" as const },
  ];

  it("is open until both conditions are there and the present request is answered", () => {
    assert.equal(judge(undefined), "the slice does not exist");
    assert.equal(
      judge(slice({ conditions: accepted.slice(1) })),
      "the provider has not answered yet (status.conditions)",
    );
    assert.equal(
      judge(slice({ conditions: accepted, resources: { cpu: "1" } })),
      "the provider still grants cpu 1",
    );
    assert.deepEqual(judge(slice({ conditions: accepted, resources: { cpu: "2000m" } })), {
      granted: true,
      resources: { cpu: "2000m" },
    });
  });

  it("of a class of somebody else may be other amounts than were asked for", () => {
    const other = slice({ conditions: accepted, resources: { cpu: "1" } }, { class: "gold" });
    assert.deepEqual(judge(other), { granted: true, resources: { cpu: "1" } });
  });

  it("is a denial as soon as one of them denies", () => {
    const denied = {
      type: "Resources" as const,
      status: "Denied" as const,
      reason: "Full",
      message: "no room",
    };
    assert.deepEqual(judge(slice({ conditions: [denied] })), {
      granted: false,
      reason: "Resources is Denied (Full): no room",
    });
  });
});

describe("an address of the provider's external network", () => {
  it("is at the same place in the network that the consumer has for it", () => {
    assert.equal(translated("10.70.0.5", "10.70.0.0/16", "10.71.0.0/16"), "10.71.0.5");
    assert.equal(translated("192.168.255.9", "192.168.128.0/17", "10.3.0.0/17"), "10.3.127.9");
  });
});
