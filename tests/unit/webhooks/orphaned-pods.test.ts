import assert from "node:assert/strict";

import type { Pod, ShadowPod } from "../../../runtime/api";
import { silentLogger } from "../../../runtime/kube";
import { TestClock } from "../../support/test-clock";
import { amountsOf } from "../../../runtime/api/quantity";
import { bookedShadowPod, QuotaLedger } from "../../../runtime/webhooks/quota-ledger";
import { type Claim, OrphanedPods, settled } from "../../../runtime/webhooks/orphaned-pods";

const user = "pool-a8a4c692b93b";
const OFFLOADING = "offloading.liqo.io/v1beta1";
const requests = (cpu: string) => ({ containers: [{ name: "web", resources: { requests: { cpu } } }] });
type Phase = NonNullable<ShadowPod["status"]>["phase"];
const shadowPod = (name: string, uid: string, phase?: Phase, creator = user): ShadowPod => ({
  apiVersion: OFFLOADING,
  kind: "ShadowPod",
  metadata: { name, namespace: "shop-rome", uid, labels: { "liqo.io/creator-user": creator } },
  spec: { pod: requests("1") },
  ...(phase === undefined ? {} : { status: { phase } }),
});
const podOf = (name: string, owner: string | undefined, cpu = "1", phase = "Running"): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: "shop-rome",
    uid: `pod of ${owner}`,
    labels: { "liqo.io/creator-user": user, "liqo.io/managed-by": "shadowpod" },
    ...(owner === undefined
      ? {}
      : {
          ownerReferences: [
            { apiVersion: OFFLOADING, kind: "ShadowPod", name, uid: owner, controller: true },
          ],
        }),
  },
  spec: requests(cpu),
  status: { phase },
});
const cpus = (cpu: number, pods = cpu) => (pods === 0 ? new Map() : amountsOf({ cpu, pods }));

describe("the claims on a name, when it is known which pod has it", () => {
  const claim = (shadow: string, more: Partial<Claim> = {}): Claim => ({
    shadow,
    creator: user,
    seen: false,
    ...more,
  });
  const foreign: Pod = { ...podOf("web", undefined), metadata: { name: "web", namespace: "shop-rome" } };
  const table: [
    title: string,
    before: Claim[],
    pod: Pod | undefined,
    liveUid: string | undefined,
    kept: string[],
  ][] = [
    ["end when there is none", [claim("1")], undefined, undefined, []],
    ["end when it was there before", [claim("1", { seen: true })], undefined, undefined, []],
    ["stay while it is there", [claim("1")], podOf("web", "1"), undefined, ["1"]],
    ["end when it has ended", [claim("1")], podOf("web", "1", "1", "Succeeded"), undefined, []],
    ["stay with the one whose pod it is", [claim("1"), claim("2")], podOf("web", "1"), undefined, ["1"]],
    [
      "stay with the first when it has no owner",
      [claim("1"), claim("2")],
      podOf("web", undefined),
      undefined,
      ["1"],
    ],
    ["end when the pod is that of a later ShadowPod", [claim("1")], podOf("web", "2"), "2", []],
    ["stay beside a later ShadowPod", [claim("1")], podOf("web", "1"), "2", ["1"]],
    ["end when somebody else's pod has the name", [claim("1")], foreign, undefined, []],
    ["begin when a pod is found", [], podOf("web", "1"), undefined, ["1"]],
    ["begin when a pod without an owner is found", [], podOf("web", undefined), undefined, [""]],
    ["don't begin with the pod of a ShadowPod that is there", [], podOf("web", "1"), "1", []],
  ];
  for (const [title, before, pod, liveUid, kept] of table) {
    it(title, () =>
      assert.deepEqual(
        settled({ claims: before, before, pod, liveUid }).map(({ shadow }) => shadow),
        kept,
      ),
    );
  }

  it("stay where they were made after the API server was asked", () => {
    const later = claim("2");
    const observed = { claims: [claim("1"), later], before: [], pod: undefined, liveUid: undefined };
    assert.equal(settled(observed).length, 2);
    assert.deepEqual(settled({ ...observed, claims: [later], pod: podOf("web", "2") }), [
      { ...later, seen: true, pod: "pod of 2" },
    ]);
  });
});

