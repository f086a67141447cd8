import assert from "node:assert/strict";

import type { Pod, ShadowPod, WholePodSpec } from "../../../runtime/api";
import { amountsOf } from "../../../runtime/api/quantity";
import {
  bookedAlike,
  bookedPod,
  bookedShadowPod,
  whatCounts,
  whatCountsOfPod,
} from "../../../runtime/webhooks/booked-pods";

const user = "pool-a8a4c692b93b";
const spec: WholePodSpec = {
  containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "1" } } }],
};
const shadowPod = (uid: string, status?: ShadowPod["status"], metadata: object = {}): ShadowPod => ({
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "ShadowPod",
  metadata: {
    name: "web",
    namespace: "shop-rome",
    uid,
    labels: { "liqo.io/creator-user": user, app: "web" },
    ...metadata,
  },
  spec: { pod: spec },
  ...(status === undefined ? {} : { status }),
});
const podOf = (owner: string | undefined, phase = "Running", metadata: object = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web",
    namespace: "shop-rome",
    uid: "pod-1",
    labels: { "liqo.io/creator-user": user, "liqo.io/managed-by": "shadowpod" },
    ...(owner === undefined
      ? {}
      : {
          ownerReferences: [
            {
              apiVersion: "offloading.liqo.io/v1beta1",
              kind: "ShadowPod",
              name: "web",
              uid: owner,
              controller: true,
            },
          ],
        }),
    ...metadata,
  },
  spec,
  status: { phase },
});
const deleting = { deletionTimestamp: "2026-11-30T02:00:00Z", finalizers: ["rome.example/held"] };

describe("what a ShadowPod takes from a quota", () => {
  const table: [title: string, shadow: ShadowPod, released: boolean][] = [
    ["counts as soon as it is stored", shadowPod("1"), false],
    ["counts while it runs", shadowPod("1", { phase: "Running" }), false],
    ["counts while its deletion is held up", shadowPod("1", { phase: "Running" }, deleting), false],
    ["is given back when its pod has succeeded", shadowPod("1", { phase: "Succeeded" }), true],
    ["is given back when its pod has failed", shadowPod("1", { phase: "Failed" }, deleting), true],
  ];
  for (const [title, shadow, released] of table) {
    it(title, () =>
      assert.deepEqual(bookedShadowPod(whatCounts(shadow)), {
        key: "shop-rome/web",
        uid: "1",
        creator: user,
        demand: amountsOf({ cpu: "1", pods: 1 }),
        released,
      }),
    );
  }
});

describe("a changed ShadowPod", () => {
  const of = (
    generation: number,
    status?: ShadowPod["status"],
    labels: object = { "liqo.io/creator-user": user },
  ) => whatCounts(shadowPod("1", status, { generation, labels }));
  const table: [title: string, before: ShadowPod, after: ShadowPod, alike: boolean][] = [
    ["is booked as before when it runs", of(1), of(1, { phase: "Running" }), true],
    ["is booked anew when it has ended", of(1, { phase: "Running" }), of(1, { phase: "Failed" }), false],
    ["is booked anew when its spec differs", of(1), of(2), false],
    ["is booked anew when its creator differs", of(1, undefined, {}), of(1), false],
  ];
  for (const [title, before, after, alike] of table)
    it(title, () => assert.equal(bookedAlike(before, after), alike));
});

describe("what the pod of a ShadowPod takes from a quota", () => {
  const table: [title: string, pod: Pod, shadow: ShadowPod | undefined, released: boolean][] = [
    ["is its ShadowPod's matter while that is there", podOf("1"), shadowPod("1"), true],
    ["counts when its ShadowPod is gone", podOf("1"), undefined, false],
    ["counts while it takes its time to end", podOf("1", "Running", deleting), undefined, false],
    ["counts beside a later ShadowPod of its name", podOf("1"), shadowPod("2"), false],
    ["counts when it was left without an owner", podOf(undefined), undefined, false],
    ["is given back when it has ended", podOf("1", "Succeeded"), undefined, true],
  ];
  for (const [title, pod, shadow, released] of table) {
    it(title, () =>
      assert.deepEqual(bookedPod(whatCountsOfPod(pod), shadow), {
        key: "pod shop-rome/web",
        uid: "pod-1",
        creator: user,
        demand: amountsOf({ cpu: "1", pods: 1 }),
        released,
      }),
    );
  }

  it("is counted the same in the watch as at admission", () => {
    const whole: WholePodSpec = {
      containers: [{ name: "web", image: "web:1" }],
      initContainers: [
        { name: "proxy", image: "p:1", restartPolicy: "Always", resources: { limits: { memory: "1Gi" } } },
      ],
      resources: { requests: { cpu: "1500m" } },
    };
    const expected = amountsOf({ cpu: "1500m", memory: "1Gi", pods: 1 });
    assert.deepEqual(
      bookedShadowPod(whatCounts({ ...shadowPod("1"), spec: { pod: whole } })).demand,
      expected,
    );
    assert.deepEqual(bookedPod(whatCountsOfPod({ ...podOf("1"), spec: whole }), undefined).demand, expected);
  });
});
