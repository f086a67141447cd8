import assert from "node:assert/strict";

import type { NamespaceMap } from "../../../runtime/api";
import {
  decideMap,
  type MapDecision,
  type MapFacts,
} from "../../../runtime/offloading/namespace-map-consumer";

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
