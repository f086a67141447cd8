import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import * as pulumi from "@pulumi/pulumi";

import { packageSchema } from "../../../plugin/package-schema";
import {
  packageManifest,
  PluginProvider,
  schemaFile,
  unwrapSecrets,
  wrapSecrets,
} from "../../../plugin/plugin-provider";
import { dynamicResourceOf, type ResourceKey, resources } from "../../../provider";
import { typeName } from "../../../provider/core/liqo-resource";
import { packageRoot } from "../../../runtime/api/package-root";

const { specialSigKey, specialSecretSig } = pulumi.runtime;
const secret = (value: unknown) => ({ [specialSigKey]: specialSecretSig, value });
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const urn = (key: ResourceKey) =>
  `urn:pulumi:dev::fleet::pulumi-liqo:index:Peering$pulumi-liqo:index:${typeName(key)}::name`;

describe("secrets between engine and plugin", () => {
  it("are taken out at any depth and name the property that held them", () => {
    const { values, secret: marked } = unwrapSecrets({
      plain: "a",
      whole: secret("b"),
      inner: { list: ["c", secret({ d: 1 })] },
      nothing: null,
    });
    assert.deepEqual(values, { plain: "a", whole: "b", inner: { list: ["c", { d: 1 }] }, nothing: null });
    assert.deepEqual([...marked], ["whole", "inner"]);
  });

  it("go back as whole properties", () => {
    assert.deepEqual(wrapSecrets({ a: 1, b: { c: 2 } }, new Set(["b", "absent"])), {
      a: 1,
      b: secret({ c: 2 }),
    });
  });
});

