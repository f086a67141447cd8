import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod, ShadowPod, WholePodSpec } from "../../../runtime/api";
import { amountsOf } from "../../../runtime/api/quantity";
import {
  ADMITTED_FOR_MS,
  bookedAlike,
  bookedPod,
  bookedShadowPod,
  QuotaLedger,
  whatCounts,
  whatCountsOfPod,
} from "../../../runtime/webhooks/quota-ledger";

const cpu = (quantity: string) => amountsOf({ cpu: quantity });
const pod = (key: string, uid: string, demand: string, released = false) => ({
  key,
  uid,
  creator: "pool-1",
  demand: cpu(demand),
  released,
});

describe("the quota ledger", () => {
  let now = 0;
  let ledger: QuotaLedger;
  beforeEach(() => {
    now = 1000;
    ledger = new QuotaLedger(() => now);
  });
  const usage = (except?: string) => Object.fromEntries(ledger.usage("pool-1", except));
  const cpus = (quantity: string) => Object.fromEntries(cpu(quantity));

  it("counts what is stored, and nothing once it is gone", () => {
    ledger.store(pod("shop-rome/a", "1", "2"));
    ledger.store(pod("shop-rome/b", "2", "500m"));
    assert.deepEqual(usage(), cpus("2500m"));
    ledger.remove("shop-rome/a", "1");
    ledger.remove("shop-rome/b", "2");
    assert.deepEqual(usage(), {});
    assert.equal(ledger.size, 0);
  });

  it("gives free what has ended or is being deleted", () => {
    ledger.store(pod("shop-rome/a", "1", "2"));
    ledger.store(pod("shop-rome/a", "1", "2", true));
    assert.deepEqual(usage(), {});
    assert.deepEqual(ledger.stored("shop-rome/a")?.released, true);
  });

  it("ignores the removal of an earlier incarnation", () => {
    ledger.store(pod("shop-rome/a", "2", "2"));
    ledger.remove("shop-rome/a", "1");
    assert.deepEqual(usage(), cpus("2"));
  });

  it("counts what was admitted at once, and once only when it is seen stored", () => {
    ledger.admit("shop-rome/a", { uid: "1", creator: "pool-1", demand: cpu("2") });
    assert.deepEqual(usage(), cpus("2"));
    ledger.store(pod("shop-rome/a", "1", "2"));
    assert.deepEqual(usage(), cpus("2"));
    ledger.remove("shop-rome/a", "1");
    assert.deepEqual(usage(), {});
  });

  it("forgets what was admitted and never seen", () => {
    ledger.admit("shop-rome/a", { uid: "1", creator: "pool-1", demand: cpu("2") });
    now += ADMITTED_FOR_MS - 1;
    ledger.admit("shop-rome/b", { uid: "2", creator: "pool-1", demand: cpu("1") });
    assert.deepEqual(usage(), cpus("3"));
    now += 1;
    assert.deepEqual(usage(), cpus("1"));
    now += ADMITTED_FOR_MS;
    assert.deepEqual(usage(), {});
    assert.equal(ledger.size, 0);
  });

  it("forgets in time what was admitted, though another of its name came and went since", () => {
    ledger.admit("shop-rome/a", { uid: "1", creator: "pool-1", demand: cpu("2") });
    now += 1000;
    ledger.admit("shop-rome/b", { uid: "2", creator: "pool-1", demand: cpu("1") });
    ledger.remove("shop-rome/a", "9");
    now += ADMITTED_FOR_MS - 1000;
    assert.deepEqual(usage(), cpus("1"));
  });

  it("counts the greater of what runs and what was admitted under the same name", () => {
    ledger.store(pod("shop-rome/a", "1", "4"));
    ledger.admit("shop-rome/a", { uid: "2", creator: "pool-1", demand: cpu("1") });
    assert.deepEqual(usage(), cpus("4"));
    ledger.remove("shop-rome/a", "1");
    assert.deepEqual(usage(), cpus("1"));
    ledger.store(pod("shop-rome/a", "2", "1"));
    assert.deepEqual(usage(), cpus("1"));
  });

  it("leaves one name out where asked", () => {
    ledger.store(pod("shop-rome/a", "1", "4"));
    ledger.store(pod("shop-rome/b", "2", "1"));
    assert.deepEqual(usage("shop-rome/a"), cpus("1"));
    assert.deepEqual(usage("shop-rome/absent"), cpus("5"));
  });

  it("keeps users apart", () => {
    ledger.store(pod("shop-rome/a", "1", "4"));
    ledger.admit("shop-rome/a", { uid: "9", creator: "pool-2", demand: cpu("1") });
    assert.deepEqual(usage(), cpus("4"));
    assert.deepEqual(Object.fromEntries(ledger.usage("pool-2")), cpus("1"));
  });

  it("always equals the sum over what it holds", () => {
    const name = fc.constantFrom("ns/a", "ns/b", "ns/c");
    const uid = fc.constantFrom("1", "2");
    const amount = fc.integer({ min: 0, max: 9 });
    const step = fc.oneof(
      fc.record({ do: fc.constant("store" as const), name, uid, amount, released: fc.boolean() }),
      fc.record({ do: fc.constant("remove" as const), name, uid }),
      fc.record({ do: fc.constant("admit" as const), name, uid, amount }),
      fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: ADMITTED_FOR_MS }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        now = 0;
        const book = new QuotaLedger(() => now);
        const stored = new Map<string, { uid: string; amount: number }>();
        const admitted = new Map<string, { uid: string; amount: number; until: number }>();
        for (const one of steps) {
          if (one.do === "wait") now += one.ms;
          else if (one.do === "store") {
            book.store(pod(one.name, one.uid, String(one.amount), one.released));
            stored.set(one.name, { uid: one.uid, amount: one.released ? 0 : one.amount });
            if (admitted.get(one.name)?.uid === one.uid) admitted.delete(one.name);
          } else if (one.do === "remove") {
            book.remove(one.name, one.uid);
            if (stored.get(one.name)?.uid === one.uid) stored.delete(one.name);
            if (admitted.get(one.name)?.uid === one.uid) admitted.delete(one.name);
          } else {
            book.admit(one.name, { uid: one.uid, creator: "pool-1", demand: cpu(String(one.amount)) });
            admitted.set(one.name, { uid: one.uid, amount: one.amount, until: now + ADMITTED_FOR_MS });
          }
          let expected = 0;
          for (const key of ["ns/a", "ns/b", "ns/c"]) {
            const claim = admitted.get(key);
            expected += Math.max(
              stored.get(key)?.amount ?? 0,
              claim !== undefined && claim.until > now ? claim.amount : 0,
            );
          }
          assert.equal(book.usage("pool-1").get("cpu") ?? 0n, BigInt(expected) * 1_000_000_000n);
        }
      }),
    );
  });
});

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
