import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";

import { dynamicResourceOf, resources, type ResourceKey } from "../../../provider";
import { dynamicProviderCode, typeName } from "../../../provider/core/liqo-resource";

const keys = Object.keys(resources) as ResourceKey[];

describe("the code that the state holds for a resource", () => {
  for (const key of keys) {
    it(`${key}: is small and requires this package by name, and nothing else`, () => {
      const code = dynamicProviderCode(key);
      assert.ok(code.length < 200, `${code.length} characters`);
      assert.deepEqual(
        [...code.matchAll(/require\(([^)]*)\)/g)].map(([, name]) => name),
        ['"pulumi-liqo/provider"'],
      );
    });

    it(`${key}: gives the engine every function of the resource`, () => {
      const loaded: { handler?: () => object } = {};
      const require = (name: string) => {
        assert.equal(name, "pulumi-liqo/provider");
        return { dynamicResourceOf };
      };
      runInNewContext(dynamicProviderCode(key), { exports: loaded, require });
      const provider = loaded.handler?.() ?? {};
      assert.deepEqual(Object.keys(provider).sort(), ["check", "create", "delete", "diff", "read", "update"]);
    });

    it(`${key}: its type is named after it`, () =>
      assert.equal(typeName(key), resources[key].definition.type));
  }
});
