import assert from "node:assert/strict";

import { z } from "zod";

import { type ResourceKey, resources } from "../../../provider";
import { PartialFailure, type ProviderContext } from "../../../provider/core/definition";
import { InitFailed, resourceFunctions } from "../../../provider/core/lifecycle";
import { dynamicResource } from "../../../provider/core/liqo-resource";
import { ConnectionError } from "../../../runtime/kube";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const context: ProviderContext = {
  now: () => 0,
  signal: new AbortController().signal,
  deleteUnreachable: false,
  progress: () => undefined,
  connect: () => assert.fail("these functions ask no cluster"),
};

const calls: string[] = [];
const pool = resourceFunctions({
  type: "Pool",
  summary: "A resource for these tests.",
  inputs: z.object({
    name: z.string(),
    size: z.number().int().min(1).default(3),
    tags: z.array(z.string()).optional(),
    password: z.string().min(8, "is shorter than 8 characters").optional(),
  }),
  computed: z.object({ address: z.string(), note: z.string().optional() }),
  secrets: [],
  secretInputs: ["password"],
  replaceOn: ["name"],
  deleteBeforeReplace: true,
  validate: ({ name, size }) =>
    size > 5 && name === "small" ? [{ property: "size", reason: "is too much for a small one" }] : [],
  validateChange: ({ size: had }, { size }) =>
    had !== undefined && size !== undefined && size < had
      ? [{ property: "size", reason: `is less than ${had}` }]
      : [],

  create(news) {
    calls.push(`create ${news.name} of ${news.size}`);
    if (news.name === "half") {
      const failure = { id: "half", computed: { note: "no address yet" }, reasons: ["it takes long"] };
      throw new PartialFailure("half a pool", failure);
    }
    return Promise.resolve({ id: news.name, computed: { address: "10.0.0.1", note: undefined } });
  },
  read: (id) => Promise.resolve(id === "gone" ? undefined : { address: "10.0.0.2" }),
  update(_id, olds, news) {
    calls.push(`update ${olds.address ?? "nothing"} to ${news.size}`);
    return Promise.resolve({ address: olds.address ?? "10.0.0.3" });
  },
});

describe("resource functions", () => {
  describe("check", () => {
    const check = (news: Record<string, unknown>) => pool.check({}, news);

    it("fills defaults and drops nothing", () => {
      assert.deepEqual(check({ name: "a", tags: ["x"] }), {
        inputs: { name: "a", tags: ["x"], size: 3 },
        failures: [],
      });
    });

    it("lets values pass that are not known yet, at any depth, and does not judge across them", () => {
      const news = { name: "small", size: unknown, tags: ["x", unknown] };
      assert.deepEqual(check(news), { inputs: news, failures: [] });
    });

    it("names every field that is wrong, what it is and what to give", () => {
      const found = check({ size: 0, tags: ["a", 7], colour: "red" }).failures;
      const expected: [string, RegExp][] = [
        ["name", /required; give a string/],
        ["size", /0 is too small; the minimum is 1/],
        ["tags[1]", /7 is not a string/],
        ["colour", /is no input of this resource; its inputs are name, size, tags, password/],
      ];
      assert.deepEqual(
        found.map(({ property }) => property),
        expected.map(([property]) => property),
      );
      for (const [index, [, reason]] of expected.entries()) assert.match(found[index]?.reason ?? "", reason);
    });

    it("does not show what is secret", () => {
      const { failures } = check({ name: "a", password: "letmein" });
      assert.deepEqual(failures, [{ property: "password", reason: "is shorter than 8 characters" }]);
    });

    it("judges across fields when all are known", () => {
      assert.deepEqual(check({ name: "small", size: 6 }).failures, [
        { property: "size", reason: "is too much for a small one" },
      ]);
    });
  });

  describe("check of a change", () => {
    const fault = [{ property: "size", reason: "is less than 4" }];
    const table: [string, Record<string, unknown>, Record<string, unknown>, typeof fault][] = [
      ["that is refused", { name: "a", size: 4 }, { name: "a", size: 2 }, fault],
      ["to a default that is refused", { name: "a", size: 4 }, { name: "a" }, fault],
      ["that is none", { name: "a", size: 4 }, { name: "a", size: 4 }, []],
      ["of something new", {}, { name: "a", size: 2 }, []],
      ["to a value not known yet", { name: "a", size: 4 }, { name: "a", size: unknown }, []],
      ["from a value that is no longer valid", { name: "a", size: "four" }, { name: "a", size: 2 }, []],
      ["with another fault first", { name: "a", size: 4 }, { name: 7, size: 2 }, []],
    ];
    for (const [what, olds, news, expected] of table) {
      it(what, () => {
        const { failures } = pool.check(olds, news);
        assert.deepEqual(
          failures.filter(({ property }) => property === "size"),
          expected,
        );
      });
    }
  });

  describe("diff", () => {
    const olds = { name: "a", size: 3, tags: ["x"], address: "10.0.0.1", __provider: "old text" };
    const table: [string, Record<string, unknown>, boolean, string[]][] = [
      ["nothing", { name: "a", size: 3, tags: ["x"], __provider: "new text" }, false, []],
      ["a value", { name: "a", size: 4, tags: ["x"] }, true, []],
      ["an item", { name: "a", size: 3, tags: ["x", "y"] }, true, []],
      ["an input left out", { name: "a", size: 3 }, true, []],
      ["the name", { name: "b", size: 3, tags: ["x"] }, true, ["name"]],
      ["a value not known yet", { name: "a", size: unknown, tags: ["x"] }, true, []],
      ["a name not known yet", { name: unknown, size: 3, tags: ["x"] }, true, []],
      ["an item not known yet", { name: "a", size: 3, tags: [unknown] }, true, []],
    ];
    for (const [what, news, changes, replaces] of table) {
      it(`of ${what}`, () => {
        const deleteBeforeReplace = replaces.length > 0;
        assert.deepEqual(pool.diff("a", olds, news), { changes, replaces, deleteBeforeReplace });
      });
    }
  });

  it("create, read, update, delete: the state is inputs and computed values, without what is undefined", async () => {
    const news = { name: "a", size: 3, __provider: "text" };
    assert.deepEqual(await pool.create(news, context), {
      id: "a",
      outputs: { name: "a", size: 3, address: "10.0.0.1" },
    });
    const state = { name: "a", size: 3, address: "10.0.0.1", __provider: "text" };
    assert.deepEqual(await pool.read("a", state, context), {
      id: "a",
      outputs: { name: "a", size: 3, address: "10.0.0.2" },
    });
    assert.equal(await pool.read("gone", state, context), undefined);
    assert.deepEqual(await pool.update("a", state, { name: "a", size: 4 }, context), {
      name: "a",
      size: 4,
      address: "10.0.0.1",
    });
    await pool.delete("a", state, context);
  });

  describe("delete in a cluster that cannot be reached", () => {
    const unreachable = () => {
      throw new Error("look for peerings", { cause: new ConnectionError("milan: connection refused", true) });
    };
    const functions = resourceFunctions({
      ...pool.definition,
      inputs: z.object({}),
      computed: z.object({}),
      secretInputs: [],
      replaceOn: [],
      create: unreachable,
      read: unreachable,
      update: unreachable,
      delete: unreachable,
    });

    it("fails and names the way out", async () => {
      await assert.rejects(
        functions.delete("a", {}, context),
        /look for peerings; if the cluster is gone for good, set PULUMI_K8S_DELETE_UNREACHABLE=true/,
      );
    });

    it("forgets the resource when told to, and says so", async () => {
      const said: string[] = [];
      await functions.delete(
        "a",
        {},
        { ...context, deleteUnreachable: true, progress: (line) => said.push(line) },
      );
      assert.deepEqual(said, ["forgotten, because its cluster cannot be reached: look for peerings"]);
    });

    it("forgets nothing for other errors", async () => {
      const refused = {
        ...pool.definition,
        inputs: z.object({}),
        computed: z.object({}),
        secretInputs: [],
        replaceOn: [],
      };
      const inUse = resourceFunctions({
        ...refused,
        create: unreachable,
        read: unreachable,
        update: unreachable,
        delete: () => Promise.reject(new Error("still in use")),
      });
      await assert.rejects(
        inUse.delete("a", {}, { ...context, deleteUnreachable: true }),
        /^Error: still in use$/,
      );
    });
  });

  it("a partial failure records the inputs and what there is; update finishes it", async () => {
    const news = { name: "half", size: 3 };
    const failed = await pool.create(news, context).catch((error: unknown) => error);
    assert.ok(failed instanceof InitFailed);
    assert.deepEqual(failed.properties, { name: "half", size: 3, note: "no address yet" });
    assert.equal((await pool.update("half", failed.properties, news, context))["address"], "10.0.0.3");
    assert.equal(calls.at(-1), "update nothing to 3");
  });
});

