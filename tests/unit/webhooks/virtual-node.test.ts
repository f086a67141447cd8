import assert from "node:assert/strict";
import type { VirtualNode } from "../../../runtime/api";
import type { Options } from "../../../runtime/offloading/virtual-kubelet-template";
import { completeVirtualNode } from "../../../runtime/webhooks/virtual-node";

type Spec = VirtualNode["spec"];

const options: Options = {
  createNode: true,
  disableNetworkCheck: false,
  containerImage: "runtime:1",
  metricsEnabled: true,
  metricsAddress: ":5872",
  replicas: 2,
  extraArgs: ["--enable-apiserver-support=true", "--klog.v=1"],
  extraLabels: { team: "infra", "liqo.io/virtual-node": "overlaid" },
  extraAnnotations: { note: "x" },
  nodeExtraLabels: { zone: "z1", area: "a" },
  annotationsNotReflected: ["cloud.google.com/neg"],
  resources: { requests: { cpu: "20m", memory: "96Mi" } },
  imagePullSecrets: [{ name: "registry" }],
  tolerations: [{ operator: "Exists" }],
  reflectorsConfig: {
    pod: { workers: 10 },
    configmap: { workers: 3, type: "DenyList" },
    event: { workers: 0, type: "AllowList" },
    service: { workers: 2, type: "DenyList" },
  },
};
const context = { clusterID: "rome", liqoNamespace: "liqo", podCidrs: ["10.201.0.0/16", "10.202.0.0/16"] };
const milan: Spec = {
  clusterID: "milan",
  kubeconfigSecretRef: { name: "kubeconfig-resourceslice-pool" },
  storageClasses: [{ storageClassName: "slow" }, { storageClassName: "fast", default: true }],
  ingressClasses: [{ ingressClassName: "nginx" }],
};
const complete = (spec: Spec, operation: "CREATE" | "UPDATE" = "CREATE", given: Options = options) =>
  completeVirtualNode({ name: "pool", namespace: "liqo-tenant-milan", spec }, given, context, operation);
const podOf = (spec: Spec) => spec.template?.spec?.template.spec;
const containerOf = (spec: Spec) => podOf(spec)?.containers[0];

