import assert from "node:assert/strict";
import { DEFAULT_POD_POLICY } from "../../../runtime/plan/pod-policy";
import { amountsOf } from "../../../runtime/api/quantity";
import { type AdmissionRequest, parseReview, type Verdict } from "../../../runtime/webhooks/admission-review";
import { soleLeader } from "../../../runtime/webhooks/leadership";
import { QuotaLedger } from "../../../runtime/webhooks/quota-ledger";
import {
  frozenDifference,
  shadowPodValidator,
  type ShadowPodWebhookOptions,
  stampCreator,
  validateShadowPodUpdate,
} from "../../../runtime/webhooks/shadow-pod";
import { admissionRequest } from "./requests";

const creator = "liqo.io/creator-user";
const origin = { "offloading.liqo.io/origin": "rome" };
const spec = { pod: { containers: [{ name: "web", image: "web:1" }] } };

function request(
  operation: string,
  user: { username: string; groups?: string[] },
  labels: { old?: Record<string, string>; new?: Record<string, string> },
  specs: { old?: unknown; new?: unknown } = {},
): AdmissionRequest {
  const object = (all: Record<string, string> | undefined, body: unknown) =>
    all === undefined ? undefined : { metadata: { name: "web-0", labels: all }, spec: body ?? spec };
  const body = {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "r1",
      operation,
      name: "web-0",
      namespace: "shop-rome",
      userInfo: user,
      object: object(labels.new, specs.new),
      oldObject: object(labels.old, specs.old),
    },
  };
  return parseReview(JSON.stringify(body)).request;
}

const peer = { username: "pool-a8a4c692b93b", groups: ["rome", "system:authenticated"] };
const otherPeer = { username: "spare-a8a4c692b93b", groups: ["rome", "system:authenticated"] };
const admin = { username: "admin", groups: ["system:masters", "system:authenticated"] };
const collector = { username: "system:serviceaccount:kube-system:generic-garbage-collector", groups: [] };
const allowed: Verdict = { allowed: true };
const denial = (message: string): Verdict => ({ allowed: false, code: 403, message });
const stamp = (value: string): Verdict => ({
  allowed: true,
  patch: [{ op: "add", path: "/metadata/labels/liqo.io~1creator-user", value }],
});

describe("the creator of a ShadowPod", () => {
  const mine = { ...origin, [creator]: peer.username };
  const table: [title: string, request: AdmissionRequest, verdict: Verdict][] = [
    ["is the caller", request("CREATE", peer, { new: origin }), stamp(peer.username)],
    [
      "is the caller, whatever the request says",
      request("CREATE", peer, { new: { ...origin, [creator]: "admin" } }),
      stamp(peer.username),
    ],
    ["is left alone when it is right already", request("CREATE", peer, { new: mine }), allowed],
    [
      "must have a name",
      request("CREATE", { username: "" }, { new: origin }),
      denial("missing creator name"),
    ],
    [
      "comes back when an update leaves it out",
      request("UPDATE", peer, { old: mine, new: origin }),
      stamp(peer.username),
    ],
    ["stays when an update keeps it", request("UPDATE", peer, { old: mine, new: mine }), allowed],
    [
      "alone may change it, among the peer's users",
      request("UPDATE", otherPeer, { old: mine, new: mine }),
      denial("creator name cannot be modified"),
    ],
    [
      "can't be taken over",
      request("UPDATE", otherPeer, { old: mine, new: { ...origin, [creator]: otherPeer.username } }),
      denial("creator name cannot be modified"),
    ],
    [
      "can't be missing when the peer updates",
      request("UPDATE", peer, { old: origin, new: origin }),
      denial("missing creator name"),
    ],
    [
      "does not lock out an administrator",
      request("UPDATE", admin, { old: mine, new: { ...mine, debug: "1" } }),
      allowed,
    ],
    [
      "can't be changed by an administrator either",
      request("UPDATE", admin, { old: mine, new: { ...origin, [creator]: "admin" } }),
      denial("creator name cannot be modified"),
    ],
    [
      "comes back when an administrator leaves it out",
      request("UPDATE", admin, { old: mine, new: origin }),
      stamp(peer.username),
    ],
    [
      "does not lock out the garbage collector",
      request("UPDATE", collector, { old: mine, new: mine }),
      allowed,
    ],
    [
      "may be missing when others than the peer update",
      request("UPDATE", admin, { old: origin, new: origin }),
      allowed,
    ],
  ];
  for (const [title, one, verdict] of table) {
    it(title, () => assert.deepEqual(stampCreator(one), verdict));
  }
});

