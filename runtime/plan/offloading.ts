import { z } from "zod";

import { Label, Name } from "../api/keys";
import { NamespaceOffloading, type VirtualNode } from "../api/offloading";
import { ingressClasses, loadBalancerClasses, storageClasses } from "../api/schema/fields";
import {
  annotationsSchema,
  clusterIdSchema,
  namespaceNameSchema,
  objectNameSchema,
  resourceListSchema,
} from "./arguments";
import type { ManifestOf } from "./manifest";

/** What a consumer asks of a provider. */
export const sliceRequestSchema = z.strictObject({
  providerClusterId: clusterIdSchema,
  /** Where the consumer keeps what concerns the provider. */
  tenantNamespace: namespaceNameSchema,
  /** Name of the slice, and of the virtual node made of it. */
  sliceName: objectNameSchema,
  /** Class that decides at the provider; `default` is built in. */
  class: z.string().min(1, "is empty; leave it out for the built-in class").default("default"),
  /** Amounts asked for; what is left out is granted by the provider's defaults. */
  resources: resourceListSchema.optional(),
});
export type SliceRequest = z.output<typeof sliceRequestSchema>;

/** How a namespace is extended to other clusters. */
export const namespaceOffloadingSchema = z
  .strictObject({
    namespace: namespaceNameSchema,
    namespaceMappingStrategy: z
      .enum(["DefaultName", "EnforceSameName", "SelectedName"])
      .default("DefaultName"),
    remoteNamespaceName: namespaceNameSchema.optional(),
    podOffloadingStrategy: z.enum(["LocalAndRemote", "Remote", "Local"]).default("LocalAndRemote"),
    clusterSelector: NamespaceOffloading.specSchema.shape.clusterSelector,
  })
  .refine(
    (value) =>
      (value.namespaceMappingStrategy === "SelectedName") === (value.remoteNamespaceName !== undefined),
    {
      path: ["remoteNamespaceName"],
      error:
        "goes together with namespaceMappingStrategy SelectedName; give both, or neither for a name made from the local one",
    },
  );
type NamespaceOffloadingSettings = z.output<typeof namespaceOffloadingSchema>;

/** Extends a namespace to other clusters (offloading reference 4). */
export function namespaceOffloading(settings: NamespaceOffloadingSettings): ManifestOf<NamespaceOffloading> {
  const { namespace, remoteNamespaceName, clusterSelector, ...strategies } = settings;
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "NamespaceOffloading",
    metadata: { name: Name.namespaceOffloading, namespace },
    spec: {
      ...strategies,
      clusterSelector: clusterSelector ?? { nodeSelectorTerms: [] },
      ...(remoteNamespaceName === undefined ? {} : { remoteNamespaceName }),
    },
  };
}

/** A virtual node made by hand, beside those that slices make by themselves. */
export const virtualNodeSchema = z.strictObject({
  providerClusterId: clusterIdSchema,
  tenantNamespace: namespaceNameSchema,
  nodeName: objectNameSchema,
  /** Secret in the tenant namespace with the key `kubeconfig`. */
  kubeconfigSecretName: objectNameSchema,
  resources: resourceListSchema.default({ cpu: "2", memory: "4Gi", pods: "110" }),
  labels: z.record(z.string().min(1), z.string()).default({}),
  annotations: annotationsSchema.default({}),
  createNode: z.boolean().default(true),
  disableNetworkCheck: z.boolean().default(false),
  /** Nodes of the provider that pods of this virtual node go to. */
  nodeSelector: z.record(z.string().min(1), z.string()).optional(),
  runtimeClassName: z.string().min(1).optional(),
  storageClasses: storageClasses().optional(),
  ingressClasses: ingressClasses().optional(),
  loadBalancerClasses: loadBalancerClasses().optional(),
});
type VirtualNodeSettings = z.output<typeof virtualNodeSchema>;

/** A node of the consumer that stands for resources of a provider (offloading reference 2.3). */
export function virtualNode(settings: VirtualNodeSettings): ManifestOf<VirtualNode> {
  const { providerClusterId, nodeSelector, runtimeClassName } = settings;
  const patch = {
    ...(nodeSelector && { nodeSelector }),
    ...(runtimeClassName && { runtimeClassName }),
  };
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VirtualNode",
    metadata: {
      name: settings.nodeName,
      namespace: settings.tenantNamespace,
      labels: { [Label.remoteClusterID]: providerClusterId },
    },
    spec: {
      clusterID: providerClusterId,
      createNode: settings.createNode,
      disableNetworkCheck: settings.disableNetworkCheck,
      kubeconfigSecretRef: { name: settings.kubeconfigSecretName },
      resourceQuota: { hard: settings.resources },
      labels: { ...settings.labels, [Label.remoteClusterID]: providerClusterId },
      annotations: settings.annotations,
      ...(Object.keys(patch).length > 0 && { offloadingPatch: patch }),
      ...(settings.storageClasses && { storageClasses: settings.storageClasses }),
      ...(settings.ingressClasses && { ingressClasses: settings.ingressClasses }),
      ...(settings.loadBalancerClasses && { loadBalancerClasses: settings.loadBalancerClasses }),
    },
  };
}
