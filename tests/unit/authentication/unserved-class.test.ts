import assert from "node:assert/strict";

import type { ResourceSlice } from "../../../runtime/api";
import { tellUnservedClass } from "../../../runtime/authentication/unserved-class";
import { type EventRecorder, systemClock } from "../../../runtime/kube";

const CREATED = "2026-03-01T10:00:00Z";
const ACCEPTED_AT = "2026-03-01T10:00:04Z";
const afterAcceptance = (seconds: number) => Date.parse(ACCEPTED_AT) + seconds * 1_000;
const authentication = {
  type: "Authentication" as const,
  status: "Accepted" as const,
  lastTransitionTime: ACCEPTED_AT,
};

function slice(name: string | undefined, status: ResourceSlice["status"]): ResourceSlice {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { name: "pool", namespace: "guests-from-rome", creationTimestamp: CREATED },
    spec: name === undefined ? {} : { class: name },
    status,
  };
}

/** What is told at a moment, and when to look again. */
function tell(one: ResourceSlice, now: number): { told: string[]; again: number | undefined } {
  const told: string[] = [];
  const events: Pick<EventRecorder, "normal" | "warning"> = {
    normal: (_about, reason) => told.push(`Normal ${reason}`),
    warning: (_about, reason, message) => told.push(`${reason}: ${message}`),
  };
  const clock = { ...systemClock, now: () => now };
  return { again: tellUnservedClass(one, { clock, events }, "run its controller"), told };
}

describe("a slice of a class that is not ours", () => {
  const waiting = slice("gold", { conditions: [authentication] });

  it("is waited for, and told of when nobody answers", () => {
    assert.deepEqual(tell(waiting, afterAcceptance(1)), { again: 4_000, told: [] });
    assert.deepEqual(tell(waiting, afterAcceptance(5)), {
      again: undefined,
      told: ['ClassNotServed: spec.class: nobody has answered class "gold": run its controller'],
    });
  });

  it("is waited for no longer than that by a clock that is behind", () => {
    assert.equal(tell(waiting, afterAcceptance(-3_600)).again, 5_000);
  });

  const silent: [title: string, one: ResourceSlice][] = [
    ["of the built-in class", slice("default", { conditions: [authentication] })],
    ["of no class", slice(undefined, { conditions: [authentication] })],
    ["without credentials", slice("gold", {})],
    [
      "whose credentials were denied",
      slice("gold", { conditions: [{ ...authentication, status: "Denied" }] }),
    ],
    [
      "that its controller has refused",
      slice("gold", { conditions: [authentication, { type: "Resources", status: "Denied" }] }),
    ],
    [
      "that its controller is at work on",
      slice("gold", { conditions: [authentication], resources: { cpu: "1" } }),
    ],
  ];
  for (const [title, one] of silent)
    it(`is no matter of ours where it is one ${title}`, () =>
      assert.deepEqual(tell(one, afterAcceptance(600)), { again: undefined, told: [] }));
});
