import assert from "node:assert/strict";

import { compileJsonPath, JsonPathError } from "../../../provider/core/json-path";

const slice = {
  metadata: { name: "pool", annotations: { "liqo.io/create-virtual-node": "true" } },
  spec: {
    ports: [
      { name: "a", port: 1 },
      { name: "b", port: 2 },
    ],
  },
  status: {
    empty: "",
    none: null,
    ready: false,
    conditions: [
      { type: "Authentication", status: "Accepted" },
      { type: "Resources", status: "Denied", reason: "Too much" },
    ],
  },
};

describe("JSONPath", () => {
  const found: [string, unknown[]][] = [
    ["{.metadata.name}", ["pool"]],
    [".metadata.name", ["pool"]],
    ["metadata.name", ["pool"]],
    ["{$.metadata.name}", ["pool"]],
    ["{.metadata.annotations['liqo.io/create-virtual-node']}", ["true"]],
    ["{.metadata.annotations.liqo\\.io/create-virtual-node}", ["true"]],
    ["{.spec.ports[1].port}", [2]],
    ["{.spec.ports[-1].port}", [2]],
    ["{.spec.ports[7].port}", []],
    ["{.spec.ports[*].name}", ["a", "b"]],
    ['{.status.conditions[?(@.type=="Resources")].status}', ["Denied"]],
    ["{.status.conditions[?(@.type=='Resources')].reason}", ["Too much"]],
    ['{.status.conditions[?(@.type!="Resources")].status}', ["Accepted"]],
    ['{.status.conditions[?(@.type=="Ready")].status}', []],
    ["{.spec.ports[?(@.port==2)].name}", ["b"]],
    ["{.status.ready}", [false]],
    ["{.status.empty}", [""]],
    ["{.status.none}", []],
    ["{.status.nowhere.further}", []],
    ["{.metadata.name.length}", []],
    ["{.status.constructor}", []],
  ];
  for (const [path, values] of found) {
    it(`${path} finds ${JSON.stringify(values)}`, () =>
      assert.deepEqual(compileJsonPath(path).select(slice), values));
  }

  for (const path of ["", "{}", "{.a..b}", "{.a[}", "{.a b}", "{.a[?(@.x)]}", "{range .items[*]}"]) {
    it(`refuses ${JSON.stringify(path)}`, () => assert.throws(() => compileJsonPath(path), JsonPathError));
  }
});
