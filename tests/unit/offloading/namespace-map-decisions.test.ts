import assert from "node:assert/strict";

import type { NamespaceMap } from "../../../runtime/api";
import type { SelectableVirtualNode } from "../../../runtime/offloading/cluster-selection";
import {
  decideMap,
  type MapDecision,
  type MapFacts,
} from "../../../runtime/offloading/namespace-map-creator";
import {
  planMapping,
  planRemoval,
  type CompetingOffloading,
} from "../../../runtime/offloading/namespace-offloading-plan";

const map = (
  name: string,
  desiredMapping: Record<string, string> = {},
  metadata: object = {},
): NamespaceMap => ({
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "NamespaceMap",
  metadata: { name, namespace: `liqo-tenant-${name}`, ...metadata },
  spec: { desiredMapping },
});

describe("the map of a cluster", () => {
  const used = map("milan", { shop: "shop-rome" });
  const facts: MapFacts = {
    staying: 0,
    virtualNodes: 0,
    map: used,
    peered: true,
    aloneForMs: 0,
    graceMs: 30_000,
  };
  const table: [title: string, facts: Partial<MapFacts>, decision: MapDecision][] = [
    [
      "is made with the first virtual node",
      { map: undefined, staying: 1, virtualNodes: 1 },
      { do: "create" },
    ],
    ["is not made for one that is leaving", { map: undefined, virtualNodes: 1 }, { do: "nothing" }],
    [
      "is not made a second time before it has gone",
      { map: map("milan", {}, { deletionTimestamp: "2026-03-01T10:00:00Z" }), staying: 1, virtualNodes: 1 },
      { do: "nothing" },
    ],
    ["stays with virtual nodes", { staying: 1, virtualNodes: 2 }, { do: "nothing" }],
    ["stays while the last one is leaving", { virtualNodes: 1 }, { do: "nothing" }],
    ["stays a while after the last one", { aloneForMs: 12_000 }, { do: "wait", ms: 18_000 }],
    ["goes after that", { aloneForMs: 30_000 }, { do: "delete" }],
    ["goes at once with the peering", { peered: false }, { do: "delete" }],
    ["goes at once when nothing is in it", { map: map("milan") }, { do: "delete" }],
    [
      "stays while the provider still holds something",
      {
        map: {
          ...map("milan"),
          status: { currentMapping: { shop: { remoteNamespace: "shop-rome", phase: "Terminating" } } },
        },
      },
      { do: "wait", ms: 30_000 },
    ],
    ["is nobody's concern without virtual nodes", { map: undefined }, { do: "nothing" }],
  ];
  for (const [title, given, decision] of table) {
    it(title, () => assert.deepEqual(decideMap({ ...facts, ...given }), decision));
  }
});

