import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { isRecord } from "../runtime/api/invalid-object";
import type { AuthenticationPeeringArgs } from "./authentication-peering";
import type { ClusterAccess } from "./cluster";
import type { FleetArgs, FleetClusterArgs, FleetPeeringArgs } from "./fleet";
import type { InstallationArgs, NetworkingArgs } from "./installation-args";
import type { NamespaceOffloadingArgs } from "./namespace-offloading";
import type { NetworkPeeringArgs } from "./network-peering";
import type { PeeringArgs, PeeringNetworkArgs } from "./peering";
import type { PeeringClusterArgs } from "./peering-sides";
import type { ResourceSliceArgs } from "./resource-slice";
import type { VirtualNodeArgs } from "./virtual-node";

/*
 * What each component's arguments look like before any of them is looked into: which there are, and the plain ones. Values that may be known only
 * later are checked when they are known, by the schemas of runtime/plan. Programs that were not compiled come through here too.
 */

/** An argument that may be known later, and must be given. */
const given = z
  .unknown()
  .refine((value) => value !== undefined && value !== null, { error: "is required; give a value" });
/** An argument that may be known later. */
const later = z.unknown().optional();
const flag = z.boolean().optional();
const text = z.string().optional();
const seconds = z.number().positive("is not above 0; give a number of seconds").optional();

/** Exactly the arguments of the type. */
function shape<Args>(fields: { [Key in keyof Required<Args>]: z.ZodType }) {
  return z.strictObject(fields);
}

/** A cluster; told apart from a bare kubeconfig, which no error text may quote. */
function cluster<Args>(fields: { [Key in keyof Required<Args>]: z.ZodType }) {
  return z
    .unknown()
    .superRefine((value, context) => {
      const isOutput = pulumi.Output.isInstance(value);
      if (isRecord(value) && !isOutput) return;
      const message = isOutput
        ? "is not known, because the whole cluster is an output; give an object whose fields are outputs"
        : "is required; give the cluster as an object, such as { kubeconfig, clusterId }";
      context.addIssue({ code: "custom", path: ["kubeconfig"], message });
    })
    .pipe(z.strictObject(fields));
}

const access = { kubeconfig: given, provider: later };
/** Everywhere the same, so that a program may pass on one object. */
const installedCluster = cluster<PeeringClusterArgs>({
  ...access,
  clusterId: given,
  liqoNamespace: later,
  tenantNamespace: later,
  adoptExisting: flag,
});

export const networkingShape = shape<NetworkingArgs>({
  podCidrs: z.array(later),
  serviceCidr: given,
  externalCidr: later,
  internalCidr: later,
  reservedSubnets: z.array(later).optional(),
  pools: later,
  apiServerBy: later,
  fabric: later,
  gateway: later,
});

export const installationShape = shape<InstallationArgs>({
  cluster: cluster<ClusterAccess>(access),
  clusterId: later,
  namespace: text,
  createNamespace: flag,
  image: given,
  imagePullPolicy: later,
  imagePullSecrets: later,
  clusterLabels: later,
  podCidrs: later,
  networking: networkingShape.optional(),
  apiServer: later,
  aws: z.record(z.string(), later).optional(),
  telemetry: z.strictObject({ endpoint: given }).optional(),
  virtualKubeletPerNode: flag,
  proxy: flag,
  metricAgent: flag,
  defaultNodeResources: later,
  defaultResourceSliceClassEnabled: later,
  enforceResources: later,
  limitsEnforcement: later,
  offloading: later,
  peerPingIntervalSeconds: later,
  replicas: later,
  resources: later,
  timeoutSeconds: seconds,
});

export const authenticationPeeringShape = shape<AuthenticationPeeringArgs>({
  consumer: installedCluster,
  provider: installedCluster,
  createTenantNamespaces: flag,
  proxyUrl: later,
  timeoutSeconds: seconds,
});

export const networkPeeringShape = shape<NetworkPeeringArgs>({
  consumer: installedCluster,
  provider: installedCluster,
  createTenantNamespaces: flag,
  server: text,
  link: later,
  timeoutSeconds: seconds,
});

const peeringNetwork = shape<PeeringNetworkArgs>({ enabled: flag, server: text, link: later }).superRefine(
  (args, context) => {
    if (args.enabled !== false) return;
    for (const key of ["server", "link"] as const)
      if (args[key] !== undefined) useless(context, key, 'take out "enabled: false"');
  },
);

/** Refuses an argument that another one makes useless. The path is not the argument's, whose value may be known only later. */
function useless(context: z.RefinementCtx, key: string, wayOut: string): void {
  context.addIssue({ code: "custom", message: `${key} would do nothing: ${wayOut}, or leave it out` });
}

export const peeringShape = shape<PeeringArgs>({
  consumer: installedCluster,
  provider: installedCluster,
  bidirectional: flag,
  resources: later,
  reverseResources: later,
  resourceSliceClass: later,
  createResourceSlice: flag,
  createVirtualNode: flag,
  networking: peeringNetwork.optional(),
  inBand: flag,
  timeoutSeconds: seconds,
}).superRefine((args, context) => {
  if (args.bidirectional !== true && args.reverseResources !== undefined)
    useless(context, "reverseResources", 'set "bidirectional: true"');
  if (args.createResourceSlice === false)
    for (const key of ["resources", "reverseResources", "resourceSliceClass"] as const)
      if (args[key] !== undefined) useless(context, key, 'take out "createResourceSlice: false"');
});

export const resourceSliceShape = shape<ResourceSliceArgs>({
  consumer: installedCluster,
  providerClusterId: given,
  tenantNamespace: later,
  sliceName: later,
  class: later,
  resources: later,
  createVirtualNode: flag,
  timeoutSeconds: seconds,
});

export const virtualNodeShape = shape<VirtualNodeArgs>({
  consumer: installedCluster,
  providerClusterId: given,
  nodeName: given,
  kubeconfigSecretName: given,
  tenantNamespace: later,
  resources: later,
  labels: later,
  annotations: later,
  createNode: flag,
  disableNetworkCheck: later,
  nodeSelector: later,
  runtimeClassName: later,
  storageClasses: later,
  ingressClasses: later,
  loadBalancerClasses: later,
  timeoutSeconds: seconds,
});

export const namespaceOffloadingShape = shape<NamespaceOffloadingArgs>({
  cluster: installedCluster,
  namespace: given,
  namespaceMappingStrategy: later,
  remoteNamespaceName: later,
  podOffloadingStrategy: later,
  clusterSelector: later,
  timeoutSeconds: seconds,
});

const fleetCluster = cluster<FleetClusterArgs>({
  kubeconfig: given,
  namespace: text,
  image: later,
  labels: later,
  podCidrs: later,
  networking: networkingShape.optional(),
  apiServer: later,
});

const fleetPeering = shape<FleetPeeringArgs>({
  consumer: z.string(),
  provider: z.string(),
  bidirectional: flag,
  resources: later,
  reverseResources: later,
  networking: peeringNetwork.optional(),
});

export const fleetShape = shape<FleetArgs>({
  clusters: z.record(z.string(), fleetCluster),
  peerings: z.record(z.string(), fleetPeering).optional(),
  image: given,
});
