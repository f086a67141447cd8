import type * as apps from "kubernetes-types/apps/v1";
import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { ingressClasses, loadBalancerClasses, storageClasses } from "../schema/classes";
import { embedded } from "../schema/embedded";
import {
  clusterID,
  localObjectReference,
  objectReference,
  observedGeneration,
  stringMap,
  templateMetadata,
  transition,
} from "../schema/fields";

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
