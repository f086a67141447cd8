import assert from "node:assert/strict";
import { conditionPatch, RefusedNamespaces } from "../../../runtime/networking/agent/applied-condition";
import type { RouteConfiguration } from "../../../runtime/api";

describe("the namespaces in which a gateway may not report", () => {
  type Step = [at: number, what: "refuse" | "accept" | "ask", namespace: string, answer?: boolean];
  const rows: [title: string, steps: Step[]][] = [
    ["are none at first", [[0, "ask", "shop", false]]],
    [
      "are left alone for a minute each",
      [
        [1_000, "refuse", "shop", true],
        [1_000, "ask", "shop", true],
        [1_000, "ask", "liqo-system", false],
        [60_999, "ask", "shop", true],
        [61_000, "ask", "shop", false],
      ],
    ],
    [
      "are told of once, however often they are tried again",
      [
        [0, "refuse", "shop", true],
        [61_000, "refuse", "shop", false],
        [61_000, "ask", "shop", true],
        [62_000, "refuse", "bank", true],
      ],
    ],
    [
      "are told of again where rights were given and taken away",
      [
        [0, "refuse", "shop", true],
        [61_000, "accept", "shop"],
        [61_000, "ask", "shop", false],
        [62_000, "refuse", "shop", true],
      ],
    ],
  ];
  for (const [title, steps] of rows) {
    it(title, () => {
      let now = 0;
      const refused = new RefusedNamespaces(() => now);
      for (const [at, what, namespace, answer] of steps) {
        now = at;
        const given =
          what === "ask"
            ? refused.isRefused(namespace)
            : what === "refuse"
              ? refused.refuse(namespace)
              : refused.accept(namespace);
        assert.equal(given, answer, `${what} ${namespace} at ${at}`);
      }
    });
  }
});

describe("the condition of an agent", () => {
  const now = "2026-11-28T05:00:00Z";
  const entry = (host: string, status: "True" | "False") => ({ host, type: "Applied" as const, status });
  const object = (
    ...conditions: NonNullable<NonNullable<RouteConfiguration["status"]>["conditions"]>
  ): RouteConfiguration => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "RouteConfiguration",
    metadata: { name: "one", namespace: "liqo", uid: "u", resourceVersion: "7" },
    spec: { table: { name: "one", rules: [{ routes: [] }] } },
    ...(conditions.length > 0 && { status: { conditions } }),
  });
  const own = { ...entry("rome-1", "True"), lastTransitionTime: now };

  it("begins the list over the version that was read", () => {
    assert.deepEqual(conditionPatch(object(), "rome-1", true, now), {
      metadata: { uid: "u", resourceVersion: "7" },
      status: { conditions: [own] },
    });
  });

  it("joins the others, whatever they write at the same time", () => {
    assert.deepEqual(conditionPatch(object(entry("rome-2", "True")), "rome-1", true, now), [
      { op: "add", path: "/status/conditions/-", value: own },
    ]);
  });

  it("changes in its place, if that still is its own", () => {
    const present = object(entry("rome-2", "True"), entry("rome-1", "False"));
    assert.deepEqual(conditionPatch(present, "rome-1", true, now), [
      { op: "test", path: "/status/conditions/1/host", value: "rome-1" },
      { op: "replace", path: "/status/conditions/1", value: own },
    ]);
  });

  it("is not written again", () => {
    assert.equal(conditionPatch(object(entry("rome-1", "True")), "rome-1", true, now), undefined);
    assert.equal(conditionPatch(object(entry("rome-1", "False")), "rome-1", false, now), undefined);
  });

  it("is written again for another spec, and keeps the time of its last change", () => {
    const before = "2026-11-27T04:00:00Z";
    const present = object({ ...entry("rome-1", "True"), observedGeneration: 2, lastTransitionTime: before });
    present.metadata.generation = 3;
    assert.deepEqual(conditionPatch(present, "rome-1", true, now), [
      { op: "test", path: "/status/conditions/0/host", value: "rome-1" },
      {
        op: "replace",
        path: "/status/conditions/0",
        value: { ...entry("rome-1", "True"), observedGeneration: 3, lastTransitionTime: before },
      },
    ]);
    present.metadata.generation = 2;
    assert.equal(conditionPatch(present, "rome-1", true, now), undefined);
  });

  it("is there once, even where it was written twice", () => {
    const twice = object(entry("rome-1", "True"), entry("rome-2", "True"), entry("rome-1", "True"));
    assert.deepEqual(conditionPatch(twice, "rome-1", true, now), {
      metadata: { uid: "u", resourceVersion: "7" },
      status: { conditions: [entry("rome-2", "True"), own] },
    });
  });
});
