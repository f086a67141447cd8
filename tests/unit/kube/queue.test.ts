import assert from "node:assert/strict";

import { Queue } from "../../../runtime/kube";
import { TestClock } from "../../support/test-clock";

describe("queue", () => {
  let clock: TestClock;
  let queue: Queue;
  beforeEach(() => {
    clock = new TestClock();
    queue = new Queue({ clock, random: () => 0 });
  });
  const drain = () => {
    const keys: string[] = [];
    for (let key = queue.take(); key !== undefined; key = queue.take()) keys.push(key);
    return keys;
  };

  it("hands a key out once, in the order of the first adding", () => {
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    assert.equal(queue.depth, 3);
    assert.deepEqual(drain(), ["a", "b", "c"]);
  });

  it("never hands out a key that is being worked on, and again afterwards if it was added meanwhile", () => {
    queue.add("a");
    assert.equal(queue.take(), "a");
    queue.add("a");
    queue.add("a");
    assert.equal(queue.take(), undefined);
    queue.done("a");
    assert.equal(queue.take(), "a");
    queue.done("a");
    assert.equal(queue.take(), undefined);
    assert.equal(queue.empty, true);
  });

  it("backs off each key by itself: 5 ms, doubling, to a minute", async () => {
    const delays: number[] = [];
    for (let i = 0; i < 20; i++) delays.push(queue.retry("a"));
    assert.deepEqual(delays.slice(0, 5), [5, 10, 20, 40, 80]);
    assert.equal(Math.max(...delays), 60_000);
    assert.equal(queue.retry("b"), 5);
    assert.equal(queue.failuresOf("a"), 20);
    queue.forget("a");
    assert.equal(queue.failuresOf("a"), 0);
    assert.equal(queue.retry("a"), 5);
    await clock.advance(5);
    assert.deepEqual(drain().sort(), ["a", "b"]);
  });

  it("keeps the earliest of several delays", async () => {
    queue.addAfter("a", 100);
    queue.addAfter("a", 30);
    queue.addAfter("a", 300);
    await clock.advance(29);
    assert.equal(queue.depth, 0);
    await clock.advance(1);
    assert.deepEqual(drain(), ["a"]);
    queue.done("a");
    await clock.advance(1_000);
    assert.equal(queue.depth, 0);
  });

  it("forgets a delay when the key's turn comes for another reason", async () => {
    queue.addAfter("a", 100);
    queue.add("a");
    assert.deepEqual(drain(), ["a"]);
    queue.done("a");
    await clock.advance(1_000);
    assert.equal(queue.depth, 0);
    assert.equal(clock.waiting, 0);
  });

  it("says when a key is ready, and stays in order over many", async () => {
    let ready = 0;
    queue.onReady = () => (ready += 1);
    queue.addAfter("late", 10);
    for (let i = 0; i < 5_000; i++) queue.add(`key-${i}`);
    assert.equal(ready, 5_000);
    await clock.advance(10);
    assert.equal(ready, 5_001);
    assert.deepEqual(drain(), [...Array.from({ length: 5_000 }, (_, i) => `key-${i}`), "late"]);
  });

  it("gives nothing out once closed", async () => {
    queue.add("a");
    queue.addAfter("b", 5);
    queue.close();
    queue.add("c");
    await clock.advance(100);
    assert.deepEqual(drain(), []);
    assert.equal(clock.waiting, 0);
  });
});