describe("a virtual node's completion", () => {
  const spec = complete(milan);

  it("gives the arguments in upstream's order", () => {
    assert.deepEqual(containerOf(spec)?.args, [
      "--foreign-cluster-id=milan",
      "--nodename=pool",
      "--node-ip=$(POD_IP)",
      "--tenant-namespace=liqo-tenant-milan",
      "--liqo-namespace=liqo",
      "--home-cluster-id=rome",
      "--local-podcidr=10.201.0.0/16",
      "--local-podcidr=10.202.0.0/16",
      "--enable-storage",
      "--remote-real-storage-class-name=fast",
      "--enable-ingress",
      "--remote-real-ingress-class-name=nginx",
      "--pod-reflection-workers=10",
      "--service-reflection-workers=2",
      "--configmap-reflection-workers=3",
      "--event-reflection-workers=0",
      "--service-reflection-type=DenyList",
      "--configmap-reflection-type=DenyList",
      "--event-reflection-type=AllowList",
      "--node-extra-labels=area=a,zone=z1",
      "--enable-apiserver-support=true",
      "--klog.v=1",
      "--metrics-enabled=true",
      "--metrics-address=:5872",
      "--foreign-kubeconfig-secret-name=kubeconfig-resourceslice-pool",
      "--create-node=true",
      "--node-check-network=true",
    ]);
  });

  it("names and labels the Deployment", () => {
    const own = {
      "offloading.liqo.io/component": "virtual-kubelet",
      "liqo.io/remote-cluster-id": "milan",
      "liqo.io/virtual-node": "pool",
    };
    assert.deepEqual(spec.template?.metadata, {
      name: "vk-pool",
      namespace: "liqo-tenant-milan",
      labels: { team: "infra", ...own },
      annotations: { note: "x" },
    });
    assert.deepEqual(spec.template?.spec?.selector, { matchLabels: own });
    assert.equal(spec.template?.spec?.replicas, 2);
    assert.deepEqual(spec.template?.spec?.template.metadata, {
      labels: { team: "infra", ...own },
      annotations: { note: "x" },
    });
    assert.equal(podOf(spec)?.serviceAccountName, "pool");
    assert.deepEqual(podOf(spec)?.imagePullSecrets, [{ name: "registry" }]);
    assert.deepEqual(podOf(spec)?.tolerations, [{ operator: "Exists" }]);
  });

  it("describes the container", () => {
    const container = containerOf(spec);
    assert.equal(container?.name, "virtual-kubelet");
    assert.equal(container.image, "runtime:1");
    assert.equal(container.imagePullPolicy, "IfNotPresent");
    assert.deepEqual(container.command, ["/usr/bin/virtual-kubelet"]);
    assert.deepEqual(container.ports, [{ name: "metrics", containerPort: 5872, protocol: "TCP" }]);
    assert.deepEqual(
      container.env?.map(
        ({ name, value, valueFrom }) => `${name}=${value ?? valueFrom?.fieldRef?.fieldPath}`,
      ),
      [
        "POD_IP=status.podIP",
        "POD_NAME=metadata.name",
        "POD_NAMESPACE=metadata.namespace",
        "VIRTUALNODE_NAME=pool",
      ],
    );
  });

  it("takes an unreadable metrics address as port 8082", () => {
    const ports = containerOf(complete(milan, "CREATE", { ...options, metricsAddress: "nowhere" }))?.ports;
    assert.equal(ports?.[0]?.containerPort, 8082);
    assert.equal(
      containerOf(complete(milan, "CREATE", { ...options, metricsEnabled: false }))?.ports,
      undefined,
    );
  });

  it("fills the switches, and keeps those that are set", () => {
    assert.equal(spec.createNode, true);
    assert.equal(spec.disableNetworkCheck, false);
    const set = complete({ ...milan, createNode: false, disableNetworkCheck: true });
    assert.equal(set.createNode, false);
    assert.equal(set.disableNetworkCheck, true);
    assert.ok(containerOf(set)?.args?.includes("--create-node=false"));
    assert.ok(containerOf(set)?.args?.includes("--node-check-network=false"));
  });

  it("joins what is not reflected", () => {
    assert.deepEqual(spec.offloadingPatch, { annotationsNotReflected: ["cloud.google.com/neg"] });
    const patch = {
      nodeSelector: { a: "b" },
      annotationsNotReflected: ["mine", "cloud.google.com/neg"],
      labelsNotReflected: ["secret"],
    };
    assert.deepEqual(complete({ ...milan, offloadingPatch: patch }).offloadingPatch, patch);
  });

  it("takes from a user's template what options have a place for", () => {
    const args = [
      "--klog.v=4",
      "--unknown=1",
      "--node-extra-labels=zone=z2,disk=ssd",
      "--node-extra-annotations=a=b",
      "--metrics-address=:9000",
      "--strange",
    ];
    const own = complete({
      ...milan,
      template: {
        metadata: { labels: { team: "shop" }, annotations: { note: "y" } },
        spec: {
          selector: { matchLabels: { any: "thing" } },
          template: {
            spec: {
              containers: [
                {
                  name: "vk",
                  image: "mine:2",
                  args,
                  resources: { requests: { cpu: "1" }, limits: { cpu: "2" } },
                },
              ],
            },
          },
        },
      },
    });
    const container = containerOf(own);
    assert.equal(container?.image, "mine:2");
    assert.deepEqual(container.resources, { requests: { cpu: "1", memory: "96Mi" }, limits: { cpu: "2" } });
    const list = container.args ?? [];
    assert.ok(list.includes("--klog.v=4") && !list.includes("--klog.v=1"));
    assert.ok(!list.some((one) => one.startsWith("--unknown") || one === "--strange"));
    assert.ok(list.includes("--node-extra-labels=area=a,disk=ssd,zone=z2"));
    assert.ok(list.includes("--node-extra-annotations=a=b"));
    assert.ok(list.includes("--metrics-address=:9000"));
    assert.equal(own.template?.metadata?.labels?.team, "shop");
    assert.equal(own.template?.metadata?.annotations?.note, "y");
  });

  it("follows the spec on update, and leaves the rest of the template as it is", () => {
    const edited = structuredClone(spec);
    const container = containerOf(edited);
    assert.ok(container?.args);
    container.args.push("--added-by-hand=1");
    const after = complete(
      {
        ...edited,
        createNode: false,
        storageClasses: [],
        loadBalancerClasses: [{ loadBalancerClassName: "metallb" }],
        kubeconfigSecretRef: { name: "other" },
      },
      "UPDATE",
      { ...options, containerImage: "runtime:2" },
    );
    const list = containerOf(after)?.args ?? [];
    assert.equal(containerOf(after)?.image, "runtime:1");
    assert.ok(list.includes("--added-by-hand=1"));
    assert.ok(!list.some((one) => one.includes("storage")));
    assert.ok(
      list.includes("--enable-load-balancer") &&
        list.includes("--remote-real-load-balancer-class-name=metallb"),
    );
    assert.ok(
      list.includes("--foreign-kubeconfig-secret-name=other") && list.includes("--create-node=false"),
    );
  });

  it("changes nothing the second time", () => {
    assert.deepEqual(complete(spec, "UPDATE"), spec);
  });

  it("makes a template on update where there is none", () => {
    const bare = { ...spec };
    delete bare.template;
    assert.deepEqual(complete(bare, "UPDATE"), spec);
  });
});