describe("the plugin", () => {
  const plugin = new PluginProvider("1.2.3", readFileSync(schemaFile(), "utf8"));

  it("makes keys, and marks the private one as secret", async () => {
    const made = await plugin.create(urn("wireGuardKeyPair"), { keepers: { a: "1" } });
    const { id } = made;
    const outs = made.outs as Record<string, unknown>;
    const { values, secret: marked } = unwrapSecrets(outs);
    assert.match(id, /^[0-9a-f]{16}$/);
    assert.deepEqual(Object.keys(values).sort(), ["keepers", "privateKey", "publicKey"]);
    assert.deepEqual([...marked], ["privateKey"]);
    const read = await plugin.read(id, urn("wireGuardKeyPair"), outs);
    assert.deepEqual(read, { id, props: outs });
  });

  it("marks what tells the values of a Secret that is waited for, and of no other kind", async () => {
    const wait = { kubeconfig: "text", apiVersion: "v1", name: "a", namespace: "a" };
    const expectation = { field: { path: "{.data.a}" }, failOn: { path: "{.data.b}", equals: "x" } };
    const table: [unknown, string[]][] = [
      ["Secret", ["kubeconfig", "field", "failOn"]],
      ["ConfigMap", ["kubeconfig"]],
      [unknown, ["kubeconfig", "field", "failOn"]],
    ];
    for (const [kind, expected] of table) {
      const answer = await plugin.check(urn("waitFor"), {}, { ...wait, ...expectation, kind });
      const { secret: marked } = unwrapSecrets(answer.inputs as Record<string, unknown>);
      assert.deepEqual([...marked], expected);
    }
    const { definition } = resources.waitFor;
    assert.deepEqual(definition.secretWith?.({ kind: "Secret" }), ["value", "field", "failOn"]);
    assert.deepEqual(definition.secretWith?.({ kind: "Deployment" }), []);
  });

  it("refuses a resource that it has not, by name", async () => {
    await assert.rejects(
      plugin.create("urn:pulumi:dev::fleet::pulumi-liqo:index:Sausage::name", {}),
      /pulumi-liqo:index:Sausage/,
    );
  });

  it("refuses a component that it has not, naming those that there are", () => {
    assert.throws(
      () => plugin.construct("x", "pulumi-liqo:index:Sausage", {}, {}),
      /no component Sausage; there are .*Installation/,
    );
  });

  it("ends what is under way when the run is cancelled", async () => {
    const cancelled = new PluginProvider("1.2.3", readFileSync(schemaFile(), "utf8"));
    const kubeconfig = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "milan", cluster: { server: "http://127.0.0.1:9" } }],
      users: [{ name: "someone", user: {} }],
      contexts: [{ name: "milan", context: { cluster: "milan", user: "someone" } }],
      "current-context": "milan",
    });
    const inputs = {
      kubeconfig,
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "a",
      namespace: "a",
      absent: true,
      timeoutSeconds: 600,
    };
    const creation = cancelled.create(urn("waitFor"), inputs);
    setTimeout(() => void cancelled.cancel(), 50);
    await assert.rejects(creation, /the run was cancelled/);
  });

  describe("answers as the dynamic resources do", () => {
    const cluster = { kubeconfig: "text", namespace: "liqo-tenant-rome" };
    const wait = { kubeconfig: "text", apiVersion: "v1", kind: "Secret", name: "a", absent: true };
    const table: [ResourceKey, Record<string, unknown>, Record<string, unknown>][] = [
      ["wireGuardKeyPair", { keepers: { a: "1" } }, { keepers: { a: "1" } }],
      ["wireGuardKeyPair", { keepers: { a: "1" } }, { keepers: { a: "2" } }],
      ["ed25519KeyPair", {}, { keepers: unknown }],
      ["waitFor", { ...wait, timeoutSeconds: 300 }, wait],
      ["waitFor", wait, { ...wait, absent: undefined, field: { path: "{.a..b}" } }],
      ["waitFor", wait, { ...wait, kubeconfig: unknown, name: unknown }],
      [
        "nonceRead",
        { ...cluster, name: "liqo-nonce", timeoutSeconds: 120 },
        { ...cluster, name: "liqo-nonce", timeoutSeconds: 120 },
      ],
      ["nonceRead", cluster, { ...cluster, namespace: "Not A Name" }],
      ["tenantCredentials", {}, { ...cluster, nonce: "n", clusterID: "rome" }],
      ["identityCredentials", { ...cluster, name: "rome" }, { ...cluster, name: "turin" }],
      ["removalGuard", cluster, { ...cluster, namespace: "liqo-tenant-turin" }],
    ];
    for (const [key, olds, news] of table) {
      it(`${key} from ${JSON.stringify(olds)} to ${JSON.stringify(news)}`, async () => {
        const dynamic = dynamicResourceOf(key);
        const checked = await dynamic.check(olds, { ...news });
        const answer = await plugin.check(urn(key), olds, { ...news });
        const { values, secret: marked } = unwrapSecrets(answer.inputs as Record<string, unknown>);
        assert.deepEqual({ inputs: values, failures: answer.failures }, checked);
        const { definition } = resources[key];
        const secretInputs: readonly string[] = [
          ...definition.secretInputs,
          ...(definition.secretWith?.(checked.inputs) ?? []),
        ];
        assert.deepEqual(
          [...marked],
          secretInputs.filter((name) => name in checked.inputs),
        );
        assert.deepEqual(await plugin.diff("id", urn(key), olds, news), await dynamic.diff("id", olds, news));
        const wrapped = Object.fromEntries(
          Object.entries(news).map(([name, value]) => [name, secret(value)]),
        );
        assert.deepEqual(
          await plugin.diff("id", urn(key), olds, wrapped),
          await dynamic.diff("id", olds, news),
        );
      });
    }
  });
});

describe("the package's schema", function () {
  this.timeout(120_000);

  it("in the repository is the one generated from the sources", () => {
    const generated: unknown = JSON.parse(JSON.stringify(packageSchema(packageRoot(), packageManifest())));
    assert.deepEqual(JSON.parse(readFileSync(schemaFile(), "utf8")), generated, "run: npm run generate");
  });

  it("has every resource, with its secrets marked", () => {
    const text = readFileSync(schemaFile(), "utf8");
    const schema = JSON.parse(text) as {
      resources: Record<string, { properties: Record<string, { secret?: boolean }> }>;
    };
    for (const { definition } of Object.values(resources)) {
      const properties = schema.resources[`pulumi-liqo:index:${definition.type}`]?.properties ?? {};
      for (const name of [...definition.secrets, ...definition.secretInputs] as string[]) {
        assert.equal(properties[name]?.secret, true, `${definition.type}.${name}`);
      }
    }
  });
});
