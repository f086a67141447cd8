import assert from "node:assert/strict";

import {
  invalidRemoteNamespaceName,
  remoteNamespaceName,
} from "../../../runtime/offloading/remote-namespace-name";

describe("the remote namespace's name", () => {
  const table: [strategy: string | undefined, selected: string | undefined, expected: string][] = [
    ["EnforceSameName", undefined, "shop"],
    ["DefaultName", undefined, "shop-rome"],
    ["DefaultName", "ignored", "shop-rome"],
    ["SelectedName", "boutique", "boutique"],
    ["SomethingNew", undefined, "shop-rome"],
    [undefined, undefined, "shop-rome"],
  ];
  for (const [namespaceMappingStrategy, selected, expected] of table) {
    it(`with ${namespaceMappingStrategy} and ${selected} is ${expected}`, () => {
      const mapping = {
        ...(namespaceMappingStrategy === undefined ? {} : { namespaceMappingStrategy }),
        ...(selected === undefined ? {} : { remoteNamespaceName: selected }),
      };
      assert.equal(remoteNamespaceName("shop", mapping, "rome"), expected);
    });
  }

  it("is missing with SelectedName and no name", () => {
    assert.throws(
      () => remoteNamespaceName("shop", { namespaceMappingStrategy: "SelectedName" }, "rome"),
      /spec\.remoteNamespaceName is empty.*delete the NamespaceOffloading/,
    );
  });

  it("must fit a namespace", () => {
    assert.equal(invalidRemoteNamespaceName("a".repeat(63)), undefined);
    assert.match(invalidRemoteNamespaceName("a".repeat(64)) ?? "", /has 64 characters.*SelectedName/);
    assert.match(invalidRemoteNamespaceName("Shop_1") ?? "", /is no name for a namespace/);
  });

  it("must be one that a provider can make", () => {
    for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"])
      assert.match(invalidRemoteNamespaceName(name) ?? "", new RegExp(`"${name}", which every provider has`));
    assert.equal(invalidRemoteNamespaceName("kube-shop"), undefined);
  });
});
