import assert from "node:assert/strict";

import { verdictOn } from "../../../provider/existing-objects";

const labels = { "liqo.io/remote-cluster-id": "milan" };
const planned = (kind = "Tenant") => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind,
  metadata: { name: "milan", namespace: "liqo-tenant-milan", labels },
});
const by = (...managers: string[]) => ({ labels, managedFields: managers.map((manager) => ({ manager })) });

describe("an object that is there already", () => {
  for (const [what, found, options, is, text] of [
    [
      "liqoctl's, in a preview",
      by("liqoctl"),
      { adopt: false, preview: true },
      "refused",
      /written by liqoctl/,
    ],
    [
      "liqoctl's, in the run",
      by("liqoctl"),
      { adopt: false, preview: false },
      "refused",
      /adoptExisting: true/,
    ],
    ["liqoctl's, to be adopted", by("liqoctl"), { adopt: true, preview: true }, "told", /will be taken over/],
    ["liqoctl's, adopted", by("liqoctl"), { adopt: true, preview: false }, "told", /is taken over/],
    [
      "a stack's, in a preview, which may be this one's own",
      by("liqo", "pulumi-kubernetes-1a"),
      { adopt: false, preview: true },
      "told",
      /If another stack has it, up will refuse/,
    ],
    [
      "a stack's, in the run",
      by("pulumi-kubernetes-1a"),
      { adopt: false, preview: false },
      "refused",
      /would take it over/,
    ],
    [
      "another cluster's, though it is to be adopted",
      { ...by("liqoctl"), labels: { "liqo.io/remote-cluster-id": "turin" } },
      { adopt: true, preview: true },
      "refused",
      /is for cluster turin.*not for milan/,
    ],
    ["nobody's", {}, { adopt: true, preview: true }, "refused", /written by somebody else.*no cluster/],
    [
      "on its way out, in the run",
      { ...by("liqoctl"), deletionTimestamp: "2026-01-02T03:04:05Z" },
      { adopt: true, preview: false },
      "refused",
      /is being removed/,
    ],
  ] as const) {
    it(`is ${is}: ${what}`, () => {
      const verdict = verdictOn(planned(), found, options);
      assert.ok(verdict.is !== "fine");
      assert.equal(verdict.is, is);
      assert.match(verdict.text, text);
    });
  }

  it("may be on its way out in a preview", () => {
    const leaving = { ...by("liqoctl"), deletionTimestamp: "2026-01-02T03:04:05Z" };
    assert.deepEqual(verdictOn(planned(), leaving, { adopt: false, preview: true }), { is: "fine" });
  });

  it("tells how a network is shared", () => {
    const verdict = verdictOn(planned("GatewayServer"), by("liqoctl"), { adopt: false, preview: true });
    assert.ok(verdict.is === "refused");
    assert.match(verdict.text, /networking: \{ enabled: false \}/);
  });
});
