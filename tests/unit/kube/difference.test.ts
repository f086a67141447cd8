import assert from "node:assert/strict";

import fc from "fast-check";

import { mergePatch, semanticallyEqual } from "../../../runtime/kube";

type Json = Record<string, unknown>;

/** RFC 7386, as the API server does it. */
function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Json =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}

describe("difference", () => {
  const cases: {
    it: string;
    desired: Json;
    observed: Json;
    exact?: string[];
    absent?: Record<string, string[]>;
    exactItems?: boolean;
    patch: Json | undefined;
  }[] = [
    {
      it: "nothing where all agrees",
      desired: { a: 1, b: { c: "x" } },
      observed: { b: { c: "x", d: 2 }, a: 1, e: 3 },
      patch: undefined,
    },
    {
      it: "the changed field alone",
      desired: { a: { b: 1, c: 2 } },
      observed: { a: { b: 1, c: 3 } },
      patch: { a: { c: 2 } },
    },
    { it: "no opinion on undefined", desired: { a: undefined }, observed: { a: 1 }, patch: undefined },
    { it: "null as absent", desired: { a: null, b: null }, observed: { a: 1 }, patch: { a: null } },
    { it: "an empty list as absent", desired: { a: [] }, observed: {}, patch: undefined },
    { it: "an empty list against a full one", desired: { a: [] }, observed: { a: [1] }, patch: { a: [] } },
    {
      it: "an empty object that means something",
      desired: { emptyDir: {} },
      observed: {},
      patch: { emptyDir: {} },
    },
    {
      it: "an empty map that the server omits",
      desired: { metadata: { labels: {} } },
      observed: { metadata: {} },
      patch: undefined,
    },
    {
      it: "defaults in the items of a list",
      desired: { ports: [{ port: 80 }] },
      observed: { ports: [{ port: 80, protocol: "TCP" }] },
      patch: undefined,
    },
    {
      it: "exact items",
      desired: { conditions: [{ type: "Ready" }] },
      observed: { conditions: [{ type: "Ready", message: "old" }] },
      exactItems: true,
      patch: { conditions: [{ type: "Ready" }] },
    },
    { it: "the order of a list", desired: { a: [1, 2] }, observed: { a: [2, 1] }, patch: { a: [1, 2] } },
    {
      it: "exact maps lose what is not desired",
      desired: { data: { a: "1" } },
      observed: { data: { a: "1", b: "2" }, other: { c: 3 } },
      exact: ["data"],
      patch: { data: { b: null } },
    },
    {
      it: "exact below a path",
      desired: { spec: { template: { x: 1 } } },
      observed: { spec: { template: { x: 1, y: { z: 1 } }, w: 1 } },
      exact: ["spec.template"],
      patch: { spec: { template: { y: null } } },
    },
    {
      it: "a field that is to be absent, and one that is mentioned",
      desired: { spec: { type: "LoadBalancer", externalIPs: ["192.0.2.8"] } },
      observed: { spec: { type: "LoadBalancer", loadBalancerIP: "192.0.2.7", externalIPs: ["192.0.2.8"] } },
      absent: { spec: ["loadBalancerIP", "externalIPs"] },
      patch: { spec: { loadBalancerIP: null } },
    },
    {
      it: "a field that is to be absent, and whose parent nobody mentions",
      desired: { data: { a: "1" } },
      observed: { data: { a: "1" }, spec: { loadBalancerIP: "192.0.2.7" } },
      absent: { spec: ["loadBalancerIP"] },
      patch: undefined,
    },
    {
      it: "exact everywhere",
      desired: { a: 1 },
      observed: { a: 1, b: { c: 2 } },
      exact: [""],
      patch: { b: null },
    },
    {
      it: "exact lists hold exact items",
      desired: { spec: [{ a: 1 }] },
      observed: { spec: [{ a: 1, b: 2 }] },
      exact: ["spec"],
      patch: { spec: [{ a: 1 }] },
    },
    {
      it: "quantities by their value",
      desired: { spec: { hard: { cpu: "0.5", memory: "1024Mi", pods: 3 } } },
      observed: { spec: { hard: { cpu: "500m", memory: "1Gi", pods: "3" } } },
      patch: undefined,
    },
    {
      it: "quantities that differ",
      desired: { limits: { cpu: "1" } },
      observed: { limits: { cpu: "1100m" } },
      patch: { limits: { cpu: "1" } },
    },
    {
      it: "no quantities elsewhere",
      desired: { data: { cpu: "0.5" } },
      observed: { data: { cpu: "500m" } },
      patch: { data: { cpu: "0.5" } },
    },
    { it: "another type", desired: { a: { b: 1 } }, observed: { a: "text" }, patch: { a: { b: 1 } } },
  ];
  for (const { it: name, desired, observed, exact, absent, exactItems, patch } of cases) {
    it(name, () => assert.deepEqual(mergePatch(desired, observed, { exact, absent, exactItems }), patch));
  }

  const leaf = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("x", "y"), fc.boolean());
  const value: fc.Arbitrary<unknown> = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.array(tie("node"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("node"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).node;
  const object = fc.dictionary(fc.constantFrom("a", "b", "c", "data"), value, { noNullPrototype: true });

  it("settles: after its patch there is no difference", () => {
    fc.assert(
      fc.property(
        object,
        object,
        fc.constantFrom(undefined, [""], ["a"], ["data"]),
        fc.boolean(),
        (desired, observed, exact, exactItems) => {
          const options = { exact, exactItems };
          const patch = mergePatch(desired, observed, options);
          const after = applyMergePatch(observed, patch ?? {}) as Json;
          assert.equal(mergePatch(desired, after, options), undefined);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("leaves alone what nobody desires", () => {
    fc.assert(
      fc.property(object, object, (desired, observed) => {
        const after = applyMergePatch(observed, mergePatch(desired, observed) ?? {}) as Json;
        for (const key of Object.keys(observed))
          if (!(key in desired)) assert.deepEqual(after[key], observed[key]);
      }),
    );
  });

  it("calls a value equal to itself, in both directions", () => {
    fc.assert(fc.property(value, (any) => semanticallyEqual(any, structuredClone(any))));
    assert.equal(semanticallyEqual({ a: 1 }, { a: 1, b: 2 }), false);
    assert.equal(semanticallyEqual({ a: 1, b: 2 }, { a: 1 }), false);
    assert.equal(semanticallyEqual({ requests: { cpu: "1" } }, { requests: { cpu: "1000m" } }), true);
  });
});
