import assert from "node:assert/strict";

import { holdersOf, standingOf } from "../../../provider/tenant-namespace-holders";
import type { Namespace, ObjectMeta } from "../../../runtime/api";
import { tenantNamespace } from "../../../runtime/plan/peering";

const wanted = { name: "liqo-tenant-milan", peer: "milan" };
const labels = tenantNamespace(wanted.name, wanted.peer).metadata.labels ?? {};

const namespace = (metadata: Partial<ObjectMeta>): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: wanted.name, labels, ...metadata },
});

/** Fields as the API server notes them. */
const writtenBy = (...managers: string[]) => ({
  managedFields: managers.map((manager) => ({
    manager,
    operation: "Apply",
    fieldsV1: { "f:metadata": { "f:labels": { "f:liqo.io/tenant-namespace": {} } } },
  })),
});

describe("a tenant namespace that is to be held", () => {
  it("is absent, or on its way out", () => {
    assert.deepEqual(standingOf(wanted, undefined, []), { is: "absent" });
    const leaving = namespace({ deletionTimestamp: "2026-01-02T03:04:05Z" });
    assert.deepEqual(standingOf(wanted, leaving, [leaving]), { is: "leaving" });
  });

  it("is taken where its labels say that it is for the peer, and lacks the others", () => {
    const [podSecurity = ""] = Object.keys(labels).filter((key) => key.startsWith("pod-security"));
    const { [podSecurity]: _, ...fewer } = labels;
    const found = namespace({ labels: fewer, ...writtenBy("liqoctl") });
    assert.deepEqual(standingOf(wanted, found, [found]), {
      is: "present",
      whose: "made by liqoctl",
      missingLabels: { [podSecurity]: "privileged" },
      madeByStack: false,
    });
    const restricted = namespace({ labels: { ...labels, [podSecurity]: "restricted" } });
    const standing = standingOf(wanted, restricted, []);
    assert.ok(standing.is === "present");
    assert.deepEqual(standing.missingLabels, {});
  });

  for (const [what, metadata, madeByStack] of [
    ["liqoctl made it", writtenBy("liqoctl"), false],
    ["nobody is known", {}, false],
    ["a stack of before made it", writtenBy("pulumi-kubernetes-1a2b3c4d"), true],
    ["a stack of before took it over", writtenBy("pulumi-kubernetes-1a2b3c4d", "liqoctl"), false],
    ["a stack made it", { annotations: { "liqo.io/made-by-stack": "true" }, ...writtenBy("any") }, true],
    [
      "a stack holds what another one did not make",
      { annotations: { "stacks.liqo.io/0123": "x" }, ...writtenBy("pulumi-kubernetes-1a2b3c4d") },
      false,
    ],
  ] as const) {
    it(`${madeByStack ? "goes" : "stays"} in the end where ${what}`, () => {
      const standing = standingOf(wanted, namespace(metadata), []);
      assert.ok(standing.is === "present");
      assert.equal(standing.madeByStack, madeByStack);
    });
  }

  for (const [what, metadata, reason] of [
    [
      "another cluster",
      { labels: { ...labels, "liqo.io/remote-cluster-id": "turin" } },
      /is for cluster turin/,
    ],
    ["no cluster", { labels: {} }, /lacks the labels liqo\.io\/tenant-namespace=true and/],
    [
      "one that was switched off",
      { labels: { ...labels, "liqo.io/tenant-namespace": "false" } },
      /lacks the labels/,
    ],
  ] as const) {
    it(`is not taken from ${what}`, () => {
      const standing = standingOf(wanted, namespace(metadata), []);
      assert.ok(standing.is === "foreign");
      assert.match(standing.reason, reason);
    });
  }

  it("is refused where the peer has another one, whose name is told", () => {
    const other = namespace({
      name: "by-hand",
      annotations: { "stacks.liqo.io/0123": 'Peering "a" of stack b' },
    });
    const standing = standingOf(wanted, undefined, [other]);
    assert.ok(standing.is === "foreign");
    assert.match(standing.reason, /by-hand .*held by Peering "a" of stack b.*tenantNamespace: "by-hand"/);
    const leaving = namespace({ name: "by-hand", deletionTimestamp: "2026-01-02T03:04:05Z" });
    assert.deepEqual(standingOf(wanted, undefined, [leaving]), { is: "absent" });
  });

  it("has the holders that its annotations name", () => {
    const annotations = {
      "stacks.liqo.io/ab": "one",
      "stacks.liqo.io/cd": "two",
      "liqo.io/made-by-stack": "true",
    };
    assert.deepEqual(
      [...holdersOf({ name: "x", annotations })],
      [
        ["ab", "one"],
        ["cd", "two"],
      ],
    );
  });
});
