import assert from "node:assert/strict";

import fc from "fast-check";
import type { NodeSelectorRequirement, NodeSelectorTerm } from "kubernetes-types/core/v1";

import {
  invalidNodeSelector,
  matchesAnyTerm,
  selectorProduct,
  selectsCluster,
} from "../../../runtime/offloading/node-selector";

const node = { name: "milan", labels: { region: "B", cores: "16", "liqo.io/type": "virtual-node" } };
const requirement = (key: string, operator: string, ...values: string[]): NodeSelectorRequirement =>
  values.length > 0 ? { key, operator, values } : { key, operator };
const term = (...matchExpressions: NodeSelectorRequirement[]): NodeSelectorTerm => ({ matchExpressions });

describe("node selectors", () => {
  const requirements: [NodeSelectorRequirement, boolean][] = [
    [requirement("region", "In", "A", "B"), true],
    [requirement("region", "In", "A"), false],
    [requirement("zone", "In", "A"), false],
    [requirement("region", "NotIn", "A"), true],
    [requirement("region", "NotIn", "B"), false],
    [requirement("zone", "NotIn", "A"), true],
    [requirement("region", "Exists"), true],
    [requirement("zone", "Exists"), false],
    [requirement("zone", "DoesNotExist"), true],
    [requirement("region", "DoesNotExist"), false],
    [requirement("cores", "Gt", "8"), true],
    [requirement("cores", "Gt", "16"), false],
    [requirement("cores", "Lt", "32"), true],
    [requirement("cores", "Lt", "16"), false],
    [requirement("region", "Gt", "1"), false],
    [requirement("zone", "Lt", "1"), false],
    [requirement("region", "Near", "B"), false],
  ];
  for (const [one, expected] of requirements) {
    const text = `${one.key} ${one.operator} ${(one.values ?? []).join(",")}`;
    it(`${text} is ${expected ? "" : "not "}satisfied`, () => {
      assert.equal(matchesAnyTerm([term(one)], node), expected);
    });
  }

  it("needs all requirements of one term", () => {
    const both = [requirement("region", "In", "B"), requirement("cores", "Gt", "64")];
    assert.equal(matchesAnyTerm([term(...both)], node), false);
    assert.equal(
      matchesAnyTerm(
        both.map((one) => term(one)),
        node,
      ),
      true,
    );
  });

  it("looks at the node's name in fields", () => {
    const named = (name: string): NodeSelectorTerm => ({
      matchFields: [requirement("metadata.name", "In", name)],
    });
    assert.equal(matchesAnyTerm([named("milan")], node), true);
    assert.equal(matchesAnyTerm([named("turin")], node), false);
  });

  it("takes no node by an empty term, and every cluster without terms", () => {
    assert.equal(matchesAnyTerm([{}], node), false);
    assert.equal(selectsCluster({ nodeSelectorTerms: [{}] }, node), false);
    assert.equal(selectsCluster({ nodeSelectorTerms: [] }, node), true);
    assert.equal(selectsCluster(undefined, node), true);
  });

  const invalid: [NodeSelectorTerm, RegExp][] = [
    [term(requirement("region", "In")), /nodeSelectorTerms\[0\]\.matchExpressions\[0\]\.values: empty/],
    [term(requirement("region", "Exists", "x")), /takes none/],
    [term(requirement("cores", "Gt", "many")), /exactly one integer/],
    [term(requirement("cores", "Lt", "1", "2")), /exactly one integer/],
    [term(requirement("region", "Near", "x")), /operator: "Near" is not one of/],
    [term(requirement("-region", "Exists")), /key: "-region" is not a label key/],
    [term(requirement("Example.com/region", "Exists")), /is not a label key/],
    [term(requirement("region", "In", "not a value")), /"not a value" is not a label value/],
    [{ matchFields: [requirement("spec.name", "In", "x")] }, /matchFields\[0\]\.key: "spec\.name"/],
    [{ matchFields: [requirement("metadata.name", "Exists")] }, /a field takes In or NotIn/],
    [{ matchFields: [requirement("metadata.name", "In", "a", "b")] }, /exactly one value/],
  ];
  for (const [one, message] of invalid) {
    it(`finds what is wrong with ${JSON.stringify(one)}`, () => {
      assert.match(invalidNodeSelector({ nodeSelectorTerms: [one] }) ?? "", message);
    });
  }

  it("finds nothing wrong with valid selectors", () => {
    const valid = requirements.slice(0, 14).map(([one]) => term(one));
    assert.equal(invalidNodeSelector({ nodeSelectorTerms: [...valid, {}] }), undefined);
    assert.equal(invalidNodeSelector(undefined), undefined);
  });
});

describe("the product of selectors", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((key) => requirement(key, "Exists")) as [
    NodeSelectorRequirement,
    NodeSelectorRequirement,
    NodeSelectorRequirement,
    NodeSelectorRequirement,
  ];

  it("pairs every imposed term with every existing one, the existing first within each", () => {
    assert.deepEqual(selectorProduct([term(a), term(b)], [term(c), term(d)]), [
      term(c, a),
      term(d, a),
      term(c, b),
      term(d, b),
    ]);
  });

  it("keeps the fields that pin a DaemonSet's pod to its node", () => {
    const pinned: NodeSelectorTerm = { matchFields: [requirement("metadata.name", "In", "worker-2")] };
    assert.deepEqual(selectorProduct([term(a)], [pinned]), [{ ...term(a), ...pinned }]);
  });

  it("is the other side where one side imposes nothing", () => {
    assert.deepEqual(selectorProduct([], [term(c)]), [term(c)]);
    assert.deepEqual(selectorProduct([term(a)], []), [term(a)]);
    assert.deepEqual(selectorProduct([], []), []);
  });

  it("admits a node exactly when both sides do", () => {
    const label = fc.constantFrom("a", "b", "c");
    const value = fc.constantFrom("1", "2");
    const one = fc.record({
      key: label,
      operator: fc.constantFrom("In", "NotIn"),
      values: fc.array(value, { minLength: 1 }),
    });
    const terms = fc.array(
      fc.array(one, { maxLength: 3 }).map((matchExpressions) => ({ matchExpressions })),
      { minLength: 1, maxLength: 3 },
    );
    const nodes = fc.record({ name: fc.constant("n"), labels: fc.dictionary(label, value) });
    fc.assert(
      fc.property(terms, terms, nodes, (imposed, existing, candidate) => {
        assert.equal(
          matchesAnyTerm(selectorProduct(imposed, existing), candidate),
          matchesAnyTerm(imposed, candidate) && matchesAnyTerm(existing, candidate),
        );
      }),
    );
  });
});
