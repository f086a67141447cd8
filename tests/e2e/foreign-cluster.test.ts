import assert from "node:assert/strict";
import {
  Configuration,
  Connection,
  Deployment,
  type Desired,
  ForeignCluster,
  GatewayClient,
  GatewayServer,
  Identity,
  type Kind,
  type KubeObject,
  Label,
  Node,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const fast = ["--foreign-cluster-ping-interval=500ms", "--foreign-cluster-ping-timeout=400ms"];

describe("the ForeignCluster of a peer", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  let proxy: TcpProxy;

  after(async () => {
    await Promise.all([rome?.end(), milan?.end()]);
    await proxy?.close();
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    const port = Number(new URL(controlPlane("milan").url).port);
    proxy = await TcpProxy.start({ host: "127.0.0.1", port });
    [rome, milan] = await installPair(controlPlane, {
      rome: { networking: true },
      milan: { address: `127.0.0.1:${proxy.port}` },
    });
    await Promise.all([rome.start(fast), milan.start(fast)]);
    steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.namespaces();
  });

  const at = async (cluster: ManagedCluster, peer: string) =>
    (await cluster.admin.get(ForeignCluster, { name: peer }))?.status;
  type Module = "networking" | "authentication" | "offloading";
  const brief = async (cluster: ManagedCluster, peer: string, module: Module) => {
    const found = (await at(cluster, peer))?.modules?.[module];
    return Object.fromEntries(
      (found?.conditions ?? []).map(({ type, status, reason }) => [type, `${status}/${reason}`]),
    );
  };
  /** Waits until a module says just this. */
  const says = async (module: Module, expected: Record<string, string>, cluster = rome, peer = "milan") => {
    let last: Record<string, string> = {};
    try {
      await until(
        `${module} of ${peer}`,
        async () => {
          last = await brief(cluster, peer, module);
          return (
            JSON.stringify(Object.entries(last).sort()) === JSON.stringify(Object.entries(expected).sort())
          );
        },
        { timeoutMs: 10_000 },
      );
    } catch {
      assert.deepEqual(last, expected);
    }
  };
  const roleOf = (cluster: ManagedCluster, peer: string, role: string) =>
    until(`role ${role} of ${peer}`, async () => (await at(cluster, peer))?.role === role);

  it("is made when the first object speaks of the peer, and tells how it is reached", async () => {
    await steps.nonceSecret();
    await steps.tenant();
    await roleOf(milan, "rome", "Consumer");
    await says("authentication", { AuthTenantStatus: "Ready/TenantReady" }, milan, "rome");
    await steps.identity();
    await roleOf(rome, "milan", "Provider");
    await says("authentication", { AuthIdentityControlPlaneStatus: "Ready/IdentityReady" });
    const made = await rome.admin.get(ForeignCluster, { name: "milan" });
    assert.equal(made?.metadata.labels?.[Label.remoteClusterID], "milan");
    assert.equal(made.spec.clusterID, "milan");
    const status = await at(rome, "milan");
    assert.equal(status?.apiServerUrl, `https://127.0.0.1:${proxy.port}`);
    assert.deepEqual(status.tenantNamespace, { local: "to-milan", remote: "guests-from-rome" });
    assert.equal(status.observedGeneration, 1);
    assert.deepEqual((await at(milan, "rome"))?.tenantNamespace, { local: "guests-from-rome" });
    assert.equal((await at(milan, "rome"))?.conditions, undefined);
  });

  it("follows the peer's API server, and is held while that is checked", async () => {
    const api = async () =>
      (await at(rome, "milan"))?.conditions
        ?.map(({ type, status, reason }) => `${type}=${status}/${reason}`)
        .join();
    await until("established", async () => (await api()) === "APIServerStatus=Established/APIServerReady");
    const held = await rome.admin.get(ForeignCluster, { name: "milan" });
    assert.deepEqual(held?.metadata.finalizers, ["api-server-checker.liqo.io/finalizer"]);
    proxy.refuse();
    proxy.cut();
    await until("error", async () => (await api()) === "APIServerStatus=Error/APIServerNotReady", {
      timeoutMs: 5_000,
    });
    proxy.allow();
    await until(
      "established again",
      async () => (await api()) === "APIServerStatus=Established/APIServerReady",
    );
    proxy.freeze();
    await until("error", async () => (await api()) === "APIServerStatus=Error/APIServerNotReady", {
      timeoutMs: 5_000,
    });
    proxy.thaw();
    proxy.cut();
    await until(
      "established again",
      async () => (await api()) === "APIServerStatus=Established/APIServerReady",
    );
  });

  it("says how far the network is", async () => {
    const labelled = (name: string) => ({
      name,
      namespace: "to-milan",
      labels: { [Label.remoteClusterID]: "milan" },
    });
    const configuration: Desired<Configuration> = {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Configuration",
      metadata: labelled("milan"),
      spec: { remote: { cidr: { pod: ["10.20.0.0/16"], external: ["10.71.0.0/16"] } } },
    };
    await rome.apply(configuration);
    const missing = {
      NetworkConfigurationStatus: "Ready/NetworkConfigurationPresence",
      NetworkGatewayPresence: "NotReady/GatewayMissing",
      NetworkConnectionStatus: "NotReady/ConnectionMissing",
    };
    await says("networking", missing);

    const client: Desired<GatewayClient> = {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "GatewayClient",
      metadata: labelled("milan"),
      spec: {
        mtu: 1340,
        clientTemplateRef: { kind: "WgGatewayClientTemplate", name: "wireguard-client", namespace: "liqo" },
        endpoint: { addresses: ["10.0.0.2"], port: 51840, protocol: "UDP" },
      },
    };
    await rome.apply(client);
    const withClient = { ...missing, NetworkGatewayPresence: "Ready/GatewayPresence" };
    await says("networking", { ...withClient, NetworkGatewayClientStatus: "NotReady/GatewaysNotReady" });

    const deployment: Desired<Deployment> = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {
        name: "gw-milan",
        namespace: "to-milan",
        labels: { [Label.networkingComponent]: "gateway" },
      },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "gw" } },
        template: {
          metadata: { labels: { app: "gw" } },
          spec: { containers: [{ name: "gw", image: "none" }] },
        },
      },
    };
    await rome.apply(deployment);
    await says("networking", { ...withClient, NetworkGatewayClientStatus: "NotReady/GatewaysNotReady" });

    const connection: Desired<Connection> = {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Connection",
      metadata: labelled("gw-milan"),
      spec: { type: "Client", gatewayRef: { name: "milan", namespace: "to-milan" } },
    };
    await rome.apply(connection);
    for (const [value, expected] of [
      ["Connecting", "Pending/ConnectionPending"],
      ["Connected", "Established/ConnectionEstablished"],
      ["Error", "Error/ConnectionError"],
    ] as const) {
      await rome.admin.patch(
        Connection,
        { name: "gw-milan", namespace: "to-milan" },
        { status: { value } },
        { type: "merge", subresource: "status" },
      );
      await says("networking", {
        ...withClient,
        NetworkGatewayClientStatus: "NotReady/GatewaysNotReady",
        NetworkConnectionStatus: expected,
      });
    }
    await remove(Connection, "gw-milan");
    await remove(GatewayClient, "milan");
    await remove(Configuration, "milan");
    await remove(Deployment, "gw-milan");
    await says("networking", {});
    assert.equal((await at(rome, "milan"))?.modules?.networking.enabled, false);
    assert.equal((await rome.admin.list(GatewayServer)).length, 0);
  });

  it("says how far the virtual nodes are", async () => {
    await steps.slice();
    await until("virtual node", () => rome.admin.get(VirtualNode, { name: "pool", namespace: "to-milan" }));
    await says("offloading", {
      OffloadingVirtualNodeStatus: "Ready/VirtualNodesReady",
      OffloadingNodeStatus: "NotReady/NodesNotReady",
    });
    const node: Desired<Node> = {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: "pool",
        labels: { [Label.nodeType]: "virtual-node", [Label.remoteClusterID]: "milan" },
      },
    };
    await rome.apply(node);
    await rome.admin.patch(
      Node,
      { name: "pool" },
      { status: { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }] } },
      { type: "strategic", subresource: "status" },
    );
    await says("offloading", {
      OffloadingVirtualNodeStatus: "Ready/VirtualNodesReady",
      OffloadingNodeStatus: "Ready/NodesReady",
    });
    await steps.slice("second");
    await until("virtual node", () => rome.admin.get(VirtualNode, { name: "second", namespace: "to-milan" }));
    await says("offloading", {
      OffloadingVirtualNodeStatus: "Ready/VirtualNodesReady",
      OffloadingNodeStatus: "SomeNotReady/NodesSomeNotReady",
    });
    await rome.admin.delete(Node, { name: "pool" });
  });

  it("has the role of both directions, and none when all is gone", async () => {
    const guest: Desired<Tenant> = {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Tenant",
      metadata: { name: "milan", namespace: "to-milan", labels: { [Label.remoteClusterID]: "milan" } },
      spec: { clusterID: "milan", authzPolicy: "TolerateNoHandshake" },
    };
    await rome.apply(guest);
    await roleOf(rome, "milan", "ConsumerAndProvider");
    await says("authentication", {
      AuthTenantStatus: "Ready/TenantReady",
      AuthIdentityControlPlaneStatus: "Ready/IdentityReady",
    });
    await rome.admin.delete(Tenant, { name: "milan", namespace: "to-milan" });
    await roleOf(rome, "milan", "Provider");
    await steps.remove();
    await Promise.all([roleOf(rome, "milan", "Unknown"), roleOf(milan, "rome", "Unknown")]);
    assert.equal((await rome.admin.list(Identity)).length, 0);
    const left = await until("not held", async () => {
      const found = await rome.admin.get(ForeignCluster, { name: "milan" });
      return found !== undefined && found.metadata.finalizers === undefined && found;
    });
    assert.deepEqual(left.status, {
      observedGeneration: 1,
      role: "Unknown",
      modules: {
        networking: { enabled: false },
        authentication: { enabled: false },
        offloading: { enabled: false },
      },
    });
  });

  it("knows a provider by a Secret made by hand", async () => {
    await steps.handmadeSecret(await controlPlane("milan").kubeconfigFor({ name: "guest" }));
    await roleOf(rome, "milan", "Provider");
    const status = await at(rome, "milan");
    assert.equal(status?.apiServerUrl, controlPlane("milan").url);
    assert.deepEqual(status.modules?.authentication, { enabled: true });
    await rome.admin.delete(Secret, { name: "cplane-secret", namespace: "to-milan" });
    await roleOf(rome, "milan", "Unknown");
  });

  async function remove<T extends KubeObject>(kind: Kind<T>, name: string): Promise<void> {
    await rome.admin.delete(kind, { name, namespace: "to-milan" });
  }
});
