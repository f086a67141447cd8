import assert from "node:assert/strict";

import { NamespaceMap } from "../../../runtime/api";
import { answerFor } from "../../../runtime/offloading/namespace-offloading-report";
import type { RemoteNamespaceCondition } from "../../../runtime/offloading/namespace-offloading-status";

describe("what a provider says of a namespace, as far as it was asked", () => {
  const accepted = { remoteNamespace: "shop-rome", phase: "Accepted" } as const;
  const leaving = { remoteNamespace: "shop-rome", phase: "Terminating" } as const;
  const redirected = { remoteNamespace: "trap", phase: "Accepted" } as const;
  const required: RemoteNamespaceCondition[] = [{ type: "OffloadingRequired", status: "True" }];
  const going: RemoteNamespaceCondition[] = [
    { type: "OffloadingRequired", status: "False" },
    { type: "Ready", status: "False" },
  ];
  const never: RemoteNamespaceCondition[] = [{ type: "OffloadingRequired", status: "False" }];
  type Entry = NonNullable<NonNullable<NamespaceMap["status"]>["currentMapping"]>[string];
  const rows: [string, wanted: string | undefined, Entry | undefined, RemoteNamespaceCondition[], unknown][] =
    [
      ["nothing", "shop-rome", undefined, [], undefined],
      ["that it has it", "shop-rome", accepted, [], accepted],
      [
        "that it has it, where it names no name",
        "shop-rome",
        { phase: "Accepted" },
        [],
        { phase: "Accepted" },
      ],
      ["nothing, where it has another", "shop-rome", redirected, required, undefined],
      ["that a former one goes", "shop-milan", leaving, required, leaving],
      ["that it goes", undefined, leaving, required, leaving],
      ["that it still goes", undefined, leaving, going, leaving],
      ["nothing, where it was never asked", undefined, leaving, never, undefined],
      ["nothing, where nothing was decided yet", undefined, accepted, [], undefined],
    ];
  for (const [title, wanted, entry, before, expected] of rows)
    it(`is ${title}`, () => {
      const map: NamespaceMap = {
        apiVersion: NamespaceMap.apiVersion,
        kind: NamespaceMap.kind,
        metadata: { name: "milan", namespace: "to-milan" },
        spec: { desiredMapping: wanted === undefined ? {} : { shop: wanted } },
        status: { currentMapping: entry === undefined ? {} : { shop: entry } },
      };
      assert.deepEqual(answerFor("shop", map, before), expected);
    });
});
