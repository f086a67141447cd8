import assert from "node:assert/strict";

import type { Tool } from "../../../provider/local-cluster/toolchain/tool";
import {
  minutesLeft,
  ToolPlan,
  type MinutesLeft,
  type PlanProgress,
} from "../../../provider/local-cluster/toolchain/tool-plan";

const tool = (name: string, minutes: number): Tool => ({
  name,
  version: "7.8.9",
  binaries: [name],
  build: { module: name, minutes },
});

describe("the plan of tools", () => {
  const rows: { when: string; progress: PlanProgress; left: MinutesLeft }[] = [
    {
      when: "nothing was built: the catalogue's minutes",
      progress: { built: [], waiting: [7, 1, 4] },
      left: { current: 0, all: 12 },
    },
    {
      when: "the first is being built, in the time that it should take",
      progress: { built: [], current: { minutes: 7, elapsed: 3 }, waiting: [1, 4] },
      left: { current: 4, all: 9 },
    },
    {
      when: "the machine was twice as slow so far",
      progress: {
        built: [{ minutes: 7, took: 14 }],
        current: { minutes: 1, elapsed: 0.5 },
        waiting: [4],
      },
      left: { current: 1.5, all: 9.5 },
    },
    {
      when: "it was twice as fast over all that was built, not over the last of it",
      progress: {
        built: [
          { minutes: 7, took: 3 },
          { minutes: 1, took: 1 },
        ],
        waiting: [4, 5],
      },
      left: { current: 0, all: 4.5 },
    },
    {
      when: "the first takes longer than it should: the others will too",
      progress: { built: [], current: { minutes: 4, elapsed: 8 }, waiting: [5] },
      left: { current: 0.8, all: 10.8 },
    },
    {
      when: "one takes longer than the speed so far tells: it counts with what was built",
      progress: {
        built: [{ minutes: 6, took: 3 }],
        current: { minutes: 4, elapsed: 7 },
        waiting: [10],
      },
      left: { current: 0.7, all: 10.7 },
    },
    {
      when: "one is nearly over: not nothing",
      progress: { built: [], current: { minutes: 5, elapsed: 5 }, waiting: [] },
      left: { current: 0.5, all: 0.5 },
    },
    {
      when: "all is built",
      progress: { built: [{ minutes: 7, took: 14 }], waiting: [] },
      left: { current: 0, all: 0 },
    },
  ];
  for (const { when, progress, left } of rows) {
    it(`estimates the minutes left when ${when}`, () => {
      const round = (value: number) => Math.round(value * 1000) / 1000;
      const { current, all } = minutesLeft(progress);
      assert.deepEqual({ current: round(current), all: round(all) }, left);
    });
  }

  it("tells which of how many tools is being made, and what is left", () => {
    let now = 100;
    const [ferry, pier, buoy] = [tool("ferry", 10), tool("pier", 2), tool("buoy", 4)];
    const plan = new ToolPlan([ferry, pier, buoy], () => now);
    assert.equal(
      plan.summary(),
      "3 of the tools are not here yet: ferry 7.8.9, pier 7.8.9, buoy 7.8.9; downloading them takes a minute or two, building them where that fails about 16 min",
    );
    plan.buildBegins(ferry);
    now += 5;
    assert.equal(plan.label(ferry), "ferry 7.8.9 (1 of 3)");
    assert.equal(plan.estimate(), "about 5 min left, 11 min for all tools");
    now += 15;
    plan.buildEnds(ferry);
    plan.done(ferry);
    // This one was downloaded, which tells nothing of how fast builds are.
    plan.done(pier);
    plan.buildBegins(buoy);
    assert.equal(plan.label(buoy), "buoy 7.8.9 (3 of 3)");
    assert.equal(plan.estimate(), "about 8 min left");
    assert.equal(plan.label(tool("quay", 1)), "quay 7.8.9");
    assert.equal(new ToolPlan([]).summary(), undefined);
  });
});
