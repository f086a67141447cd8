/** One object of each kind of offloading.liqo.io, with every field it has. */
import { classes } from "./grants";
import { type Manifest, manifest, transition } from "./manifest";
import { podSpec } from "./pod-spec";
import { deploymentTemplate } from "./templates";

const offloading = (kind: string, name: string, fields: object, namespace = "liqo-tenant-milan") =>
  manifest("offloading.liqo.io", kind, name, fields, namespace);

export const OFFLOADING: Manifest[] = [
  offloading(
    "NamespaceOffloading",
    "offloading",
    {
      spec: {
        namespaceMappingStrategy: "SelectedName",
        remoteNamespaceName: "shop-of-rome",
        podOffloadingStrategy: "Remote",
        clusterSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "NotIn", values: ["south"] }] }],
        },
      },
      status: {
        remoteNamespaceName: "shop-of-rome",
        offloadingPhase: "Ready",
        remoteNamespacesConditions: { milan: [{ type: "Ready", status: "True", ...transition }] },
        observedGeneration: 1,
      },
    },
    "liqo-tenant-rome",
  ),
  offloading("NamespaceMap", "milan", {
    spec: { desiredMapping: { shop: "shop-rome" } },
    status: {
      observedGeneration: 2,
      currentMapping: { shop: { remoteNamespace: "shop-rome", phase: "Accepted" } },
    },
  }),
  offloading("VirtualNode", "milan", {
    spec: {
      clusterID: "milan",
      template: deploymentTemplate,
      offloadingPatch: {
        annotationsNotReflected: ["a.example/x"],
        labelsNotReflected: ["l.example/x"],
        nodeSelector: { pool: "guests" },
        tolerations: [{ key: "guests", operator: "Exists" }],
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 1,
                preference: { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] },
              },
            ],
          },
        },
        runtimeClassName: "gvisor",
      },
      createNode: true,
      disableNetworkCheck: true,
      kubeconfigSecretRef: { name: "kubeconfig-resourceslice-mypool" },
      images: [{ names: ["nginx:1.29"], sizeBytes: 60000000 }],
      resourceQuota: { hard: { cpu: 20, memory: "128Gi" } },
      labels: { zone: "north" },
      annotations: { owner: "platform" },
      taints: [{ key: "guests", value: "only", effect: "NoSchedule" }],
      ...classes,
      vkOptionsTemplateRef: { name: "virtual-kubelet-default", namespace: "liqo" },
    },
    status: {
      observedGeneration: 2,
      conditions: [
        { type: "VirtualKubelet", status: "Running", ...transition },
        { type: "Node", status: "Draining", ...transition },
      ],
    },
  }),
  offloading(
    "ShadowPod",
    "web-0",
    {
      spec: { pod: podSpec },
      status: {
        observedGeneration: 2,
        phase: "Pending",
        reason: "FailedCreatePod",
        message: "spec.pod.nodeName is set; leave it out",
      },
    },
    "liqo-tenant-rome",
  ),
  offloading(
    "ShadowEndpointSlice",
    "web-abcde",
    {
      spec: {
        template: {
          endpoints: [
            {
              addresses: ["10.70.0.9"],
              conditions: { ready: true },
              hostname: "web-0",
              nodeName: "rome",
              zone: "north",
              targetRef: { kind: "RemotePod", name: "web-0", namespace: "shop" },
              hints: { forZones: [{ name: "north" }] },
            },
          ],
          ports: [{ name: "http", port: 80, protocol: "TCP", appProtocol: "http" }],
          addressType: "IPv4",
        },
      },
    },
    "liqo-tenant-rome",
  ),
  offloading(
    "Quota",
    "mypool-c34af51dd912",
    {
      spec: {
        user: "mypool-c34af51dd912",
        limitsEnforcement: "Soft",
        resources: { cpu: "20", memory: "128Gi" },
        cordoned: true,
      },
    },
    "liqo-tenant-rome",
  ),
  offloading(
    "VkOptionsTemplate",
    "virtual-kubelet-default",
    {
      spec: {
        createNode: true,
        disableNetworkCheck: false,
        containerImage: "pulumi-liqo:0.1.0",
        metricsEnabled: true,
        metricsAddress: ":5872",
        labelsNotReflected: ["a"],
        annotationsNotReflected: ["b"],
        reflectorsConfig: { pod: { workers: 10 }, secret: { workers: 3, type: "DenyList" } },
        resources: { limits: { memory: "256Mi" }, requests: { cpu: "100m" } },
        extraArgs: ["--v=4"],
        extraAnnotations: { a: "b" },
        extraLabels: { c: "d" },
        nodeExtraAnnotations: { e: "f" },
        nodeExtraLabels: { g: "h" },
        replicas: 2,
        imagePullSecrets: [{ name: "registry" }],
        pullPolicy: "IfNotPresent",
        tolerations: [{ key: "infra", operator: "Exists", effect: "NoSchedule" }],
      },
    },
    "default",
  ),
];
