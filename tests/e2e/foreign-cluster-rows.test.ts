import assert from "node:assert/strict";

import {
  Configuration,
  Deployment,
  type Desired,
  ForeignCluster,
  GatewayClient,
  GatewayServer,
  type KubeObject,
  Label,
  Namespace,
  Node,
  VirtualNode,
} from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import { virtualKubeletPerNodeManifests } from "../../runtime/plan/roles";
import { ManagedCluster } from "../support/managed-cluster";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const ofMilan = { [Label.remoteClusterID]: "milan" };

/**
 * The rows of control plane reference 12.2 that hang on what runs: Kubernetes' own controllers are not here, so that the test says what of the
 * Deployments is ready.
 */
describe("the ForeignCluster of a peer, by what is ready", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;

  after(() => rome?.end());
  const controlPlane = withControlPlanes({ rome: {} });
  before(async () => {
    rome = await ManagedCluster.install({
      controlPlane: controlPlane("rome"),
      clusterId: "rome",
      liqoNamespace: "liqo",
      networking: true,
    });
    // No check of the peer's API server: it counts as one that answers.
    await rome.start(["--foreign-cluster-ping-interval=0"]);
    const labels = { ...ofMilan, [Label.tenantNamespace]: "true" };
    await make({ apiVersion: "v1", kind: "Namespace", metadata: { name: "to-milan", labels } });
  });

  const make = (object: Desired<KubeObject> & Record<string, unknown>) => rome.apply(object);
  const status = async () => (await rome.admin.get(ForeignCluster, { name: "milan" }))?.status;
  type Module = "networking" | "authentication" | "offloading";
  async function says(module: Module, type: string, expected: string | undefined): Promise<void> {
    const found = async () => {
      const condition = (await status())?.modules?.[module].conditions?.find((each) => each.type === type);
      return condition === undefined ? undefined : `${condition.status}/${condition.reason ?? ""}`;
    };
    await until(`${type} is ${expected ?? "not there"}`, async () => (await found()) === expected).catch(
      async (error: unknown) => {
        assert.equal(await found(), expected);
        throw error;
      },
    );
  }

  async function deployment(name: string, namespace: string, labels: Record<string, string>): Promise<void> {
    await make({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace, labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name: "a", image: "runtime:1" }] },
        },
      },
    });
  }
  const setReady = (name: string, namespace: string, readyReplicas: number, unavailableReplicas: number) =>
    rome.admin.patch(
      Deployment,
      { name, namespace },
      {
        status: {
          replicas: readyReplicas + unavailableReplicas,
          readyReplicas,
          availableReplicas: readyReplicas,
          unavailableReplicas,
        },
      },
      { type: "merge", subresource: "status" },
    );

  for (const [kind, type, name, spec] of [
    [
      "GatewayServer",
      "NetworkGatewayServerStatus",
      "in",
      { endpoint: { port: 51_840, serviceType: "NodePort" } },
    ],
    [
      "GatewayClient",
      "NetworkGatewayClientStatus",
      "out",
      { endpoint: { addresses: ["10.0.0.2"], port: 51_840, protocol: "UDP" } },
    ],
  ] as const) {
    it(`${kind}: as its Deployment is ready`, async () => {
      await make({
        apiVersion: "networking.liqo.io/v1beta1",
        kind,
        metadata: { name, namespace: "to-milan", labels: ofMilan },
        spec: { mtu: 1340, ...spec },
      });
      await says("networking", type, "NotReady/GatewaysNotReady");
      await says("networking", "NetworkConfigurationStatus", "NotReady/NetworkConfigurationMissing");
      await says("networking", "NetworkGatewayPresence", "Ready/GatewayPresence");
      await says("networking", "NetworkConnectionStatus", "NotReady/ConnectionMissing");
      await deployment(`gw-${name}`, "to-milan", { [Label.networkingComponent]: "gateway" });
      for (const [ready, unavailable, expected] of [
        [0, 2, "NotReady/GatewaysNotReady"],
        [1, 1, "SomeNotReady/GatewaysSomeNotReady"],
        [2, 0, "Ready/GatewaysReady"],
        [1, 0, "Ready/GatewaysReady"],
        [0, 1, "NotReady/GatewaysNotReady"],
      ] as const) {
        await setReady(`gw-${name}`, "to-milan", ready, unavailable);
        await says("networking", type, expected);
      }
      const gateway = kind === "GatewayServer" ? GatewayServer : GatewayClient;
      await rome.admin.delete<GatewayServer | GatewayClient>(gateway, { name, namespace: "to-milan" });
      await says("networking", type, undefined);
    });
  }

  it("virtual nodes: as their virtual kubelet is, and their nodes are", async () => {
    for (const name of ["pool", "spare"]) {
      await make({
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "VirtualNode",
        metadata: { name, namespace: "to-milan", labels: ofMilan },
        spec: { clusterID: "milan", createNode: true },
      });
      await make({
        apiVersion: "v1",
        kind: "Node",
        metadata: { name, labels: { ...ofMilan, [Label.nodeType]: "virtual-node" } },
      });
    }
    const node = (name: string, ready: "True" | "False") =>
      rome.admin.patch(
        Node,
        { name },
        { status: { conditions: [{ type: "Ready", status: ready }] } },
        { type: "strategic", subresource: "status" },
      );
    await deployment("liqo-virtual-kubelet", "liqo", {});
    for (const [ready, expected] of [
      [0, "NotReady/VirtualNodesNotReady"],
      [1, "Ready/VirtualNodesReady"],
    ] as const) {
      await setReady("liqo-virtual-kubelet", "liqo", ready, 2 - ready);
      await says("offloading", "OffloadingVirtualNodeStatus", expected);
    }
    for (const [pool, spare, expected] of [
      ["False", "False", "NotReady/NodesNotReady"],
      ["True", "False", "SomeNotReady/NodesSomeNotReady"],
      ["True", "True", "Ready/NodesReady"],
    ] as const) {
      await Promise.all([node("pool", pool), node("spare", spare)]);
      await says("offloading", "OffloadingNodeStatus", expected);
    }
    // One that makes no node is not waited for.
    await rome.admin.patch(
      VirtualNode,
      { name: "spare", namespace: "to-milan" },
      { spec: { createNode: false } },
      { type: "merge" },
    );
    await node("spare", "False");
    await says("offloading", "OffloadingNodeStatus", "Ready/NodesReady");
    assert.equal((await status())?.role, "Provider");
  });

  it("virtual nodes with a virtual kubelet each: as those are, of which one may lag", async () => {
    for (const manifest of virtualKubeletPerNodeManifests("liqo")) await make(manifest);
    await make({
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "VkOptionsTemplate",
      metadata: { name: "virtual-kubelet-default", namespace: "liqo" },
      spec: {
        createNode: true,
        disableNetworkCheck: false,
        containerImage: "runtime:1",
        metricsEnabled: false,
        replicas: 2,
      },
    });
    // As an installation has it then.
    await rome.admin.patch(
      Deployment,
      { name: "liqo-virtual-kubelet", namespace: "liqo" },
      { spec: { replicas: 0 } },
      { type: "merge" },
    );
    await rome.stop();
    await rome.start(["--foreign-cluster-ping-interval=0", "--virtual-kubelet-per-node"]);
    for (const name of ["vk-pool", "vk-spare"])
      await until(`Deployment ${name}`, () => rome.admin.get(Deployment, { name, namespace: "to-milan" }));
    for (const [pool, spare, expected] of [
      [0, 0, "NotReady/VirtualNodesNotReady"],
      [2, 0, "SomeNotReady/VirtualNodesSomeNotReady"],
      [2, 1, "Ready/VirtualNodesReady"],
      [0, 2, "SomeNotReady/VirtualNodesSomeNotReady"],
    ] as const) {
      await setReady("vk-pool", "to-milan", pool, 2 - pool);
      await setReady("vk-spare", "to-milan", spare, 2 - spare);
      await says("offloading", "OffloadingVirtualNodeStatus", expected);
    }
    // One whose virtual kubelet somebody deletes is not ready before the new one is.
    await rome.admin.delete(Deployment, { name: "vk-spare", namespace: "to-milan" });
    await says("offloading", "OffloadingVirtualNodeStatus", "NotReady/VirtualNodesNotReady");
    await until("it is made again", () =>
      rome.admin.get(Deployment, { name: "vk-spare", namespace: "to-milan" }),
    );
    await setReady("vk-spare", "to-milan", 2, 0);
    await says("offloading", "OffloadingVirtualNodeStatus", "SomeNotReady/VirtualNodesSomeNotReady");
  });

  it("an API server that is not checked counts as one that answers, and holds nothing", async () => {
    const steps = new PeeringSteps(rome, rome, sides, "pool");
    await steps.handmadeSecret(await controlPlane("rome").kubeconfigFor({ name: "guest" }));
    await until("established", async () => {
      const [condition] = (await status())?.conditions ?? [];
      return condition?.status === "Established" && condition.reason === "APIServerReady";
    });
    assert.equal((await rome.admin.get(ForeignCluster, { name: "milan" }))?.metadata.finalizers, undefined);
  });

  it("modules that are switched off are cleared", async () => {
    await make({
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Configuration",
      metadata: { name: "milan", namespace: "to-milan", labels: ofMilan },
      spec: { remote: { cidr: { pod: ["10.20.0.0/16"], external: ["10.71.0.0/16"] } } },
    });
    await says("networking", "NetworkConfigurationStatus", "Ready/NetworkConfigurationPresence");
    assert.equal((await status())?.modules?.offloading.enabled, true);
    await rome.stop();
    await rome.start([
      "--foreign-cluster-ping-interval=0",
      "--networking-enabled=false",
      "--authentication-enabled=false",
      "--offloading-enabled=false",
    ]);
    const off = { enabled: false };
    await until("all modules are off", async () => {
      const modules = (await status())?.modules;
      return (
        JSON.stringify([modules?.networking, modules?.authentication, modules?.offloading]) ===
        JSON.stringify([off, off, off])
      );
    });
    await rome.admin.delete(Configuration, { name: "milan", namespace: "to-milan" });
    await rome.admin.delete(Namespace, { name: "to-milan" });
  });
});