describe("resources as dynamic providers", () => {
  const dynamic = dynamicResource(pool, () => context);

  it("answer in the engine's words", async () => {
    assert.deepEqual(await dynamic.create({ name: "a", size: 3 }), {
      id: "a",
      outs: { name: "a", size: 3, address: "10.0.0.1" },
    });
    assert.deepEqual(await dynamic.read("gone", { name: "a", size: 3 }), {});
  });

  it("give a partial failure the fields by which the engine knows it, the code to finish it included", async () => {
    await assert.rejects(dynamic.create({ name: "half", size: 3, __provider: "the text" }), {
      message: "half a pool",
      id: "half",
      properties: { name: "half", size: 3, note: "no address yet", __provider: "the text" },
      reasons: ["half a pool", "it takes long"],
    });
  });
});

describe("every resource", () => {
  const keys = Object.keys(resources) as ResourceKey[];
  for (const key of keys) {
    const functions = resources[key];
    const { definition } = functions;

    it(`${key}: computed values do not clash with inputs, secrets and replacements exist`, () => {
      const inputs = Object.keys(definition.inputs.shape);
      const computed = Object.keys(definition.computed.shape);
      assert.deepEqual(
        inputs.filter((name) => computed.includes(name)),
        [],
      );
      assert.deepEqual(
        definition.secrets.filter((name) => !computed.includes(name)),
        [],
      );
      assert.deepEqual(
        [...definition.secretInputs, ...definition.replaceOn].filter((name) => !inputs.includes(name)),
        [],
      );
      assert.ok(!inputs.includes("kubeconfig") || definition.secretInputs.includes("kubeconfig"));
    });

    it(`${key}: a preview in which nothing is known passes and replaces nothing`, () => {
      const news = Object.fromEntries(Object.keys(definition.inputs.shape).map((name) => [name, unknown]));
      assert.deepEqual(functions.check({}, news), { inputs: news, failures: [] });
      assert.deepEqual(functions.diff("id", {}, news).replaces, []);
    });

    it(`${key}: every input and output is described`, () => {
      for (const shape of [definition.inputs.shape, definition.computed.shape]) {
        for (const [name, field] of Object.entries(shape)) {
          assert.ok((z.globalRegistry.get(field)?.description ?? "") !== "", `${key}.${name}`);
        }
      }
    });
  }
});
