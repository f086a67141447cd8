import assert from "node:assert/strict";

import { remoteAffinity } from "../../../runtime/virtual-kubelet/pods/shadow-pod-spec";

const remoteLabels = {
  app: "web",
  tier: "front",
  "pod-template-hash": "59d8",
  "offloading.liqo.io/nodename": "milan",
};
const imposed = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["b"] }] }],
  },
};
const podAntiAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone", labelSelector: {} }],
};
const term = (matchLabels: Record<string, string>) => ({
  topologyKey: "kubernetes.io/hostname",
  labelSelector: { matchLabels },
});

describe("remoteAffinity", () => {
  it("leaves the local affinity at home", () => {
    assert.equal(remoteAffinity({ remoteLabels, affinity: { podAntiAffinity } }, undefined), undefined);
  });

  it("takes the node affinity that the virtual node imposes", () => {
    assert.deepEqual(remoteAffinity({ remoteLabels }, imposed), { nodeAffinity: imposed });
  });

  const shared = { app: "web", tier: "front", "offloading.liqo.io/nodename": "milan" };
  const cases: [preset: string, labels: string | undefined, expected: unknown][] = [
    [
      "soft",
      undefined,
      { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(shared) }] },
    ],
    ["hard", undefined, { requiredDuringSchedulingIgnoredDuringExecution: [term(shared)] }],
    ["hard", "app, missing", { requiredDuringSchedulingIgnoredDuringExecution: [term({ app: "web" })] }],
    ["propagate", undefined, podAntiAffinity],
    ["unknown", undefined, undefined],
  ];
  for (const [preset, labels, expected] of cases) {
    it(`applies the preset ${preset}${labels === undefined ? "" : ` on ${labels}`} beside the imposed affinity`, () => {
      const annotations = {
        "liqo.io/anti-affinity-preset": preset,
        ...(labels === undefined ? {} : { "liqo.io/anti-affinity-labels": labels }),
      };
      const affinity = remoteAffinity({ annotations, remoteLabels, affinity: { podAntiAffinity } }, imposed);
      assert.deepEqual(affinity, {
        nodeAffinity: imposed,
        ...(expected === undefined ? {} : { podAntiAffinity: expected }),
      });
    });
  }

  it("propagates nothing where there is nothing", () => {
    assert.equal(
      remoteAffinity(
        { annotations: { "liqo.io/anti-affinity-preset": "propagate" }, remoteLabels },
        undefined,
      ),
      undefined,
    );
  });
});
