import assert from "node:assert/strict";

import fc from "fast-check";

import { amountsOf } from "../../../runtime/api/quantity";
import { ADMITTED_FOR_MS, QuotaLedger } from "../../../runtime/webhooks/quota-ledger";

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
