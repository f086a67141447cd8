import assert from "node:assert/strict";
import { apiServerCondition } from "../../../runtime/foreign-cluster/api-server-checker";
import {
  type AuthenticationFacts,
  authenticationModule,
} from "../../../runtime/foreign-cluster/authentication-module";
import { type NetworkingFacts, networkingModule } from "../../../runtime/foreign-cluster/networking-module";
import { offloadingModule, type VirtualNodeFacts } from "../../../runtime/foreign-cluster/offloading-module";

/** `type=status/reason` of each desired condition. */
const brief = (desiredConditions: readonly { type: string; status: string; reason: string }[]) =>
  desiredConditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`);

describe("the networking module of a peer", () => {
  const gateway = (readyReplicas: number, unavailableReplicas: number) => ({
    name: "milan",
    deployment: { readyReplicas, unavailableReplicas },
  });
  const rows: [string, NetworkingFacts, string[] | undefined][] = [
    ["is off when nothing is there", { configuration: false }, undefined],
    [
      "names what is missing beside a configuration",
      { configuration: true },
      [
        "NetworkConfigurationStatus=Ready/NetworkConfigurationPresence",
        "NetworkGatewayPresence=NotReady/GatewayMissing",
        "NetworkConnectionStatus=NotReady/ConnectionMissing",
      ],
    ],
    [
      "is ready with a ready client and a connection",
      { configuration: true, client: gateway(2, 0), connection: "Connected" },
      [
        "NetworkConfigurationStatus=Ready/NetworkConfigurationPresence",
        "NetworkGatewayPresence=Ready/GatewayPresence",
        "NetworkGatewayClientStatus=Ready/GatewaysReady",
        "NetworkConnectionStatus=Established/ConnectionEstablished",
      ],
    ],
    [
      "tells a server without a ready replica from one with some",
      { configuration: false, server: gateway(0, 1), client: gateway(1, 1), connection: "Connecting" },
      [
        "NetworkConfigurationStatus=NotReady/NetworkConfigurationMissing",
        "NetworkGatewayPresence=Ready/GatewayPresence",
        "NetworkGatewayServerStatus=NotReady/GatewaysNotReady",
        "NetworkGatewayClientStatus=SomeNotReady/GatewaysSomeNotReady",
        "NetworkConnectionStatus=Pending/ConnectionPending",
      ],
    ],
    [
      "reports a gateway whose Deployment is not there, and any other connection value as an error",
      { configuration: true, server: { name: "milan" }, connection: "" },
      [
        "NetworkConfigurationStatus=Ready/NetworkConfigurationPresence",
        "NetworkGatewayPresence=Ready/GatewayPresence",
        "NetworkGatewayServerStatus=NotReady/GatewaysNotReady",
        "NetworkConnectionStatus=Error/ConnectionError",
      ],
    ],
  ];
  for (const [title, facts, expected] of rows) {
    it(title, () => {
      const { enabled, desiredConditions } = networkingModule(facts);
      assert.equal(enabled, expected !== undefined);
      assert.deepEqual(brief(desiredConditions), expected ?? []);
    });
  }

  it("names the missing Deployment in the message", () => {
    const { desiredConditions } = networkingModule({ configuration: true, server: { name: "edge" } });
    assert.match(
      desiredConditions.find(({ type }) => type === "NetworkGatewayServerStatus")?.message ?? "",
      /gw-edge is not there/,
    );
  });
});

describe("the authentication module of a peer", () => {
  const identity = { namespace: "liqo-tenant-milan", remoteNamespace: "liqo-tenant-rome", hasSecret: true };
  const tenant = {
    authzPolicy: "KeysExchange",
    hasAuthParams: true,
    tenantNamespace: "liqo-tenant-rome",
  } as const;
  const rows: [string, AuthenticationFacts, Partial<ReturnType<typeof authenticationModule>>, string[]][] = [
    ["is off when nothing is there", {}, { enabled: false, consumer: false, provider: false }, []],
    [
      "has a consumer where there is a ready Tenant",
      { tenant },
      { enabled: true, consumer: true, provider: false, localNamespace: "liqo-tenant-rome" },
      ["AuthTenantStatus=Ready/TenantReady"],
    ],
    [
      "waits for the credentials of a Tenant that exchanged keys",
      { tenant: { ...tenant, hasAuthParams: false } },
      { enabled: true, consumer: true },
      ["AuthTenantStatus=NotReady/TenantNotReady"],
    ],
    [
      "needs no credentials of a Tenant without handshake, but its namespace",
      { tenant: { authzPolicy: "TolerateNoHandshake", hasAuthParams: false } },
      { enabled: true, consumer: true },
      ["AuthTenantStatus=NotReady/TenantNotReady"],
    ],
    [
      "is ready for a Tenant without handshake in its namespace",
      { tenant: { authzPolicy: "TolerateNoHandshake", hasAuthParams: false, tenantNamespace: "guests" } },
      { consumer: true, localNamespace: "guests" },
      ["AuthTenantStatus=Ready/TenantReady"],
    ],
    [
      "has a provider where there is an identity, with its addresses and namespaces",
      { identity: { ...identity, apiServer: "https://10.0.0.2:6443", proxyUrl: "http://10.0.0.9:8118" } },
      {
        consumer: false,
        provider: true,
        apiServerUrl: "https://10.0.0.2:6443",
        foreignProxyUrl: "http://10.0.0.9:8118",
        localNamespace: "liqo-tenant-milan",
        remoteNamespace: "liqo-tenant-rome",
      },
      ["AuthIdentityControlPlaneStatus=Ready/IdentityReady"],
    ],
    [
      "waits for an identity's kubeconfig, whatever the Secret says",
      { identity: { ...identity, hasSecret: false }, secret: { namespace: "x", server: "https://other" } },
      { provider: true, apiServerUrl: undefined, localNamespace: "liqo-tenant-milan" },
      ["AuthIdentityControlPlaneStatus=NotReady/IdentityNotReady"],
    ],
    [
      "has a provider where a Secret was made by hand, without a condition",
      { secret: { namespace: "to-milan", remoteNamespace: "guests", server: "https://10.0.0.2:6443" } },
      {
        enabled: true,
        provider: true,
        apiServerUrl: "https://10.0.0.2:6443",
        localNamespace: "to-milan",
        remoteNamespace: "guests",
      },
      [],
    ],
    [
      "has both in a peering both ways",
      { tenant, identity },
      { consumer: true, provider: true },
      ["AuthTenantStatus=Ready/TenantReady", "AuthIdentityControlPlaneStatus=Ready/IdentityReady"],
    ],
  ];
  for (const [title, facts, expected, conditions] of rows) {
    it(title, () => {
      const module = authenticationModule(facts);
      for (const [key, value] of Object.entries(expected)) {
        assert.deepEqual(module[key as keyof typeof module], value, key);
      }
      assert.deepEqual(brief(module.desiredConditions), conditions);
    });
  }
});

describe("the offloading module of a peer", () => {
  const node = (hosted: boolean, nodeReady: boolean, createNode = true): VirtualNodeFacts => ({
    name: "milan",
    hosted,
    createNode,
    nodeReady,
  });
  const rows: [string, VirtualNodeFacts[], string[]][] = [
    ["no virtual node", [], []],
    [
      "all ready",
      [node(true, true), node(true, true)],
      ["OffloadingVirtualNodeStatus=Ready/VirtualNodesReady", "OffloadingNodeStatus=Ready/NodesReady"],
    ],
    [
      "some ready",
      [node(true, false), node(false, true)],
      [
        "OffloadingVirtualNodeStatus=SomeNotReady/VirtualNodesSomeNotReady",
        "OffloadingNodeStatus=SomeNotReady/NodesSomeNotReady",
      ],
    ],
    [
      "none ready",
      [node(false, false)],
      [
        "OffloadingVirtualNodeStatus=NotReady/VirtualNodesNotReady",
        "OffloadingNodeStatus=NotReady/NodesNotReady",
      ],
    ],
    [
      "a node that is not to be made is not waited for",
      [node(true, false, false), node(true, true)],
      ["OffloadingVirtualNodeStatus=Ready/VirtualNodesReady", "OffloadingNodeStatus=Ready/NodesReady"],
    ],
  ];
  for (const [title, nodes, expected] of rows) {
    it(title, () => {
      const { enabled, desiredConditions } = offloadingModule(nodes);
      assert.equal(enabled, nodes.length > 0);
      assert.deepEqual(brief(desiredConditions), expected);
    });
  }
});

describe("the condition of a peer's API server", () => {
  it("goes away when there is no API server to check", () => {
    assert.equal(apiServerCondition(false, "ready"), undefined);
  });
  it("stays as it was until the first result", () => {
    assert.equal(apiServerCondition(true, "unknown"), "unchanged");
  });
  it("is Established when it answers, and when checks are off", () => {
    for (const health of ["ready", "disabled"] as const) {
      const desiredCondition = apiServerCondition(true, health);
      assert.ok(typeof desiredCondition === "object");
      assert.deepEqual([desiredCondition.status, desiredCondition.reason], ["Established", "APIServerReady"]);
    }
  });
  it("is Error with the cause when it does not", () => {
    const desiredCondition = apiServerCondition(true, { error: "no answer in 5 s" });
    assert.ok(typeof desiredCondition === "object");
    assert.deepEqual([desiredCondition.status, desiredCondition.reason], ["Error", "APIServerNotReady"]);
    assert.match(desiredCondition.message, /no answer in 5 s/);
  });
});
