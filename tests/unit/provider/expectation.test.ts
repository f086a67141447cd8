import assert from "node:assert/strict";

import {
  conditionsOf,
  describeCondition,
  inWords,
  judge,
  type Expectation,
} from "../../../provider/core/expectation";
import { compileJsonPath } from "../../../provider/core/json-path";
import { seconds, Trail } from "../../../provider/core/object-wait";

const object = (status: unknown, metadata: object = {}, kind = "Tenant") => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "rome", ...metadata },
  status,
});
const ready: Expectation = { kind: "condition", type: "Ready", status: "True" };
const phase: Expectation = { kind: "field", path: compileJsonPath("{.status.phase}") };
const bound: Expectation = { ...phase, equals: "Bound" };
const condition = (more: object) => ({
  conditions: [
    { type: "Other", status: "True" },
    { type: "Ready", ...more },
  ],
});

describe("an expectation", () => {
  const table: [string, Expectation, ReturnType<typeof object> | undefined, string][] = [
    ["condition met", ready, object(condition({ status: "True" })), "met"],
    ["condition without an object", ready, undefined, "does not exist"],
    ["condition absent", ready, object({}), "has no condition Ready yet"],
    ["condition in no list", ready, object({ conditions: "none" }), "has no condition Ready yet"],
    [
      "condition false",
      ready,
      object(condition({ status: "False", reason: "Pending", message: "no address" })),
      "Ready=False (Pending): no address",
    ],
    [
      "condition of an older generation",
      ready,
      object(condition({ status: "True", observedGeneration: 1 }), { generation: 2 }),
      "Ready=True is about generation 1, the object is at 2",
    ],
    [
      "condition, status observed an older generation",
      ready,
      object({ ...condition({ status: "True" }), observedGeneration: 1 }, { generation: 2 }),
      "Ready=True is about generation 1, the object is at 2",
    ],
    [
      "field of the status, of an older generation",
      bound,
      object({ phase: "Bound", observedGeneration: 1 }, { generation: 2 }),
      "its status is about generation 1, the object is at 2",
    ],
    [
      "field of the status, of the present generation",
      bound,
      object({ phase: "Bound", observedGeneration: 2 }, { generation: 2 }),
      "met",
    ],
    [
      "field of the metadata, whatever the status is about",
      { kind: "field", path: compileJsonPath("{.metadata.name}") },
      object({ observedGeneration: 1 }, { generation: 2 }),
      "met",
    ],
    [
      "condition met, its generation unsaid",
      ready,
      object(condition({ status: "True" }), { generation: 7 }),
      "met",
    ],
    [
      "condition with another reason",
      { ...ready, reason: "Done" },
      object(condition({ status: "True", reason: "Assumed" })),
      "Ready=True (Assumed)",
    ],
    ["field set", phase, object({ phase: "Pending" }), "met"],
    ["field false", phase, object({ phase: false }), "met"],
    ["field empty", phase, object({ phase: "" }), "{.status.phase} is not set"],
    ["field absent", phase, object({}), "{.status.phase} is not set"],
    ["field equal", bound, object({ phase: "Bound" }), "met"],
    ["field different", bound, object({ phase: "Pending" }), "{.status.phase} is Pending"],
    [
      "field of a Secret different",
      bound,
      object({ phase: "hush" }, {}, "Secret"),
      "{.status.phase} is another value",
    ],
    ["absence", { kind: "absence" }, undefined, "met"],
    ["absence of what is there", { kind: "absence" }, object({}), "still there"],
    [
      "absence of what is leaving",
      { kind: "absence" },
      object({}, { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["liqo.io/held"] }),
      "still there, being deleted, held by liqo.io/held",
    ],
  ];
  for (const [name, expectation, seen, result] of table) {
    it(`${name}: ${result}`, () => {
      const verdict = judge(seen, expectation);
      assert.equal(verdict.is === "met" ? "met" : verdict.seen, result);
    });
  }

  it("gives the field's value", () => {
    assert.deepEqual(judge(object({ phase: "Bound" }), phase), { is: "met", value: "Bound" });
    assert.deepEqual(judge(object({ phase: { a: 1 } }), phase), { is: "met", value: '{"a":1}' });
  });

  it("reads well", () => {
    assert.equal(inWords({ ...ready, reason: "Done" }), "condition Ready=True with reason Done");
    assert.equal(inWords(bound), "field {.status.phase}=Bound");
    assert.equal(inWords({ kind: "absence" }), "its absence");
  });

  it("skips what is no condition", () => {
    const status = { conditions: [null, "x", { type: "A" }, { type: "B", status: "True", reason: 7 }] };
    assert.deepEqual(conditionsOf(object(status)), [{ type: "B", status: "True" }]);
    assert.equal(describeCondition({ type: "A", status: "False", message: "m".repeat(300) }).length, 209);
  });
});

describe("the trail of a wait", () => {
  it("keeps each change once and the ends of a long story", () => {
    const trail = new Trail();
    assert.deepEqual([trail.add(0, "a"), trail.add(900, "a"), trail.add(2_400, "b")], [true, false, true]);
    assert.equal(trail.toString(), "0 s: a; 2 s: b");
    for (let i = 0; i < 20; i++) trail.add(i * 60_000, `c${i}`);
    assert.equal(
      trail.toString(),
      "0 s: a; 2 s: b; 0 s: c0; …; 16 min 0 s: c16; 17 min 0 s: c17; 18 min 0 s: c18; 19 min 0 s: c19",
    );
    assert.equal(trail.last, "c19");
  });

  it("tells times", () =>
    assert.deepEqual([seconds(400), seconds(119_000), seconds(125_000)], ["0 s", "119 s", "2 min 5 s"]));
});
