import assert from "node:assert/strict";

import {
  answerFor,
  offloadingPhase,
  type OffloadingPhase,
  type RemoteNamespace,
  type RemoteNamespaceCondition,
  remoteNamespaceConditions,
} from "../../../runtime/offloading/namespace-offloading-status";
import { NamespaceMap } from "../../../runtime/api";

const wanted = (phase?: RemoteNamespace["phase"]): RemoteNamespace => ({
  requested: true,
  ...(phase === undefined ? {} : { phase }),
});
const unwanted = (phase?: RemoteNamespace["phase"]): RemoteNamespace => ({
  ...wanted(phase),
  requested: false,
});

const refused: RemoteNamespace = { requested: true, refusal: 'it is that of namespace "b"' };

describe("the phase of an offloading", () => {
  const table: [remotes: RemoteNamespace[], waiting: number, deleting: boolean, phase: OffloadingPhase][] = [
    [[], 0, false, "NoClusterSelected"],
    [[unwanted()], 0, false, "NoClusterSelected"],
    [[], 1, false, "InProgress"],
    [[wanted()], 0, false, "InProgress"],
    [[wanted("Accepted")], 0, false, "Ready"],
    [[wanted("Accepted"), unwanted()], 0, false, "Ready"],
    [[wanted("Accepted"), unwanted("Terminating")], 0, false, "Ready"],
    [[wanted("Accepted"), unwanted("Accepted")], 0, false, "Ready"],
    [[wanted("Accepted")], 1, false, "InProgress"],
    [[wanted("Accepted"), wanted()], 0, false, "InProgress"],
    [[wanted("CreationLoopBackOff")], 0, false, "AllFailed"],
    [[wanted("CreationLoopBackOff"), wanted("CreationLoopBackOff")], 0, false, "AllFailed"],
    [[wanted("Accepted"), wanted("CreationLoopBackOff")], 0, false, "SomeFailed"],
    [[wanted("CreationLoopBackOff"), wanted()], 0, false, "SomeFailed"],
    [[wanted("Terminating")], 0, false, "InProgress"],
    [[refused], 0, false, "AllFailed"],
    [[{ ...refused, phase: "Accepted" }], 0, false, "AllFailed"],
    [[wanted("Accepted"), refused], 0, false, "SomeFailed"],
    [[wanted("Accepted")], 0, true, "Terminating"],
    [[], 0, true, "Terminating"],
  ];
  for (const [remotes, waiting, deleting, phase] of table) {
    it(`is ${phase} for ${JSON.stringify(remotes)}, ${waiting} waiting${deleting ? ", deleting" : ""}`, () => {
      assert.equal(offloadingPhase(remotes, { deleting, waiting }), phase);
    });
  }
});

describe("the conditions of a remote namespace", () => {
  const now = "2026-03-01T10:00:00Z";
  const table: [RemoteNamespace, string[]][] = [
    [unwanted(), ["OffloadingRequired=False ClusterNotSelected"]],
    [wanted(), ["OffloadingRequired=True ClusterSelected", "Ready=False Creating"]],
    [wanted("Accepted"), ["OffloadingRequired=True ClusterSelected", "Ready=True NamespaceCreated"]],
    [
      wanted("CreationLoopBackOff"),
      ["OffloadingRequired=True ClusterSelected", "Ready=False CreationLoopBackOff"],
    ],
    [refused, ["OffloadingRequired=True ClusterSelected", "Ready=False RemoteNamespaceTaken"]],
    [unwanted("Terminating"), ["OffloadingRequired=False ClusterNotSelected", "Ready=False Terminating"]],
    [unwanted("Accepted"), ["OffloadingRequired=False ClusterNotSelected", "Ready=True NamespaceCreated"]],
  ];
  for (const [remote, expected] of table) {
    it(`are ${expected.join(", ")} for ${JSON.stringify(remote)}`, () => {
      const conditions = remoteNamespaceConditions(undefined, remote, now);
      assert.deepEqual(
        conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
        expected,
      );
      assert.ok(conditions.every((condition) => condition.lastTransitionTime === now && condition.message));
    });
  }

  it("keep their time, and even an old message, while status and reason stay", () => {
    const before = remoteNamespaceConditions(undefined, wanted("Accepted"), now).map((condition) => ({
      ...condition,
      message: "as an older version put it",
    }));
    assert.deepEqual(remoteNamespaceConditions(before, wanted("Accepted"), "2026-03-01T11:00:00Z"), before);
  });

  it("name a remote namespace that could not be made, why, and what helps", () => {
    const messageFor = (name: string) =>
      remoteNamespaceConditions(undefined, { ...wanted("CreationLoopBackOff"), name }, now).find(
        ({ type }) => type === "Ready",
      )?.message ?? "";
    assert.match(
      messageFor("boutique"),
      /^Some problems occurred during remote namespace creation: .*"boutique", most likely because one of that name is there .*; have the provider delete that one, or delete the NamespaceOffloading, and create/,
    );
    assert.match(
      messageFor("kube-system"),
      /the provider has the namespace "kube-system" as Kubernetes' own, .*; delete the NamespaceOffloading, and create/,
    );
  });

  it("name the namespace that has the remote name now", () => {
    const before = remoteNamespaceConditions(undefined, refused, now);
    const message = 'it is that of namespace "c"';
    const after = remoteNamespaceConditions(before, { ...refused, refusal: message }, now);
    assert.equal(after[1]?.message, message);
  });

  it("change only where something differs", () => {
    const before = remoteNamespaceConditions(undefined, wanted(), now);
    const later = "2026-03-01T11:00:00Z";
    const after = remoteNamespaceConditions(before, wanted("Accepted"), later);
    assert.deepEqual(
      after.map((condition) => condition.lastTransitionTime),
      [now, later],
    );
  });
});

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
