import assert from "node:assert/strict";

import { GatewayServer, Quota, ShadowPod, Tenant, VkOptionsTemplate } from "../../../runtime/api";

const tenant = (fields: object) => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "Tenant",
  metadata: { name: "rome", namespace: "liqo-tenant-rome" },
  ...fields,
});

const cases: [what: string, parse: () => unknown, message: string][] = [
  [
    "a pattern",
    () => Tenant.parse(tenant({ spec: { clusterID: "Rome" } })),
    'Tenant "liqo-tenant-rome/rome": spec.clusterID: "Rome" does not match ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$; use lower-case letters, digits and dashes',
  ],
  [
    "an enum",
    () => Tenant.parse(tenant({ spec: { authzPolicy: "Trust" } })),
    'Tenant "liqo-tenant-rome/rome": spec.authzPolicy: "Trust" is not one of "KeysExchange", "TolerateNoHandshake"; take one of these',
  ],
  [
    "one line a fault",
    () => Tenant.parse(tenant({ spec: { proxyURL: 8118, csr: "?" } })),
    [
      'Tenant "liqo-tenant-rome/rome": spec.csr: "?" is not base64; encode the bytes with padding and without line breaks',
      'Tenant "liqo-tenant-rome/rome": spec.proxyURL: 8118 is not a string; put it in quotes',
    ].join("\n"),
  ],
  [
    "a missing field",
    () =>
      Quota.parse({
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "Quota",
        metadata: { name: "q" },
        spec: { resources: {} },
      }),
    'Quota "q": spec.user: is required; give a string',
  ],
  [
    "a missing field of an embedded type",
    () =>
      ShadowPod.parse({
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "ShadowPod",
        metadata: { generateName: "web-", name: "web-0" },
        spec: { pod: { containers: [{ image: "nginx" }] } },
      }),
    'ShadowPod "web-0": spec.pod.containers[0].name: is required',
  ],
  [
    "a rule on several fields",
    () =>
      GatewayServer.parse({
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "GatewayServer",
        metadata: { name: "rome" },
        spec: { endpoint: { port: 1, ports: [2] } },
      }),
    'GatewayServer "rome": spec.endpoint: port and ports exclude each other; keep one of them',
  ],
  [
    "a key that is no identifier",
    () =>
      VkOptionsTemplate.parse({
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "VkOptionsTemplate",
        metadata: { name: "vk" },
        spec: {
          createNode: true,
          disableNetworkCheck: false,
          metricsEnabled: false,
          containerImage: "image",
          extraLabels: { "a.example/b": true },
        },
      }),
    'VkOptionsTemplate "vk": spec.extraLabels["a.example/b"]: true is not a string; put it in quotes',
  ],
  [
    "another kind",
    () =>
      Tenant.parse({
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "Identity",
        metadata: { name: "x" },
      }),
    'Tenant "x": kind: is "Identity"; this place takes a Tenant',
  ],
  [
    "another version",
    () => Tenant.parse({ ...tenant({}), apiVersion: "authentication.liqo.io/v1alpha1" }),
    'Tenant "liqo-tenant-rome/rome": apiVersion: is "authentication.liqo.io/v1alpha1"; write authentication.liqo.io/v1beta1',
  ],
  ["no object", () => Tenant.parse("rome"), 'Tenant: is "rome", not an object; give a whole Tenant'],
  [
    "a spec by itself",
    () => Tenant.parseSpec({ clusterID: "Ro me" }),
    'Tenant: spec.clusterID: "Ro me" does not match ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$; use lower-case letters, digits and dashes',
  ],
  [
    "a field of a spec that is misspelt",
    () => Tenant.parseSpec({ clusterId: "rome", extra: "x", authPolicy: "KeysExchange" }),
    [
      "Tenant: spec.clusterId: is no field; did you mean clusterID?",
      "Tenant: spec.extra: is no field; the fields here are clusterID, authzPolicy, publicKey, csr, signature, proxyURL, tenantCondition",
      "Tenant: spec.authPolicy: is no field; did you mean authzPolicy?",
    ].join("\n"),
  ],
  [
    "a field within a pod that is misspelt",
    () => ShadowPod.parseSpec({ pod: { containers: [{ name: "web", imagePullpolicy: "Never" }] } }),
    "ShadowPod: spec.pod.containers[0].imagePullpolicy: is no field; did you mean imagePullPolicy?",
  ],
  ["a spec that is none", () => Tenant.parseSpec(undefined), "Tenant: spec: is required; give an object"],
];

describe("the errors of parse", () => {
  for (const [what, parse, message] of cases) {
    it(`say it in one sentence: ${what}`, () => {
      assert.throws(parse, { name: "InvalidObjectError", message });
    });
  }

  it("leave fields of a later version to the API server when a whole object is read", () => {
    assert.deepEqual(Tenant.parse(tenant({ spec: { clusterID: "rome", later: 1 } })).spec, {
      clusterID: "rome",
      authzPolicy: "KeysExchange",
      tenantCondition: "Active",
    });
  });

  it("never print a secret whole", () => {
    const spec = { csr: "s".repeat(500) + "!" };
    assert.throws(
      () => Tenant.parse(tenant({ spec })),
      (error: Error) => error.message.length < 250 && !error.message.includes("s".repeat(100)),
    );
  });
});
