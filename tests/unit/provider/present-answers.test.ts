/** What the reads of a peering take for an answer: of the present spec, never of one before. The whole is shown by tests/e2e/live-arguments.test.ts. */
import assert from "node:assert/strict";

import { resources } from "../../../provider";
import { podCidrsThatStay } from "../../../provider/cluster-networks";
import { otherEndpoint } from "../../../provider/gateway-endpoint";
import { judge } from "../../../provider/identity-credentials";
import { passedSince, rollout, startOf } from "../../../provider/network-connection";
import { Annotation, type Connection, type Network, type Pod, Tenant } from "../../../runtime/api";

describe("an answer of the present spec", () => {
  const network = (cidr: string, preinstalled = true): Network => ({
    apiVersion: "ipam.liqo.io/v1alpha1",
    kind: "Network",
    metadata: {
      name: cidr,
      namespace: "liqo",
      ...(preinstalled && { annotations: { [Annotation.preinstalled]: "true" } }),
    },
    spec: { cidr },
  });
  const there = [network("10.62.64.0/18"), network("10.62.0.0/18"), network("10.99.0.0/16", false)];
  for (const [what, installed, expected] of [
    ["all where nobody tells", undefined, ["10.62.0.0/18", "10.62.64.0/18", "10.99.0.0/16"]],
    ["those of the installation, and what others made", ["10.62.0.0/18"], ["10.62.0.0/18", "10.99.0.0/16"]],
  ] as const)
    it(`tells a peer of the pod networks ${what}`, () =>
      assert.deepEqual(podCidrsThatStay(there, installed), expected));

  const tenant = Tenant.parse({
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: { name: "rome", namespace: "liqo-tenant-rome" },
    spec: { clusterID: "rome" },
    status: {
      tenantNamespace: "liqo-tenant-rome",
      authParams: {
        apiServer: "https://192.0.2.7:6443",
        signedCRT: "Y3J0",
        proxyURL: "http://10.68.0.3:8118",
      },
    },
  });
  for (const [what, wanted, expected] of [
    ["any proxy where none is named", {}, undefined],
    ["the proxy that is wanted", { proxyUrl: "http://10.68.0.3:8118" }, undefined],
    [
      "no proxy that was to be taken out",
      { proxyUrl: "" },
      'status.authParams.proxyURL is "http://10.68.0.3:8118", and not "" yet',
    ],
    ["the address that is wanted", { apiServer: "https://192.0.2.7:6443" }, undefined],
    [
      "no address of before",
      { apiServer: "https://192.0.2.8:6443" },
      'status.authParams.apiServer is "https://192.0.2.7:6443", and not "https://192.0.2.8:6443" yet',
    ],
  ] as const)
    it(`has credentials with ${what}`, () => {
      const judged = judge(tenant, wanted);
      assert.equal(typeof judged === "string" ? judged : undefined, expected);
    });

  for (const [what, told, service, expected] of [
    [
      "agrees",
      { addresses: ["192.0.2.9"], port: 51840 },
      { port: 51840, addresses: ["192.0.2.9"] },
      undefined,
    ],
    [
      "has the port of before",
      { addresses: ["192.0.2.9"], port: 51840 },
      { port: 51871, addresses: ["192.0.2.9"] },
      "status.endpoint has port 51840, and its Service 51871",
    ],
    [
      "has the address of a load balancer of before",
      { addresses: ["192.0.2.9"], port: 51840 },
      { port: 51840, addresses: ["192.0.2.10"] },
      "status.endpoint has address 192.0.2.9, which its Service does not have",
    ],
    ["has a node's address", { addresses: ["192.0.2.1"], port: 31840 }, { port: 31840 }, undefined],
  ] as const)
    it(`knows a gateway's endpoint that ${what}`, () => assert.equal(otherEndpoint(told, service), expected));

  const deployment = (status: object) => ({
    apiVersion: "apps/v1" as const,
    kind: "Deployment" as const,
    metadata: { name: "gw-rome", namespace: "liqo-tenant-rome", generation: 3 },
    spec: { selector: { matchLabels: { gateway: "rome", active: "yes" } }, template: {} },
    status,
  });
  for (const [what, status, expected] of [
    [
      "of the spec before",
      { observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1 },
      "open",
    ],
    [
      "with a pod of before",
      { observedGeneration: 3, replicas: 2, updatedReplicas: 1, readyReplicas: 1 },
      "open",
    ],
    ["without a ready pod", { observedGeneration: 3, replicas: 1, updatedReplicas: 1 }, "open"],
    ["as it is to be", { observedGeneration: 3, replicas: 2, updatedReplicas: 2, readyReplicas: 1 }, "met"],
  ] as const)
    it(`judges a gateway ${what}`, () => assert.equal(rollout(deployment(status)).is, expected));

  it("counts packets from when the gateway's pod began", () => {
    const pod = (startTime: string, deletionTimestamp?: string): Pod => ({
      apiVersion: "v1",
      kind: "Pod",
      spec: { containers: [] },
      metadata: { name: "gw", ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
      status: { startTime },
    });
    const start = startOf([
      pod("2026-05-04T12:00:30Z"),
      pod("2026-05-04T12:00:20Z"),
      pod("2026-05-04T11:00:00Z", "2026-05-04T12:00:10Z"),
    ]);
    assert.equal(start, Date.parse("2026-05-04T12:00:20Z"));
    assert.equal(startOf([]), undefined);
  });

  it("takes a Connection of the gateway before for true only when it stands", () => {
    const connection = (value: string, timestamp?: string): Connection => ({
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Connection",
      metadata: { name: "gw-rome" },
      spec: { type: "Server", gatewayRef: {} },
      status: { value, ...(timestamp !== undefined && { latency: { value: "1ms", timestamp } }) },
    });
    const since = Date.parse("2026-05-04T12:00:20Z");
    let now = 0;
    const judgeAt = passedSince(since, () => now);
    const old = connection("Connected", "2026-05-04T12:00:00Z");
    assert.deepEqual(judgeAt(old), {
      is: "open",
      seen: "is Connected by what the gateway before said",
      againMs: 30_000,
    });
    assert.deepEqual(judgeAt(connection("Error")), { is: "open", seen: "is Error" });
    assert.equal(judgeAt(connection("Connected", "2026-05-04T12:00:20Z")).is, "met");
    assert.equal(judgeAt(connection("Connected")).is, "met");
    assert.equal(judgeAt(old).is, "open");
    now = 30_000;
    assert.equal(judgeAt(old).is, "met");
    assert.equal(judgeAt(undefined).is, "open");
  });

  it("is never of the other end of the same tunnel: a change of its server is refused in the preview", () => {
    const inputs = (kind: string, name = "rome") => ({
      kubeconfig: "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []",
      kind,
      namespace: "liqo-tenant-rome",
      name,
    });
    const faults = (before: object, after: object) =>
      resources.gatewayRead.check({ ...before }, { ...after }).failures.map(({ reason }) => reason);
    const [fault = "", ...others] = faults(inputs("GatewayServer"), inputs("GatewayClient"));
    assert.match(fault, /^is "GatewayClient", but the cluster has the GatewayServer of this peering/);
    assert.match(fault, /Put "server" back as it was; or take the network of the peering out, run once/);
    assert.deepEqual(others, []);
    assert.deepEqual(faults(inputs("GatewayServer"), inputs("GatewayServer")), []);
    assert.deepEqual(faults(inputs("GatewayServer"), inputs("GatewayClient", "turin")), []);
    assert.deepEqual(faults({}, inputs("GatewayClient")), []);
    const networks = (gateway?: string) => ({
      kubeconfig: inputs("").kubeconfig,
      ...(gateway !== undefined && { gateway }),
    });
    const turned = (before?: string) =>
      resources.clusterNetworks.check(networks(before), networks("GatewayServer")).failures.length;
    assert.deepEqual([turned("GatewayClient"), turned("GatewayServer"), turned()], [1, 0, 0]);
  });
});
