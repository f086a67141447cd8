import assert from "node:assert/strict";

import * as pulumi from "@pulumi/pulumi";

import { resources, type ResourceKey } from "../../../provider";
import { trampoline } from "../../../provider/trampoline";

const keys = Object.keys(resources) as ResourceKey[];

describe("the trampoline", () => {
  for (const key of keys) {
    it(`of ${key} is small in the state, requires this package by name and nothing else`, async () => {
      const provider = trampoline(key);
      const { text } = await pulumi.runtime.serializeFunction(() => provider, { isFactoryFunction: true });
      assert.ok(text.length < 3 * 1024, `${text.length} characters`);
      const required = new Set([...text.matchAll(/require\(([^)]*)\)/g)].map(([, name]) => name));
      assert.deepEqual([...required], ['"pulumi-liqo/provider"']);
      assert.ok(text.includes(`"${key}"`), "names its resource");
    });
  }

  it("differs between resources by the key alone", async () => {
    const texts = await Promise.all(
      keys.map(async (key) => {
        const provider = trampoline(key);
        const { text } = await pulumi.runtime.serializeFunction(() => provider, { isFactoryFunction: true });
        return text.replaceAll(key, "KEY");
      }),
    );
    assert.equal(new Set(texts).size, 1);
  });
});
