import assert from "node:assert/strict";
import { isOwnMap } from "../../../runtime/authentication/tenant-drain";
import { missingSubjects } from "../../../runtime/authentication/tenant-role-bindings";

/** At `milan`, in the tenant namespace of `rome`, which is a consumer of milan's and may be its provider as well. */
describe("maps in the tenant namespace of a peer that is drained", () => {
  const source = { "liqo.io/replication": "true", "liqo.io/remoteID": "rome" };
  const copy = {
    "liqo.io/replication": "false",
    "liqo.io/replicated": "true",
    "liqo.io/originID": "rome",
    "liqo.io/remoteID": "milan",
  };
  const table: [
    title: string,
    map: { name: string; labels?: Record<string, string>; finalizers?: string[] },
    own: boolean,
  ][] = [
    ["the one that milan keeps for rome as its provider stays", { name: "rome", labels: source }, true],
    [
      "so it does with the replicator's finalizer",
      { name: "rome", labels: source, finalizers: ["crdreplicator.liqo.io/resource"] },
      true,
    ],
    ["a copy goes", { name: "milan", labels: copy }, false],
    ["one without labels goes", { name: "milan" }, false],
    ["one that calls itself a source goes", { name: "milan", labels: source }, false],
    ["so does one that calls itself both", { name: "rome", labels: { ...copy, ...source } }, false],
    [
      "and one that has got namespaces",
      { name: "rome", labels: source, finalizers: ["namespacemap-controller.liqo.io/finalizer"] },
      false,
    ],
  ];
  for (const [title, metadata, own] of table) {
    it(title, () =>
      assert.equal(
        isOwnMap(
          {
            apiVersion: "offloading.liqo.io/v1beta1",
            kind: "NamespaceMap",
            metadata: { namespace: "liqo-tenant-rome", ...metadata },
            spec: {},
          },
          "rome",
        ),
        own,
      ),
    );
  }
});

describe("the subjects of a binding", () => {
  const rome = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "rome" };
  const guest = { ...rome, name: "guest" };
  it("get what is missing, and keep what is there", () => {
    assert.deepEqual(missingSubjects(undefined, [rome]), [rome]);
    assert.deepEqual(missingSubjects([guest], [rome]), [guest, rome]);
    assert.equal(missingSubjects([rome, guest], [rome]), undefined);
  });
});
