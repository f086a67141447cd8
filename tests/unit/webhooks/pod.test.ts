import assert from "node:assert/strict";
import { podPatch, toleratesVirtualNodes } from "../../../runtime/webhooks/pod";

const toleration = { key: "virtual-node.liqo.io/not-allowed", operator: "Exists", effect: "NoExecute" };
const virtual = { key: "liqo.io/type", operator: "In", values: ["virtual-node"] };
const physical = { key: "liqo.io/type", operator: "NotIn", values: ["virtual-node"] };
const inB = { key: "region", operator: "In", values: ["B"] };
const clusterSelector = { nodeSelectorTerms: [{ matchExpressions: [inB] }] };
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const affinity = (...nodeSelectorTerms: object[]) => ({
  nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } },
});
const tolerate = { op: "add", path: "/spec/tolerations", value: [toleration] };

describe("the pod webhook's patch", () => {
  const table: [
    title: string,
    spec: unknown,
    offloading: Parameters<typeof podPatch>[1],
    patch: unknown[],
  ][] = [
    ["is empty with the strategy Local", {}, { podOffloadingStrategy: "Local", clusterSelector }, []],
    [
      "is empty for pods of the Liqo runtime class",
      { runtimeClassName: "liqo" },
      { podOffloadingStrategy: "Remote" },
      [],
    ],
    [
      "tolerates only, for LocalAndRemote without selector",
      {},
      { podOffloadingStrategy: "LocalAndRemote" },
      [tolerate],
    ],
    [
      "adds the cluster selector or any local node, for LocalAndRemote",
      {},
      { podOffloadingStrategy: "LocalAndRemote", clusterSelector },
      [
        tolerate,
        {
          op: "add",
          path: "/spec/affinity",
          value: affinity({ matchExpressions: [inB] }, { matchExpressions: [physical] }),
        },
      ],
    ],
    [
      "asks for a virtual node, for Remote without selector",
      { runtimeClassName: "gvisor" },
      { podOffloadingStrategy: "Remote" },
      [tolerate, { op: "add", path: "/spec/affinity", value: affinity({ matchExpressions: [virtual] }) }],
    ],
    [
      "asks for a virtual node in every term, for Remote",
      { affinity: { podAffinity: {} } },
      { podOffloadingStrategy: "Remote", clusterSelector },
      [
        tolerate,
        {
          op: "add",
          path: "/spec/affinity/nodeAffinity",
          value: affinity({ matchExpressions: [inB, virtual] }).nodeAffinity,
        },
      ],
    ],
    [
      "keeps what the pod asks for itself, pinning fields too",
      {
        tolerations: [{ key: "gpu", operator: "Exists" }],
        affinity: {
          nodeAffinity: {
            [REQUIRED]: {
              nodeSelectorTerms: [
                { matchFields: [{ key: "metadata.name", operator: "In", values: ["worker-1"] }] },
                { matchExpressions: [{ key: "ssd", operator: "Exists" }] },
              ],
            },
          },
        },
      },
      { podOffloadingStrategy: "Remote" },
      [
        { op: "add", path: "/spec/tolerations/-", value: toleration },
        {
          op: "add",
          path: `/spec/affinity/nodeAffinity/${REQUIRED}`,
          value: {
            nodeSelectorTerms: [
              {
                matchExpressions: [virtual],
                matchFields: [{ key: "metadata.name", operator: "In", values: ["worker-1"] }],
              },
              { matchExpressions: [{ key: "ssd", operator: "Exists" }, virtual] },
            ],
          },
        },
      ],
    ],
    [
      "leaves a pod unschedulable whose namespace selects nothing",
      { tolerations: [toleration] },
      { podOffloadingStrategy: "Remote", clusterSelector: { nodeSelectorTerms: [{}] } },
      [{ op: "add", path: "/spec/affinity", value: affinity({}) }],
    ],
    [
      "adds no toleration twice",
      { tolerations: [toleration] },
      { podOffloadingStrategy: "LocalAndRemote" },
      [],
    ],
  ];
  for (const [title, spec, offloading, patch] of table) {
    it(title, () => assert.deepEqual(podPatch(spec, offloading, "liqo"), patch));
  }

  it("is refused for a strategy that is not known", () => {
    assert.throws(() => podPatch({}, { podOffloadingStrategy: "Sometimes" }, "liqo"), /"Sometimes"/);
  });

  const tolerations: [Record<string, unknown>, boolean][] = [
    [toleration, true],
    [{ operator: "Exists" }, true],
    [{ operator: "Exists", effect: "NoExecute" }, true],
    [{ operator: "Exists", effect: "NoSchedule" }, false],
    [{ ...toleration, effect: "" }, true],
    [{ ...toleration, tolerationSeconds: 300 }, false],
    [{ key: toleration.key, operator: "Equal", value: "true" }, true],
    [{ key: toleration.key, value: "true" }, true],
    [{ key: toleration.key, value: "false" }, false],
    [{ key: "gpu", operator: "Exists" }, false],
  ];
  for (const [one, expected] of tolerations) {
    it(`${JSON.stringify(one)} ${expected ? "tolerates" : "does not tolerate"} virtual nodes`, () => {
      assert.equal(toleratesVirtualNodes(one), expected);
    });
  }
});
