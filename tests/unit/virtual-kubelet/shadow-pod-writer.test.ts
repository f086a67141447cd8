import assert from "node:assert/strict";

import { RemovalLimiter, shadowPodMetadata } from "../../../runtime/virtual-kubelet/pods/shadow-pod-writer";
import { sourceRecordOf } from "../../../runtime/virtual-kubelet/reflection/reflected-metadata";
import { TestClock } from "../../support/test-clock";

const pair = { origin: "rome", destination: "milan" };

describe("shadowPodMetadata", () => {
  it("reflects the pod's metadata, marked as ours", () => {
    const { labels, annotations } = shadowPodMetadata(
      {
        uid: "u1",
        labels: {
          app: "web",
          secretive: "x",
          "liqo.io/shadowPod": "true",
          "liqo.io/remote-unavailable": "true",
        },
        annotations: { note: "n", "metallb.universe.tf/address-pool": "p" },
      },
      "milan-gpu",
      { labels: ["secretive"], annotations: ["metallb.universe.tf/address-pool"] },
      pair,
    );
    assert.deepEqual(labels, {
      app: "web",
      "offloading.liqo.io/nodename": "milan-gpu",
      "offloading.liqo.io/origin": "rome",
      "offloading.liqo.io/destination": "milan",
    });
    assert.equal(annotations.note, "n");
    assert.equal(annotations["metallb.universe.tf/address-pool"], undefined);
    assert.equal(sourceRecordOf({ metadata: { annotations } })?.uid, "u1");
  });
});

describe("the limit of removals", () => {
  let clock: TestClock;
  let told: string[];
  let limiter: RemovalLimiter;
  beforeEach(() => {
    clock = new TestClock();
    told = [];
    limiter = new RemovalLimiter(clock, (key) => told.push(key));
  });
  const take = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => limiter.take(`shop/web-${from + i}`));

  it("lets a hundred go at once, and tells those behind them how long they wait at most", async () => {
    assert.deepEqual(take(0, 100), Array<number>(100).fill(0));
    await clock.advance(1_500);
    assert.deepEqual(take(100, 2), [3_500, 3_500]);
    assert.deepEqual(told, []);
  });

  it("tells one that waits for each pod that followed, in their order", () => {
    take(0, 103);
    limiter.followed("shop/web-7");
    limiter.followed("shop/web-50");
    assert.deepEqual(told, ["shop/web-100", "shop/web-101"]);
    assert.deepEqual([limiter.take("shop/web-100"), limiter.take("shop/web-101")], [0, 0]);
    assert.deepEqual(take(102, 1), [5_000]);
  });

  it("counts a pod once, however often it is told of", () => {
    take(0, 102);
    limiter.followed("shop/web-7");
    limiter.followed("shop/web-7");
    limiter.followed("blog/web-7");
    assert.deepEqual(told, ["shop/web-100"]);
  });

  it("tells nobody who needs to wait no longer", () => {
    take(0, 101);
    limiter.followed("shop/web-100");
    limiter.followed("shop/web-7");
    assert.deepEqual(told, []);
  });

  it("waits five seconds for a pod, then no longer", async () => {
    take(0, 60);
    await clock.advance(2_000);
    take(60, 40);
    assert.deepEqual(take(100, 1), [3_000]);
    await clock.advance(3_000);
    assert.deepEqual(take(100, 61), [...Array<number>(60).fill(0), 2_000]);
  });

  it("counts a second attempt from its own time", async () => {
    take(0, 100);
    await clock.advance(4_000);
    assert.equal(limiter.take("shop/web-0"), 1_000);
    limiter.followed("shop/web-0");
    assert.equal(limiter.take("shop/web-0"), 0);
    await clock.advance(1_000);
    assert.deepEqual(take(100, 100), [...Array<number>(99).fill(0), 4_000]);
  });
});
