import assert from "node:assert/strict";

import { type Desired, type KubeObject, Quota, ShadowPod } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { AdmissionCluster, OFFLOADING, refusal } from "../support/admission-cluster";
import { until } from "../support/until";

describe("admission of ShadowPods, over the wire", function () {
  this.timeout(60_000);
  const cluster = AdmissionCluster.forSuite();
  const admin = () => cluster().admin;
  const pool = () => cluster().peers.pool;
  const spare = () => cluster().peers.spare;

  const origin = { "offloading.liqo.io/origin": "rome", "offloading.liqo.io/destination": "milan" };
  const mine = { ...origin, "liqo.io/creator-user": "pool-a8a4c692b93b" };
  const shadowPod = (
    name: string,
    labels: Record<string, string> = mine,
    cpu = "100m",
    inNamespace = "shop-rome",
  ): Desired<ShadowPod> => ({
    apiVersion: OFFLOADING,
    kind: "ShadowPod",
    metadata: { name, namespace: inNamespace, labels },
    spec: {
      pod: {
        containers: [{ name: "web", image: "web:1", resources: { requests: { cpu, memory: "1Mi" } } }],
      },
    },
  });
  const remove = async (name: string) => {
    await admin().delete(ShadowPod, { name, namespace: "shop-rome" });
  };
  const edit = (client: KubeClient, name: string, body: object) =>
    client.patch(ShadowPod, { name, namespace: "shop-rome" }, body, { type: "merge" });

  before(async () => {
    await cluster().makeNamespace("shop-rome", { "liqo.io/remote-cluster-id": "rome" });
    await cluster().makeTenantNamespace("rome");
    await cluster().make({
      apiVersion: OFFLOADING,
      kind: "Quota",
      metadata: { name: "pool-a8a4c692b93b", namespace: "liqo-tenant-rome" },
      spec: {
        user: "pool-a8a4c692b93b",
        limitsEnforcement: "None",
        resources: { cpu: "1", memory: "1Gi", pods: "4" },
      },
    } as Desired<KubeObject>);
    await until("the quota is seen", async () => {
      const answer = await refusal(pool().create(ShadowPod, shadowPod("first")));
      return answer === "allowed";
    });
    await remove("first");
  });

  it("takes one call for a ShadowPod that names its creator", async () => {
    await pool().create(ShadowPod, shadowPod("one-call"));
    assert.deepEqual(cluster().calls.take(), { "/validate/shadowpods": 1 });
    await remove("one-call");
  });

  it("stamps the creator of those that do not, whatever they say", async () => {
    const made = await pool().create(
      ShadowPod,
      shadowPod("stamped", { ...origin, "liqo.io/creator-user": "admin" }),
    );
    assert.equal(made.metadata.labels?.["liqo.io/creator-user"], "pool-a8a4c692b93b");
    assert.deepEqual(cluster().calls.take(), { "/mutate/shadowpods": 1, "/validate/shadowpods": 1 });
    await remove("stamped");
  });

  it("is not asked about deletions, statuses and finalizers", async () => {
    await pool().create(ShadowPod, shadowPod("quiet"));
    cluster().calls.take();
    await admin().patch(
      ShadowPod,
      { name: "quiet", namespace: "shop-rome" },
      { status: { phase: "Running" } },
      { type: "merge", subresource: "status" },
    );
    await edit(admin(), "quiet", { metadata: { finalizers: ["example.org/held"] } });
    await remove("quiet");
    await edit(admin(), "quiet", { metadata: { finalizers: null } });
    assert.deepEqual(cluster().calls.take(), {});
  });

  it("lets the creator update labels and annotations without a call, and puts the creator back when it is left out", async () => {
    await pool().create(ShadowPod, shadowPod("edited"));
    cluster().calls.take();
    await edit(pool(), "edited", { metadata: { labels: { app: "web" }, annotations: { note: "1" } } });
    assert.deepEqual(cluster().calls.take(), {});
    const after = await edit(pool(), "edited", { metadata: { labels: { "liqo.io/creator-user": null } } });
    assert.equal(after.metadata.labels?.["liqo.io/creator-user"], "pool-a8a4c692b93b");
    await remove("edited");
  });

  const foreign: [what: string, body: object, denial: RegExp][] = [
    ["another user's label", { metadata: { labels: { app: "x" } } }, /creator name cannot be modified/],
    [
      "another user's annotation",
      { metadata: { annotations: { note: "2" } } },
      /creator name cannot be modified/,
    ],
    [
      "another user's name on it",
      { metadata: { labels: { "liqo.io/creator-user": "spare-a8a4c692b93b" } } },
      /creator name cannot be modified/,
    ],
  ];
  for (const [what, body, denial] of foreign) {
    it(`refuses the peer ${what}`, async () => {
      await pool().create(ShadowPod, shadowPod("guarded"));
      assert.match(await refusal(edit(spare(), "guarded", body)), denial);
      await remove("guarded");
    });
  }

  const updates: [what: string, body: object, denial: RegExp][] = [
    [
      "a new image",
      {
        spec: {
          pod: {
            containers: [
              { name: "web", image: "web:2", resources: { requests: { cpu: "100m", memory: "1Mi" } } },
            ],
          },
        },
      },
      /^allowed$/,
    ],
    [
      "more cpu",
      {
        spec: {
          pod: {
            containers: [
              { name: "web", image: "web:1", resources: { requests: { cpu: "200m", memory: "1Mi" } } },
            ],
          },
        },
      },
      /spec\.pod\.containers\[0\]\.resources cannot be modified/,
    ],
    [
      "a second container",
      {
        spec: {
          pod: {
            containers: [
              { name: "web", image: "web:1" },
              { name: "b", image: "b:1" },
            ],
          },
        },
      },
      /spec\.pod\.containers cannot be modified/,
    ],
    [
      "the host's network",
      { spec: { pod: { hostNetwork: true } } },
      /spec\.pod\.hostNetwork cannot be modified/,
    ],
    [
      "another origin",
      { metadata: { labels: { "offloading.liqo.io/origin": "turin" } } },
      /shadopow Cluster ID label is changed/,
    ],
    [
      "no origin",
      { metadata: { labels: { "offloading.liqo.io/origin": null } } },
      /missing origin Cluster ID label/,
    ],
  ];
  for (const [what, body, denial] of updates) {
    it(`answers an update with ${what}`, async () => {
      await pool().create(ShadowPod, shadowPod("frozen"));
      assert.match(await refusal(edit(pool(), "frozen", body)), denial);
      await remove("frozen");
    });
  }

  it("does not lock out an administrator", async () => {
    await pool().create(ShadowPod, shadowPod("admin"));
    await edit(admin(), "admin", { metadata: { labels: { debug: "1" } } });
    await remove("admin");
  });

  const refused: [what: string, object: Desired<ShadowPod>, denial: RegExp][] = [
    ["no origin", shadowPod("r", {}), /shadowpod\.validate\.liqo\.io.*missing origin Cluster ID label/],
    [
      "another origin than the namespace",
      shadowPod("r", { ...mine, "offloading.liqo.io/origin": "turin" }),
      /shadowpod Cluster ID label mismatch/,
    ],
    [
      "a namespace that is not offloaded",
      shadowPod("r", mine, "100m", "liqo-system"),
      /shadowpod Cluster ID label mismatch/,
    ],
    [
      "more than the quota",
      shadowPod("r", mine, "1100m"),
      /peering cpu quota usage exceeded - free 1 \/ requested 1100m/,
    ],
  ];
  for (const [what, object, denial] of refused) {
    it(`refuses a ShadowPod with ${what}`, async () =>
      assert.match(await refusal(pool().create(ShadowPod, object)), denial));
  }

  it("refuses a user without quota in the words of the runbook", async () => {
    assert.match(
      await refusal(spare().create(ShadowPod, shadowPod("r"))),
      /admission webhook "shadowpod\.validate\.liqo\.io" denied the request: failed getting quota/,
    );
  });

  it("refuses a name that is in use", async () => {
    await pool().create(ShadowPod, shadowPod("twice"));
    await until("the second is refused by the webhook", async () =>
      /ShadowPod twice is already running/.test(await refusal(pool().create(ShadowPod, shadowPod("twice")))),
    );
    await admin().patch(
      ShadowPod,
      { name: "twice", namespace: "shop-rome" },
      { status: { phase: "Succeeded" } },
      { type: "merge", subresource: "status" },
    );
    await until("the ended one is in the way", async () =>
      /ShadowPod still exists in the system/.test(
        await refusal(pool().create(ShadowPod, shadowPod("twice"))),
      ),
    );
    await remove("twice");
    await pool().create(ShadowPod, shadowPod("twice"));
    await remove("twice");
  });

  it("admits no more than the quota, of twenty at once, and again what was given back", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `burst-${at}`);
    const outcome = async (name: string) =>
      await refusal(pool().create(ShadowPod, shadowPod(name, mine, "10m")));
    const answers = await Promise.all(names.map(outcome));
    assert.equal(answers.filter((answer) => answer === "allowed").length, 4);
    assert.equal(
      answers.filter((answer) => /peering pods quota usage exceeded - free 0 \/ requested 1/.test(answer))
        .length,
      16,
    );
    const admitted = names.filter((_, at) => answers[at] === "allowed");
    const [ended = "", deleted = ""] = admitted;
    await admin().patch(
      ShadowPod,
      { name: ended, namespace: "shop-rome" },
      { status: { phase: "Failed" } },
      { type: "merge", subresource: "status" },
    );
    await until(
      "the place of the one that ended is free",
      async () => (await outcome("after-end")) === "allowed",
    );
    await remove(deleted);
    await until(
      "the place of the one that was deleted is free",
      async () => (await outcome("after-deletion")) === "allowed",
    );
    assert.notEqual(await outcome("too-many"), "allowed");
    for (const name of [...admitted, "after-end", "after-deletion"]) await remove(name);
  });

  it("books nothing for a dry run, nor for long what was refused by others", async () => {
    const path = `/apis/${OFFLOADING}/namespaces/shop-rome/shadowpods?dryRun=All`;
    for (let at = 0; at < 6; at += 1) {
      const body = JSON.stringify(shadowPod(`dry-${at}`, mine, "900m"));
      const answer = await pool().raw({
        method: "POST",
        path,
        body,
        headers: { "content-type": "application/json" },
      });
      assert.equal(answer.status, 201, answer.body.toString());
    }
    await pool().create(ShadowPod, shadowPod("wet", mine, "900m"));
    await remove("wet");
  });

  it("follows the quota", async () => {
    const quota = { name: "pool-a8a4c692b93b", namespace: "liqo-tenant-rome" };
    const set = async (spec: object) => await admin().patch(Quota, quota, { spec }, { type: "merge" });
    // One that comes before the webhook has seen the change is admitted, and makes room for the next.
    const answer = async () => {
      const text = await refusal(pool().create(ShadowPod, shadowPod("c")));
      if (text === "allowed") await remove("c");
      return text;
    };
    await set({ cordoned: true });
    await until("cordoned", async () => /user is cordoned/.test(await answer()));
    await set({ cordoned: null, limitsEnforcement: "Hard" });
    await until("hard", async () =>
      /cpu limits and requests are not equal for container web/.test(await answer()),
    );
    await set({ limitsEnforcement: "None" });
    await until("open again", async () => (await answer()) === "allowed");
  });
});