describe("an update of a ShadowPod", () => {
  const changed = (pod: object) => ({ new: { pod } });
  const all = { ...origin, [creator]: peer.username };
  const table: [title: string, request: AdmissionRequest, verdict: Verdict][] = [
    ["may change nothing", request("UPDATE", peer, { old: all, new: all }), allowed],
    [
      "must keep the origin",
      request("UPDATE", peer, { old: all, new: {} }),
      denial("missing origin Cluster ID label"),
    ],
    [
      "may not change the origin",
      request("UPDATE", peer, { old: all, new: { ...all, "offloading.liqo.io/origin": "turin" } }),
      denial("shadopow Cluster ID label is changed"),
    ],
    [
      "may not change the creator",
      request("UPDATE", peer, { old: all, new: { ...all, [creator]: "other" } }),
      denial("creator name cannot be modified"),
    ],
    [
      "may change an image",
      request(
        "UPDATE",
        peer,
        { old: all, new: all },
        changed({ containers: [{ name: "web", image: "web:2" }] }),
      ),
      allowed,
    ],
    [
      "names what it may not change",
      request(
        "UPDATE",
        peer,
        { old: all, new: all },
        changed({ containers: [{ name: "web", image: "web:1", command: ["sh"] }] }),
      ),
      denial(
        "spec.pod.containers[0].command cannot be modified: only images, activeDeadlineSeconds and tolerations of a ShadowPod may change",
      ),
    ],
  ];
  for (const [title, one, verdict] of table) {
    it(title, () => assert.deepEqual(validateShadowPodUpdate(one), verdict));
  }
});

describe("the frozen part of a ShadowPod's spec", () => {
  const base = {
    containers: [{ name: "web", image: "web:1" }],
    initContainers: [{ name: "setup", image: "s:1" }],
    hostNetwork: false,
  };
  const table: [title: string, after: unknown, difference: string | undefined][] = [
    [
      "allows new images",
      {
        ...base,
        containers: [{ name: "web", image: "web:2" }],
        initContainers: [{ name: "setup", image: "s:2" }],
      },
      undefined,
    ],
    ["allows a deadline", { ...base, activeDeadlineSeconds: 5 }, undefined],
    ["allows tolerations", { ...base, tolerations: [{ operator: "Exists" }] }, undefined],
    ["takes an empty list for an absent one", { ...base, volumes: [] }, undefined],
    ["refuses another field", { ...base, hostNetwork: true }, "spec.pod.hostNetwork"],
    [
      "refuses a field that vanishes",
      { containers: base.containers, initContainers: base.initContainers },
      "spec.pod.hostNetwork",
    ],
    [
      "refuses one container more",
      { ...base, containers: [...base.containers, { name: "b" }] },
      "spec.pod.containers",
    ],
    ["refuses one container less", { ...base, initContainers: [] }, "spec.pod.initContainers"],
    [
      "refuses a renamed container",
      { ...base, containers: [{ name: "www", image: "web:1" }] },
      "spec.pod.containers[0].name",
    ],
    ["refuses what is no pod", "text", "spec.pod"],
  ];
  for (const [title, after, difference] of table) {
    it(title, () => assert.equal(frozenDifference(base, after), difference));
  }
});

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
