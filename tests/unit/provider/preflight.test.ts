import assert from "node:assert/strict";

import { dynamicResourceOf, resources } from "../../../provider";
import { identityFaults, type InstalledIdentity } from "../../../provider/preflight";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const kubeconfig = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "rome", cluster: { server: "https://192.0.2.7:6443" } }],
  users: [{ name: "admin", user: {} }],
  contexts: [{ name: "rome", context: { cluster: "rome", user: "admin" } }],
  "current-context": "rome",
});

describe("the identity of an installation", () => {
  const table: [string, InstalledIdentity, InstalledIdentity, string[]][] = [
    ["stays", { clusterId: "rome", namespace: "liqo" }, { clusterId: "rome", namespace: "liqo" }, []],
    ["is new", {}, { clusterId: "rome", namespace: "liqo" }, []],
    ["is not known yet", { clusterId: "rome", namespace: "liqo" }, {}, []],
    ["has another ID", { clusterId: "rome", namespace: "liqo" }, { clusterId: "roma" }, ["clusterId"]],
    ["has another namespace", { namespace: "liqo" }, { namespace: "liqo-system" }, ["namespace"]],
    [
      "is another one",
      { clusterId: "rome", namespace: "liqo" },
      { clusterId: "roma", namespace: "liqo-system" },
      ["clusterId", "namespace"],
    ],
  ];
  for (const [what, olds, news, expected] of table) {
    it(what, () => {
      assert.deepEqual(
        identityFaults(olds, news).map(({ property }) => property),
        expected,
      );
    });
  }

  it("is told with both values and both ways out", () => {
    const [fault] = identityFaults({ clusterId: "rome" }, { clusterId: "roma" });
    assert.match(
      fault?.reason ?? "",
      /^is "roma", but the installation has "rome", .*Put "rome" back; or, for "roma", remove the peerings and then the installation/,
    );
  });

  it("is held by the Preflight, in a check, which asks no cluster", async () => {
    const preflight = dynamicResourceOf("preflight");
    const olds = { kubeconfig, podCidrs: [], apiServerGiven: false, clusterId: "rome", namespace: "liqo" };
    const check = async (more: object) =>
      (await preflight.check(olds, { ...olds, ...more })).failures.map(({ property }) => property);
    assert.deepEqual(await check({}), []);
    assert.deepEqual(await check({ kubeconfig: kubeconfig.replace("192.0.2.7", "192.0.2.8") }), []);
    assert.deepEqual(await check({ clusterId: "roma" }), ["clusterId"]);
    assert.deepEqual(await check({ namespace: "liqo-system" }), ["namespace"]);
    assert.deepEqual(await check({ clusterId: unknown, namespace: unknown }), []);
    const { failures } = await preflight.check({ kubeconfig, podCidrs: [] }, { ...olds });
    assert.deepEqual(failures, [], "a state of before the Preflight knew them");
  });

  it("is never a reason to make the Preflight anew", () => {
    const olds = { kubeconfig, podCidrs: [], apiServerGiven: false, cluster: "uid" };
    const news = { ...olds, clusterId: "rome", namespace: "liqo" };
    const expected = { changes: true, replaces: [], deleteBeforeReplace: false };
    assert.deepEqual(resources.preflight.diff("cluster", olds, news), expected);
  });

  it("is held by the removal guard too, which knew the namespace before", async () => {
    const guard = dynamicResourceOf("removalGuard");
    const olds = { kubeconfig, namespace: "liqo", timeoutSeconds: 60 };
    const { failures } = await guard.check(olds, { ...olds, namespace: "liqo-system" });
    assert.deepEqual(
      failures.map(({ property }) => property),
      ["namespace"],
    );
  });
});