describe("a namespace's place in the maps", () => {
  const node = (
    name: string,
    clusterID: string,
    region: string,
    deleting = false,
  ): SelectableVirtualNode => ({
    name,
    clusterID,
    labels: { region },
    deleting,
  });
  const inB = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["B"] }] }],
  };
  const plan = (virtualNodes: SelectableVirtualNode[], ...maps: NamespaceMap[]) =>
    planBeside([], virtualNodes, ...maps);
  const planBeside = (
    competing: CompetingOffloading[],
    virtualNodes: SelectableVirtualNode[],
    ...maps: NamespaceMap[]
  ) => {
    const { edits, waiting, refused } = planMapping({
      namespace: "shop",
      remoteName: "shop-rome",
      createdAt: "2026-03-01T10:00:00Z",
      selector: inB,
      competing,
      virtualNodes,
      maps: new Map(maps.map((one) => [one.metadata.name, one])),
    });
    return [
      ...edits.map(({ map: { metadata }, remoteName }) => `${metadata.name}=${remoteName}`),
      ...waiting.map((name) => `${name}?`),
      ...[...refused].map(([cluster, holder]) => `${cluster}:${holder}`),
    ];
  };

  const table: [title: string, actual: () => string[], expected: string[]][] = [
    [
      "is entered where its cluster is selected",
      () => plan([node("m", "milan", "B")], map("milan")),
      ["milan=shop-rome"],
    ],
    ["stays where it is", () => plan([node("m", "milan", "B")], map("milan", { shop: "shop-rome" })), []],
    [
      "is corrected",
      () => plan([node("m", "milan", "B")], map("milan", { shop: "other" })),
      ["milan=shop-rome"],
    ],
    [
      "is taken back where its cluster is not selected",
      () => plan([node("m", "milan", "A")], map("milan", { shop: "shop-rome", more: "x" })),
      ["milan=undefined"],
    ],
    [
      "is left where the virtual nodes are leaving",
      () => plan([node("m", "milan", "A", true)], map("milan", { shop: "shop-rome" })),
      [],
    ],
    [
      "is left where there is no virtual node at the moment",
      () => plan([], map("milan", { shop: "shop-rome" })),
      [],
    ],
    [
      "waits for a map that is not there yet",
      () => plan([node("m", "milan", "B"), node("t", "turin", "A")]),
      ["milan?"],
    ],
    [
      "differs from cluster to cluster",
      () =>
        plan(
          [node("m", "milan", "B"), node("t", "turin", "A")],
          map("milan"),
          map("turin", { shop: "shop-rome" }),
        ),
      ["milan=shop-rome", "turin=undefined"],
    ],
  ];
  for (const [title, actual, expected] of table) {
    it(title, () => assert.deepEqual(actual(), expected));
  }

  describe("beside another of the same remote name", () => {
    const competitor = (given: Partial<CompetingOffloading> = {}): CompetingOffloading => ({
      namespace: "b",
      createdAt: "2026-03-01T09:00:00Z",
      selector: undefined,
      deleting: false,
      ...given,
    });
    const younger = { createdAt: "2026-03-01T11:00:00Z" };
    const sameAge = { createdAt: "2026-03-01T10:00:00Z" };
    const leaving = (phase: "Terminating" | "Accepted" | "CreationLoopBackOff") => ({
      ...map("milan"),
      status: { currentMapping: { b: { remoteNamespace: "shop-rome", phase } } },
    });
    const taken = map("milan", { b: "shop-rome" });
    const shared = map("milan", { b: "shop-rome", shop: "shop-rome" });
    const rows: [title: string, competitor: CompetingOffloading[], map: NamespaceMap, expected: string[]][] =
      [
        ["gives way to an entry", [competitor(younger)], taken, ["milan:b"]],
        ["gives way to an entry that nobody stands behind", [], taken, ["milan:b"]],
        [
          "gives way to an entry that is being taken back",
          [competitor({ deleting: true })],
          taken,
          ["milan:b"],
        ],
        ["waits for what the provider still holds", [], leaving("Terminating"), ["milan:b"]],
        ["waits for what the provider has not heard of", [], leaving("Accepted"), ["milan:b"]],
        ["does not wait for what was never made", [], leaving("CreationLoopBackOff"), ["milan=shop-rome"]],
        ["keeps its entry from an older one", [competitor()], map("milan", { shop: "shop-rome" }), []],
        ["gives way to an older one", [competitor()], map("milan"), ["milan:b"]],
        ["goes before a younger one", [competitor(younger)], map("milan"), ["milan=shop-rome"]],
        [
          "gives way to one of its age that comes first by name",
          [competitor(sameAge)],
          map("milan"),
          ["milan:b"],
        ],
        [
          "goes before one of its age that comes later by name",
          [competitor({ ...sameAge, namespace: "tea" })],
          map("milan"),
          ["milan=shop-rome"],
        ],
        ["does not mind one that goes", [competitor({ deleting: true })], map("milan"), ["milan=shop-rome"]],
        [
          "does not mind one for other clusters",
          [
            competitor({
              selector: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["A"] }] }],
              },
            }),
          ],
          map("milan"),
          ["milan=shop-rome"],
        ],
        [
          "does not mind one whose selector is invalid",
          [
            competitor({
              selector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In" }] }] },
            }),
          ],
          map("milan"),
          ["milan=shop-rome"],
        ],
        [
          "is taken back where both are in, and it is younger",
          [competitor()],
          shared,
          ["milan=undefined", "milan:b"],
        ],
        ["stays where both are in, and it is older", [competitor(younger)], shared, []],
        ["stays where both are in, and the other goes", [competitor({ deleting: true })], shared, []],
      ];
    for (const [title, competing, given, expected] of rows)
      it(title, () => assert.deepEqual(planBeside(competing, [node("m", "milan", "B")], given), expected));
  });

  it("is given up everywhere in the end, and only where it is", () => {
    const edits = planRemoval("shop", [map("milan", { shop: "shop-rome" }), map("turin", { more: "x" })]);
    assert.deepEqual(
      edits.map(({ map: { metadata } }) => metadata.name),
      ["milan"],
    );
  });
});
