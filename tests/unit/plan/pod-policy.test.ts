import assert from "node:assert/strict";

import {
  DEFAULT_POD_POLICY,
  offloadedPodsSchema,
  podFault,
  type PodPolicy,
} from "../../../runtime/plan/pod-policy";

const containers = [{ name: "web", image: "web:1" }];
const withSource = (source: object) => ({
  containers,
  volumes: [
    { name: "cache", emptyDir: {} },
    { name: "token", projected: { sources: [source] } },
  ],
});

describe("what a consumer's pod may name of the provider", () => {
  const allowed: [what: string, spec: unknown, policy?: Partial<PodPolicy>][] = [
    ["nothing", { containers }],
    ["no spec at all", undefined],
    ["the default service account", { containers, serviceAccountName: "default" }],
    ["empty names", { containers, nodeName: "", serviceAccountName: "", priorityClassName: "" }],
    [
      "a service account that is allowed",
      { containers, serviceAccountName: "guest" },
      { serviceAccounts: ["guest"] },
    ],
    ["any service account", { containers, serviceAccountName: "guest" }, { serviceAccounts: ["*"] }],
    ["a priority class that is allowed", { priorityClassName: "low" }, { priorityClasses: ["low"] }],
    ["a runtime class that is allowed", { runtimeClassName: "kata" }, { runtimeClasses: ["gvisor", "kata"] }],
    ["where to be scheduled", { nodeSelector: { zone: "b" }, tolerations: [{ operator: "Exists" }] }],
    [
      "a token for the API server, as every pod has",
      withSource({ serviceAccountToken: { path: "token", expirationSeconds: 3607 } }),
    ],
    ["a secret in the place of a token", withSource({ secret: { name: "web-token" } })],
  ];
  for (const [what, spec, policy = {}] of allowed) {
    it(`is ${what}`, () => assert.equal(podFault(spec, { ...DEFAULT_POD_POLICY, ...policy }), undefined));
  }

  const refused: [spec: object, fault: RegExp, policy?: Partial<PodPolicy>][] = [
    [{ nodeName: "control-plane-1" }, /^spec\.pod\.nodeName is "control-plane-1".*leave it out$/],
    [{ serviceAccountName: "deployer" }, /^spec\.pod\.serviceAccountName is "deployer".*allowed: default\)/],
    [{ serviceAccount: "deployer" }, /^spec\.pod\.serviceAccount is "deployer"/],
    [
      { serviceAccountName: "default", serviceAccount: "deployer" },
      /^spec\.pod\.serviceAccount is "deployer"/,
    ],
    [
      { serviceAccountName: "deployer" },
      /allowed: default, guest\)/,
      { serviceAccounts: ["guest"], priorityClasses: ["*"] },
    ],
    [
      { priorityClassName: "system-node-critical" },
      /^spec\.pod\.priorityClassName is "system-node-critical".*allowed: none\)/,
    ],
    [
      { runtimeClassName: "nvidia" },
      /^spec\.pod\.runtimeClassName is "nvidia"/,
      { runtimeClasses: ["kata"] },
    ],
    [{ runtimeClassName: "liqo" }, /^spec\.pod\.runtimeClassName is "liqo"/],
    [
      withSource({ serviceAccountToken: { path: "token", audience: "vault" } }),
      /^spec\.pod\.volumes\[1\]\.projected\.sources\[0\]\.serviceAccountToken\.audience is "vault"/,
    ],
    [
      withSource({ podCertificate: { signerName: "milan.example/workloads" } }),
      /^spec\.pod\.volumes\[1\]\.projected\.sources\[0\]\.podCertificate/,
    ],
  ];
  for (const [spec, fault, policy = {}] of refused) {
    it(`is not ${JSON.stringify(spec)}`, () =>
      assert.match(podFault(spec, { ...DEFAULT_POD_POLICY, ...policy }) ?? "allowed", fault));
  }

  it("has defaults that need no setting", () =>
    assert.deepEqual(offloadedPodsSchema.parse({}), {
      podSecurity: "baseline",
      serviceAccounts: [],
      priorityClasses: [],
      runtimeClasses: [],
    }));

  it("is set by names that objects can have", () => {
    assert.equal(offloadedPodsSchema.safeParse({ serviceAccounts: ["*", "guest"] }).success, true);
    assert.equal(offloadedPodsSchema.safeParse({ serviceAccounts: ["a,b"] }).success, false);
    assert.equal(offloadedPodsSchema.safeParse({ podSecurity: "none" }).success, false);
  });
});
