import type * as apps from "kubernetes-types/apps/v1";
import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import {
  clusterID,
  ingressClasses,
  int32,
  loadBalancerClasses,
  localObjectReference,
  objectReference,
  observedGeneration,
  storageClasses,
  stringMap,
  templateMetadata,
  transition,
} from "../schema/fields";
import { embedded } from "../schema/embedded";

const tolerations = () => z.array(embedded<core.Toleration>("core.Toleration"));

/** What is changed on pods on their way to the provider. */
const offloadingPatch = () =>
  z.object({
    annotationsNotReflected: z.array(z.string()).optional(),
    labelsNotReflected: z.array(z.string()).optional(),
    nodeSelector: stringMap().optional(),
    tolerations: tolerations().optional(),
    affinity: z
      .object({ nodeAffinity: embedded<core.NodeAffinity>("core.NodeAffinity").optional() })
      .optional(),
    runtimeClassName: z.string().optional(),
  });

/** Source: offloading.md 2.3. */
export const VirtualNode = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "VirtualNode",
  plural: "virtualnodes",
  shortNames: ["vn", "vnode", "virno", "vno"],
  namespaced: true,
  summary:
    "A node of this cluster that stands for resources of a provider. The node takes the object's name, so names are unique in the cluster.",
  spec: () =>
    z.object({
      clusterID: clusterID().optional().describe("The provider."),
      template: z
        .object({
          metadata: templateMetadata().optional(),
          spec: embedded<apps.DeploymentSpec>("apps.DeploymentSpec").optional(),
        })
        .optional()
        .describe("The virtual kubelet's Deployment; filled by the webhook."),
      offloadingPatch: offloadingPatch().optional().describe("Changes pods on their way to the provider."),
      createNode: z
        .boolean()
        .optional()
        .describe("Whether there is a Node object; from the options template when absent."),
      disableNetworkCheck: z
        .boolean()
        .optional()
        .describe(
          "Whether the node is Ready without a network connection; from the options template when absent.",
        ),
      kubeconfigSecretRef: localObjectReference()
        .optional()
        .describe("Secret with the key `kubeconfig`, in the same namespace."),
      images: z.array(embedded<core.ContainerImage>("core.ContainerImage")).optional(),
      resourceQuota: embedded<core.ResourceQuotaSpec>("core.ResourceQuotaSpec")
        .optional()
        .describe("Capacity of the node; only `hard` is used."),
      labels: stringMap().optional().describe("Labels of the node."),
      annotations: stringMap().optional().describe("Annotations of the node."),
      taints: z
        .array(embedded<core.Taint>("core.Taint"))
        .optional()
        .describe("Taints of the node, besides Liqo's own."),
      storageClasses: storageClasses().optional(),
      ingressClasses: ingressClasses().optional(),
      loadBalancerClasses: loadBalancerClasses().optional(),
      vkOptionsTemplateRef: objectReference()
        .optional()
        .describe("VkOptionsTemplate to use; the installation's default when absent."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      conditions: z
        .array(
          z.object({
            type: z.enum(["VirtualKubelet", "Node"]),
            status: z.enum(["None", "Running", "Creating", "Draining", "Deleting"]).default("None"),
            ...transition(),
          }),
        )
        .optional(),
    }),
  columns: [
    { name: "ClusterID", jsonPath: ".spec.clusterID" },
    { name: "Create Node", type: "boolean", jsonPath: ".spec.createNode" },
    AGE,
    {
      name: "VirtualKubelet",
      jsonPath: '.status.conditions[?(@.type=="VirtualKubelet")].status',
      priority: 1,
    },
    { name: "Node", jsonPath: '.status.conditions[?(@.type=="Node")].status', priority: 1 },
  ],
});
export type VirtualNode = KindObject<typeof VirtualNode>;

/** Source: offloading.md 2.7 and 17.3. */
export const VkOptionsTemplate = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "VkOptionsTemplate",
  plural: "vkoptionstemplates",
  shortNames: ["vkot", "vkopt"],
  namespaced: true,
  summary: "How virtual nodes are run: options that VirtualNodes take when they name none of their own.",
  spec: () =>
    z.object({
      createNode: z.boolean().describe("Whether VirtualNodes get a Node object."),
      disableNetworkCheck: z.boolean().describe("Whether nodes are Ready without a network connection."),
      containerImage: z.string(),
      metricsEnabled: z.boolean(),
      metricsAddress: z.string().optional().describe("Where metrics are served, as in `:5872`."),
      labelsNotReflected: z.array(z.string()).optional(),
      annotationsNotReflected: z.array(z.string()).optional(),
      reflectorsConfig: z
        .record(
          z.string(),
          z.object({
            workers: z.int().min(0).describe("0 turns the reflection of the resource off."),
            type: z.string().optional().describe("DenyList, AllowList or CustomLiqo."),
          }),
        )
        .optional()
        .describe(
          "By resource: pod, service, endpointslice, ingress, configmap, secret, serviceaccount, persistentvolumeclaim, event.",
        ),
      resources: embedded<core.ResourceRequirements>("core.ResourceRequirements").optional(),
      extraArgs: z.array(z.string()).optional(),
      extraAnnotations: stringMap().optional(),
      extraLabels: stringMap().optional(),
      nodeExtraAnnotations: stringMap().optional(),
      nodeExtraLabels: stringMap().optional(),
      replicas: int32().optional(),
      imagePullSecrets: z.array(localObjectReference()).optional(),
      pullPolicy: z.string().optional().describe("Always, IfNotPresent or Never."),
      tolerations: z.array(embedded<core.Toleration>("core.Toleration")).optional(),
    }),
  columns: [AGE],
});
export type VkOptionsTemplate = KindObject<typeof VkOptionsTemplate>;