describe("pods whose ShadowPod is gone", () => {
  let clock: TestClock;
  let ledger: QuotaLedger;
  let pods: Map<string, Pod>;
  let live: Map<string, string>;
  let asked: string[];
  let fails: Error | undefined;
  let left: OrphanedPods;
  let ending: AbortController;

  beforeEach(() => {
    clock = new TestClock();
    ledger = new QuotaLedger(() => clock.monotonic());
    pods = new Map();
    live = new Map();
    asked = [];
    fails = undefined;
    ending = new AbortController();
    const there = {
      get: async (key: string) => {
        asked.push(`get ${key}`);
        await Promise.resolve();
        if (fails !== undefined) throw fails;
        return pods.get(key);
      },
      async *pages(creator: string | undefined) {
        asked.push(`list ${creator ?? "all"}`);
        await Promise.resolve();
        if (fails !== undefined) throw fails;
        yield [...pods.values()];
      },
    };
    const context = { clock, log: silentLogger, signal: ending.signal };
    left = new OrphanedPods(context, there, ledger, (key) => live.get(key));
  });
  afterEach(() => ending.abort());
  const gone = (shadow: ShadowPod) =>
    left.shadowGone(bookedShadowPod(shadow), shadow.status?.phase === "Running");
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const put = (pod: Pod) => pods.set(`shop-rome/${pod.metadata.name}`, pod);

  it("count without a request until they are asked for", async () => {
    put(podOf("web", "1"));
    gone(shadowPod("web", "1"));
    assert.deepEqual(ledger.usage(user), cpus(1));
    assert.deepEqual(asked, []);
    assert.equal(await left.look(user), false);
    assert.deepEqual(ledger.usage(user), cpus(1));
    assert.deepEqual(asked, ["get shop-rome/web"]);
    pods.clear();
    await clock.advance(1_000);
    assert.equal(await left.look(user), true);
    assert.deepEqual(ledger.usage(user), cpus(0));
  });

  it("count for what they ask for themselves", async () => {
    put(podOf("web", "1", "3"));
    gone(shadowPod("web", "1"));
    await left.look(user);
    assert.deepEqual(ledger.usage(user), cpus(3, 1));
  });

  it("are asked for by nobody whose they are not, and not again and again", async () => {
    put(podOf("web", "1"));
    gone(shadowPod("web", "1"));
    assert.equal(await left.look("spare-a8a4c692b93b"), false);
    assert.deepEqual(asked, []);
    await Promise.all([left.look(user), left.look(user)]);
    await left.look(user);
    assert.equal(asked.length, 1);
    await clock.advance(250);
    await left.look(user);
    assert.equal(asked.length, 2);
  });

  it("are listed where there are many", async () => {
    for (let at = 0; at < 40; at++) gone(shadowPod(`web-${at}`, `${at}`, "Running"));
    gone(shadowPod("other", "other", "Running", "spare-a8a4c692b93b"));
    put(podOf("web-7", "7"));
    assert.deepEqual(ledger.usage(user), cpus(40));
    assert.equal(await left.look(user), true);
    assert.deepEqual(asked, [`list ${user}`]);
    assert.deepEqual(ledger.usage(user), cpus(1));
    assert.deepEqual(ledger.usage("spare-a8a4c692b93b"), cpus(1));
  });

  it("don't count when they had ended", () => {
    gone(shadowPod("web", "1", "Succeeded"));
    assert.deepEqual(ledger.usage(user), cpus(0));
  });

  it("count on while the API server does not answer", async () => {
    gone(shadowPod("web", "1", "Running"));
    fails = new Error("no answer");
    assert.equal(await left.look(user), false);
    assert.deepEqual(ledger.usage(user), cpus(1));
  });

  it("are found when the process starts, and ready is told after that", async () => {
    put(podOf("left", "gone"));
    put(podOf("counted", "live"));
    put(podOf("ended", "gone", "1", "Failed"));
    live.set("shop-rome/counted", "live");
    fails = new Error("not yet");
    left.survey();
    await settle();
    assert.equal(left.ready, false);
    fails = undefined;
    await clock.advance(1_000);
    await settle();
    assert.equal(left.ready, true);
    assert.deepEqual(ledger.usage(user), cpus(1));
  });

  it("are no longer counted when their ShadowPod turns out to be there", async () => {
    put(podOf("web", "1"));
    left.survey();
    await settle();
    assert.deepEqual(ledger.usage(user), cpus(1));
    left.shadowThere(shadowPod("web", "1"), "shop-rome/web");
    assert.deepEqual(ledger.usage(user), cpus(0));
  });

  it("are found seconds later, where a controller made them late", async () => {
    gone(shadowPod("earlier", "0", "Running"));
    await clock.advance(300_000 - 1);
    gone(shadowPod("web", "1"));
    assert.equal(await left.look(user), true);
    assert.deepEqual(ledger.usage(user), cpus(0));
    put(podOf("web", "1"));
    await clock.advance(5_000);
    await settle();
    assert.deepEqual(ledger.usage(user), cpus(1));
    pods.clear();
    await left.look(user);
    assert.deepEqual(ledger.usage(user), cpus(0));
  });
});
