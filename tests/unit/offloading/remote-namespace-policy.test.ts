import assert from "node:assert/strict";

import {
  podSecurityOf,
  podSecurityPatch,
  reservedNamespace,
} from "../../../runtime/offloading/remote-namespace-policy";
import type { PodSecurityLevel } from "../../../runtime/plan/pod-policy";

const ENFORCE = "pod-security.kubernetes.io/enforce";
const OURS = "liqo.io/pod-security";

describe("names of remote namespaces", () => {
  const reserved: [name: string, why: RegExp][] = [
    ["liqo-tenant-turin", /tenant namespaces/],
    ["liqo-tenant-", /tenant namespaces/],
    ["liqo-system", /for Liqo itself/],
    ["liqo", /for Liqo itself/],
    ["liqo-storage", /for Liqo itself/],
    ["default", /Kubernetes/],
    ["kube-system", /Kubernetes/],
    ["kube-anything", /Kubernetes/],
  ];
  for (const [name, why] of reserved) {
    it(`${name} is the provider's`, () =>
      assert.match(reservedNamespace(name, "liqo-system") ?? "free", why));
  }

  for (const name of [
    "shop-rome",
    "shop",
    "liqo-demo",
    "liqo-test-network-rome",
    "liqo-tenants",
    "kubeflow",
  ]) {
    it(`${name} may be a consumer's`, () => assert.equal(reservedNamespace(name, "liqo-system"), undefined));
  }
});

describe("the Pod Security Standard of remote namespaces", () => {
  const chosen: [annotation: string | undefined, level: PodSecurityLevel][] = [
    [undefined, "baseline"],
    ["", "baseline"],
    ["restricted", "restricted"],
    ["privileged", "privileged"],
    ["priviliged", "restricted"],
  ];
  for (const [annotation, level] of chosen) {
    it(`is ${level} where the tenant namespace says ${annotation ?? "nothing"}`, () => {
      const annotations: Record<string, string> = annotation === undefined ? {} : { [OURS]: annotation };
      assert.equal(podSecurityOf({ metadata: { annotations } }, "baseline"), level);
    });
  }

  const marks = (level: string) => ({ labels: { [ENFORCE]: level }, annotations: { [OURS]: level } });
  const patches: [title: string, metadata: object, patch: object | undefined][] = [
    ["is set where there is none", {}, marks("baseline")],
    ["is left where it is right", marks("baseline"), undefined],
    ["follows the setting where it was ours", marks("restricted"), marks("baseline")],
    [
      "comes back where it was removed",
      { labels: { other: "1" }, annotations: marks("baseline").annotations },
      marks("baseline"),
    ],
    ["is the administrator's where one was set first", { labels: { [ENFORCE]: "privileged" } }, undefined],
    [
      "is the administrator's where one was set later",
      { ...marks("baseline"), labels: { [ENFORCE]: "restricted" } },
      undefined,
    ],
  ];
  for (const [title, metadata, patch] of patches) {
    it(title, () => assert.deepEqual(podSecurityPatch({ metadata }, "baseline"), patch));
  }
});
