import assert from "node:assert/strict";

import {
  ClusterRole,
  ClusterRoleBinding,
  Deployment,
  type Desired,
  type KubeObject,
  Namespace,
  NamespaceOffloading,
  RoleBinding,
  ServiceAccount,
  VirtualNode,
  VkOptionsTemplate,
} from "../../runtime/api";
import { readFlags, splitCommandLine } from "../../runtime/component/command-line";
import { virtualKubeletPerNodeManifests } from "../../runtime/plan/roles";
import { virtualKubelet } from "../../runtime/virtual-kubelet/component";
import { eventAbout } from "../support/events";
import { ManagedCluster } from "../support/managed-cluster";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const binding = (name: string) => ({ name: `liqo-node-${name}` });
const inTenant = (name: string) => ({ name, namespace: "to-milan" });

describe("a process for each virtual node", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  after(() => rome?.end());
  const controlPlane = withControlPlanes({ rome: { controllerManager: true } });
  before(async () => {
    rome = await ManagedCluster.install({
      controlPlane: controlPlane("rome"),
      clusterId: "rome",
      liqoNamespace: "liqo",
    });
    for (const manifest of virtualKubeletPerNodeManifests("liqo")) await rome.apply(manifest);
    await rome.admin.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "to-milan" },
    });
    await rome.start(["--virtual-kubelet-per-node", "--podcidr=10.20.0.0/16"]);
  });

  const virtualNode = (name: string): Desired<VirtualNode> => ({
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VirtualNode",
    metadata: { ...inTenant(name), labels: { "liqo.io/remote-cluster-id": "milan" } },
    spec: { clusterID: "milan", createNode: true, kubeconfigSecretRef: { name: `kubeconfig-${name}` } },
  });
  /** Whom a role of virtual kubelets is given to in a namespace. */
  const given = async (role: string, namespace: string) =>
    (await rome.admin.get(RoleBinding, { name: role, namespace }))?.subjects
      ?.map((subject) => `${subject.namespace}/${subject.name}`)
      .join(" ");
  const untilGiven = (role: string, namespace: string, to: string | undefined) =>
    until(`${role} in ${namespace} is given to ${to}`, async () => (await given(role, namespace)) === to);
  const options = (image: string): Desired<VkOptionsTemplate> => ({
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VkOptionsTemplate",
    metadata: { name: "virtual-kubelet-default", namespace: "liqo" },
    spec: {
      createNode: true,
      disableNetworkCheck: false,
      containerImage: image,
      metricsEnabled: false,
      replicas: 2,
      extraLabels: { team: "blue" },
    },
  });

  it("is not made without options, and says so", async () => {
    await rome.admin.create(VirtualNode, virtualNode("pool"));
    assert.match(
      await eventAbout(rome.admin, { kind: "VirtualNode", ...inTenant("pool") }, "VirtualKubeletNotMade"),
      /VkOptionsTemplate "liqo\/virtual-kubelet-default" not found; create it/,
    );
  });

  it("has an account, the rights of the virtual kubelet, and flags that it understands", async () => {
    // As the gateway to the same peer has it.
    const { metadata } = await rome.admin.create(ServiceAccount, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { ...inTenant("spare"), labels: { "networking.liqo.io/gateway-name": "spare" } },
    });
    await rome.admin.create(VkOptionsTemplate, options("runtime:1"));
    await rome.admin.create(VirtualNode, virtualNode("spare"));
    for (const name of ["pool", "spare"]) {
      const deployment = await until(`Deployment of ${name}`, () =>
        rome.admin.get(Deployment, inTenant(`vk-${name}`)),
      );
      const { template, replicas } = deployment.spec ?? {};
      assert.equal(replicas, 2);
      assert.equal(template?.metadata?.labels?.team, "blue");
      assert.equal(template.spec?.serviceAccountName, `vk-${name}`);
      const container = template.spec.containers[0];
      assert.equal(container?.image, "runtime:1");
      const line = splitCommandLine(container.args ?? []);
      const flags = readFlags(line, virtualKubelet.flags);
      assert.deepEqual(
        [
          line.components,
          flags.virtualNode,
          flags.clusterId,
          flags.liqoNamespace,
          flags.localPodcidr,
          flags.replicas,
        ],
        [["virtual-kubelet"], `to-milan/${name}`, "rome", "liqo", ["10.20.0.0/16"], 2],
      );
      assert.ok(await rome.admin.get(ServiceAccount, inTenant(`vk-${name}`)));
      const bound = await rome.admin.get(ClusterRoleBinding, binding(name));
      assert.equal(bound?.roleRef.name, "liqo-virtual-kubelet-local");
      assert.deepEqual(bound.subjects, [
        { kind: "ServiceAccount", name: `vk-${name}`, namespace: "to-milan" },
      ]);
      assert.ok(await rome.admin.get(ClusterRole, { name: bound.roleRef.name }));
    }
    const ofGateway = await rome.admin.get(ServiceAccount, inTenant("spare"));
    assert.equal(ofGateway?.metadata.resourceVersion, metadata.resourceVersion);
  });

  it("reads its provider's credentials, and in namespaces that are offloaded there what their pods need", async () => {
    await untilGiven("liqo-virtual-kubelet-tenant-ns", "to-milan", "to-milan/vk-pool to-milan/vk-spare");
    await rome.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await rome.admin.create(NamespaceOffloading, {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec: NamespaceOffloading.parseSpec({}),
    });
    await untilGiven("liqo-virtual-kubelet-namespace", "shop", "to-milan/vk-pool to-milan/vk-spare");
  });

  it("writes nothing when nothing changes, and follows its options", async () => {
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // Kubernetes' own controllers settle
    const before = await rome.admin.get(Deployment, inTenant("vk-pool"));
    await rome.stop();
    await rome.start(["--virtual-kubelet-per-node", "--podcidr=10.20.0.0/16"]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.equal(
      (await rome.admin.get(Deployment, inTenant("vk-pool")))?.metadata.generation,
      before?.metadata.generation,
    );
    await rome.apply(options("runtime:2"));
    await until("the new image", async () => {
      const found = await rome.admin.get(Deployment, inTenant("vk-pool"));
      return found?.spec?.template?.spec?.containers[0]?.image === "runtime:2";
    });
    await rome.admin.delete(ClusterRoleBinding, binding("pool"));
    await until("bound again", () => rome.admin.get(ClusterRoleBinding, binding("pool")));
  });

  it("goes with its virtual node, binding and all", async () => {
    await rome.admin.delete(VirtualNode, inTenant("spare"));
    await until("nothing of it is left", async () => {
      const left: (KubeObject | undefined)[] = await Promise.all([
        rome.admin.get(VirtualNode, inTenant("spare")),
        rome.admin.get(Deployment, inTenant("vk-spare")),
        rome.admin.get(ServiceAccount, inTenant("vk-spare")),
        rome.admin.get(ClusterRoleBinding, binding("spare")),
      ]);
      return left.every((each) => each === undefined);
    });
    assert.ok(await rome.admin.get(Deployment, inTenant("vk-pool")));
    await untilGiven("liqo-virtual-kubelet-tenant-ns", "to-milan", "to-milan/vk-pool");
    await untilGiven("liqo-virtual-kubelet-namespace", "shop", "to-milan/vk-pool");
  });
});
