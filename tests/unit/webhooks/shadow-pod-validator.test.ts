import assert from "node:assert/strict";

import { DEFAULT_POD_POLICY } from "../../../runtime/plan/pod-policy";
import { amountsOf } from "../../../runtime/api/quantity";
import { soleLeader } from "../../../runtime/webhooks/leadership";
import { QuotaLedger } from "../../../runtime/webhooks/quota-ledger";
import { shadowPodValidator, type ShadowPodWebhookOptions } from "../../../runtime/webhooks/shadow-pod";
import { admissionRequest } from "./requests";

const user = "pool-a8a4c692b93b";
const labels = { "offloading.liqo.io/origin": "rome", "liqo.io/creator-user": user };
const shadowPod = (name: string, cpu = "1", more: object = labels) => ({
  metadata: { name, uid: `uid-${name}`, labels: more },
  spec: { pod: { containers: [{ name: "web", resources: { requests: { cpu } } }] } },
});

describe("the validation of a new ShadowPod", () => {
  let ledger: QuotaLedger;
  let existing: Set<string>;
  let options: ShadowPodWebhookOptions;
  beforeEach(() => {
    ledger = new QuotaLedger(() => 0);
    existing = new Set();
    options = {
      enforce: true,
      policy: DEFAULT_POD_POLICY,
      ledger,
      ready: () => true,
      leadership: soleLeader,
      quotaOf: (creator) => (creator === user ? { resources: { cpu: "2", pods: "10" } } : undefined),
      makeRoom: () => Promise.resolve(false),
      namespaceLabels: (namespace) =>
        Promise.resolve(namespace === "shop-rome" ? { "liqo.io/remote-cluster-id": "rome" } : undefined),
      exists: (namespace, name) => Promise.resolve(existing.has(`${namespace}/${name}`)),
    };
  });
  const create = async (object: object, more: Partial<Parameters<typeof admissionRequest>[0]> = {}) => {
    const validator = shadowPodValidator(options);
    const request = admissionRequest({
      namespace: "shop-rome",
      username: user,
      groups: ["rome"],
      object,
      ...more,
    });
    const verdict = await validator(request);
    return verdict.allowed ? "allowed" : `${verdict.code} ${verdict.message}`;
  };

  it("books what it admits", async () => {
    assert.equal(await create(shadowPod("a", "1500m")), "allowed");
    assert.deepEqual(ledger.usage(user), amountsOf({ cpu: "1500m", pods: 1 }));
    assert.equal(
      await create(shadowPod("b")),
      "403 peering cpu quota usage exceeded - free 500m / requested 1",
    );
    assert.equal(await create(shadowPod("b", "500m")), "allowed");
  });

  it("books nothing on a dry run", async () => {
    assert.equal(await create(shadowPod("a"), { dryRun: true }), "allowed");
    assert.equal(ledger.size, 0);
  });

  it("never admits more than there is, however many ask at once", async () => {
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, (_, at) => create(shadowPod(`p${at}`, "300m"))),
    );
    assert.equal(verdicts.filter((verdict) => verdict === "allowed").length, 6);
  });

  it("waits until everything stored has been seen", async () => {
    options.ready = () => false;
    assert.equal(await create(shadowPod("a")), "500 initialization in progress");
    options.enforce = false;
    assert.equal(await create(shadowPod("a")), "allowed");
  });

  const refused: [title: string, object: object, more: object, verdict: string][] = [
    ["an origin", shadowPod("a", "1", {}), {}, "403 missing origin Cluster ID label"],
    ["a namespace that exists", shadowPod("a"), { namespace: "gone" }, "400 namespace gone not found"],
    [
      "the namespace's origin",
      shadowPod("a", "1", { ...labels, "offloading.liqo.io/origin": "turin" }),
      {},
      "403 shadowpod Cluster ID label mismatch",
    ],
    [
      "a creator",
      shadowPod("a", "1", { "offloading.liqo.io/origin": "rome" }),
      {},
      "403 missing creator label",
    ],
    ["its own creator", shadowPod("a"), { username: "spare-a8a4c692b93b" }, "403 missing creator label"],
    [
      "a quota",
      shadowPod("a", "1", { ...labels, "liqo.io/creator-user": "admin" }),
      { username: "admin" },
      '403 failed getting quota: there is none for user "admin"; it comes with a granted ResourceSlice of that user',
    ],
    [
      "readable quantities",
      shadowPod("a", "plenty"),
      {},
      '403 container web: requests.cpu is "plenty", which is not a quantity of a resource',
    ],
  ];
  for (const [what, object, more, verdict] of refused) {
    it(`needs ${what}`, async () => {
      assert.equal(await create(object, more), verdict);
      assert.equal(ledger.size, 0);
    });
  }

  it("needs pods that name nothing of the provider, whether quotas are enforced or not", async () => {
    const placed = {
      ...shadowPod("a"),
      spec: { pod: { containers: [], nodeName: "control-plane-1" } },
    };
    for (const enforce of [true, false]) {
      options.enforce = enforce;
      assert.match(await create(placed), /^403 spec\.pod\.nodeName is "control-plane-1"/);
    }
    options.policy = { ...options.policy, runtimeClasses: ["kata"] };
    const contained = { ...shadowPod("a"), spec: { pod: { containers: [], runtimeClassName: "kata" } } };
    assert.equal(await create(contained), "allowed");
  });

  it("does not look at quotas when they are not enforced", async () => {
    options.enforce = false;
    assert.equal(await create(shadowPod("a", "99", { "offloading.liqo.io/origin": "rome" })), "allowed");
    assert.equal(await create(shadowPod("a", "1", {})), "403 missing origin Cluster ID label");
  });

  it("refuses a name that is in use, and only while it is", async () => {
    const stored = {
      key: "shop-rome/a",
      uid: "1",
      creator: user,
      demand: amountsOf({ cpu: "1" }),
      released: false,
    };
    ledger.store(stored);
    existing.add(stored.key);
    assert.equal(await create(shadowPod("a")), "403 ShadowPod a is already running");
    ledger.store({ ...stored, released: true });
    assert.equal(await create(shadowPod("a")), "403 ShadowPod still exists in the system");
    existing.delete(stored.key);
    assert.equal(await create(shadowPod("a")), "allowed");
  });
});
