import assert from "node:assert/strict";
import fc from "fast-check";

import {
  decideNotOffloaded,
  decidePod,
  type LocalPodView,
  type PodDecision,
  type PodFacts,
  type RemotePodView,
  type ShadowPodView,
} from "../../../runtime/virtual-kubelet/pods/pod-decision";

const local = (changes: Partial<LocalPodView> = {}): LocalPodView => ({
  uid: "l1",
  deleting: false,
  status: { phase: "Pending" },
  ...changes,
});
const shadow = (changes: Partial<ShadowPodView> = {}): ShadowPodView => ({
  uid: "s1",
  deleting: false,
  ours: true,
  nodeName: "milan",
  sourceUid: "l1",
  ...changes,
});
const remote = (changes: Partial<RemotePodView> = {}): RemotePodView => ({
  uid: "r1",
  ours: true,
  nodeName: "milan",
  sourceUid: "l1",
  phase: "Running",
  ...changes,
});
const nothing: PodDecision = { do: "nothing" };
const deleteShadow: PodDecision = { do: "delete-shadow-pod", uid: "s1" };

describe("decidePod", () => {
  const cases: [what: string, facts: Omit<PodFacts, "nodeName">, expected: PodDecision][] = [
    ["nothing anywhere", {}, nothing],
    ["a new pod", { local: local() }, { do: "create-shadow-pod" }],
    ["a foreign ShadowPod", { local: local(), shadow: shadow({ ours: false }) }, { do: "report-conflict" }],
    ["a foreign pod", { local: local(), remote: remote({ ours: false }) }, { do: "report-conflict" }],
    ["a foreign pod and none here", { remote: remote({ ours: false }) }, nothing],
    ["a pod gone here", { shadow: shadow(), remote: remote() }, deleteShadow],
    ["a pod gone here, of a sibling node", { shadow: shadow({ nodeName: "milan-2" }) }, nothing],
    ["a pod gone here, being deleted there", { shadow: shadow({ deleting: true }) }, nothing],
    [
      "an earlier pod of that name",
      { local: local({ uid: "l2" }), shadow: shadow(), remote: remote() },
      deleteShadow,
    ],
    [
      "an earlier pod of that name, going",
      { local: local({ uid: "l2" }), shadow: shadow({ deleting: true }) },
      nothing,
    ],
    [
      "an earlier pod whose ShadowPod is gone",
      { local: local({ uid: "l2" }), remote: remote() },
      { do: "create-shadow-pod" },
    ],
    [
      "a pod that moved here from a sibling node",
      { local: local(), shadow: shadow({ nodeName: "milan-2" }) },
      nothing,
    ],
    [
      "a ShadowPod made by upstream",
      { local: local(), shadow: shadow({ sourceUid: undefined }) },
      { do: "reflect", metadata: true, remote: false },
    ],
    [
      "a pod that runs",
      { local: local(), shadow: shadow(), remote: remote() },
      { do: "reflect", metadata: true, remote: true },
    ],
    [
      "a pod that ends there because it is evicted, to be made anew",
      {
        local: local(),
        shadow: shadow({ phase: "Running" }),
        remote: remote({ phase: "Failed", endsByRemoval: true }),
      },
      { do: "reflect", metadata: true, remote: false },
    ],
    [
      "a pod on a node that is not ready",
      {
        local: local({ labels: { "liqo.io/remote-unavailable": "true" } }),
        shadow: shadow(),
        remote: remote(),
      },
      { do: "reflect", metadata: false, remote: true },
    ],
    [
      "a terminating pod",
      { local: local({ deleting: true }), shadow: shadow(), remote: remote() },
      deleteShadow,
    ],
    [
      "a terminating pod whose remote pod is ending",
      { local: local({ deleting: true }), remote: remote() },
      { do: "reflect", metadata: false, remote: true },
    ],
    [
      "a terminating pod whose ShadowPod is ending",
      { local: local({ deleting: true }), shadow: shadow({ deleting: true }) },
      nothing,
    ],
    [
      "a terminating pod that has ended",
      { local: local({ deleting: true }) },
      { do: "delete-local-pod", uid: "l1" },
    ],
    [
      "a terminating pod, with an earlier one's remains",
      { local: local({ uid: "l2", deleting: true }), remote: remote() },
      { do: "delete-local-pod", uid: "l2" },
    ],
    [
      "a pod that was given up",
      { local: local({ status: { phase: "Failed", reason: "OffloadingAborted" } }), shadow: shadow() },
      deleteShadow,
    ],
    [
      "a pod that was given up, cleaned up",
      { local: local({ status: { phase: "Failed", reason: "OffloadingAborted" } }) },
      nothing,
    ],
    [
      "a pod that waited for its namespace",
      { local: local({ status: { phase: "Pending", reason: "OffloadingBackOff" } }) },
      { do: "create-shadow-pod" },
    ],
    ["a finished pod", { local: local({ status: { phase: "Succeeded" } }) }, nothing],
    [
      "a finished pod with its remote one",
      {
        local: local({ status: { phase: "Failed" } }),
        shadow: shadow(),
        remote: remote({ phase: "Failed" }),
      },
      nothing,
    ],
    [
      "a missed end",
      { local: local({ status: { phase: "Running" } }), shadow: shadow({ phase: "Succeeded" }) },
      { do: "finish", rejection: { phase: "Succeeded", reason: "RemotePodTerminated" } },
    ],
  ];
  for (const [what, facts, expected] of cases) {
    it(`handles ${what}`, () => assert.deepEqual(decidePod({ nodeName: "milan", ...facts }), expected));
  }

  it("never touches foreign objects, nor creates beside a ShadowPod", () => {
    const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
    const node = fc.constantFrom("milan", "milan-2");
    const uid = fc.constantFrom("l1", "l2");
    const phase = fc.constantFrom("Pending", "Running", "Succeeded", "Failed");
    const facts = fc.record({
      local: maybe(
        fc
          .record({ uid, deleting: fc.boolean(), phase })
          .map(({ phase, ...rest }) => local({ ...rest, status: { phase } })),
      ),
      shadow: maybe(
        fc
          .record({
            ours: fc.boolean(),
            deleting: fc.boolean(),
            nodeName: node,
            sourceUid: maybe(uid),
            phase,
          })
          .map(shadow),
      ),
      remote: maybe(
        fc.record({ ours: fc.boolean(), nodeName: node, sourceUid: maybe(uid), phase }).map(remote),
      ),
    });
    fc.assert(
      fc.property(facts, (generated) => {
        const decision = decidePod({ nodeName: "milan", ...generated });
        const foreign = generated.shadow?.ours === false || generated.remote?.ours === false;
        if (foreign) assert.ok(["nothing", "report-conflict"].includes(decision.do));
        if (generated.shadow !== undefined) assert.notEqual(decision.do, "create-shadow-pod");
        if (decision.do === "delete-shadow-pod") assert.equal(generated.shadow?.nodeName, "milan");
        if (decision.do === "delete-local-pod") assert.equal(generated.local?.deleting, true);
      }),
    );
  });
});

describe("decideNotOffloaded", () => {
  it("ends a pod that is to end", () => {
    assert.deepEqual(decideNotOffloaded(local({ deleting: true })), { do: "delete-local-pod", uid: "l1" });
  });
  it("leaves finished pods", () => {
    assert.deepEqual(decideNotOffloaded(local({ status: { phase: "Succeeded" } })), nothing);
    assert.deepEqual(decideNotOffloaded(undefined), nothing);
  });
  it("holds back a pod that never started", () => {
    assert.deepEqual(decideNotOffloaded(local()), {
      do: "reject",
      rejection: { phase: "Pending", reason: "OffloadingBackOff" },
    });
  });
  it("gives up a pod that did", () => {
    assert.deepEqual(decideNotOffloaded(local({ status: { phase: "Running" } })), {
      do: "reject",
      rejection: { phase: "Failed", reason: "OffloadingAborted" },
    });
  });
});
