import assert from "node:assert/strict";

import { type AdmissionRequest, parseReview, type Verdict } from "../../../runtime/webhooks/admission-review";
import { stampCreator } from "../../../runtime/webhooks/shadow-pod-creator";
import { frozenDifference } from "../../../runtime/webhooks/shadow-pod-spec";
import { validateShadowPodUpdate } from "../../../runtime/webhooks/shadow-pod-update";

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
