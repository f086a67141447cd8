import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { argument, clusterAccess, clusterShape, shape } from "../core/arguments";
import type { ClusterAccess } from "../core/cluster";

/** The arguments of an installation. */

export interface InstallationArgs {
  /** The cluster to install on. */
  cluster: ClusterAccess;
  /**
   * Identity of the cluster towards its peers: lower-case letters, digits and inner hyphens, at most 51 characters. By default two random
   * words, which stay.
   */
  clusterId?: pulumi.Input<string>;
  /** Namespace of the control plane; `liqo` by default. */
  namespace?: string;
  /** Whether the namespace is created, and removed with the installation; true by default. */
  createNamespace?: boolean;
  /** Image of the runtime, with its tag. */
  image: pulumi.Input<string>;
  /** `Always`, `IfNotPresent` or `Never`; `IfNotPresent` by default. */
  imagePullPolicy?: pulumi.Input<string>;
  /** Secrets in the control plane's namespace with credentials for the image's registry. */
  imagePullSecrets?: pulumi.Input<pulumi.Input<string>[]>;
  /** Labels of this cluster that consumers see on their virtual nodes. */
  clusterLabels?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** The cluster's pod CIDRs, such as `10.244.0.0/16`. */
  podCidrs?: pulumi.Input<pulumi.Input<string>[]>;
  /** Pods and Services of peers reach each other; without it, clusters keep their own networks. */
  networking?: NetworkingArgs;
  /** How peers reach this cluster's API server, where the cluster itself cannot tell. */
  apiServer?: pulumi.Input<ApiServerArgs>;
  /** Consumers get IAM users in place of certificates, for providers on EKS; none by default. */
  aws?: AwsArgs;
  /** Whether each virtual node has a process of its own, in place of one for all; false by default. */
  virtualKubeletPerNode?: boolean;
  /** Whether there is a proxy by which peers reach the API server through the tunnel; false by default. */
  proxy?: boolean;
  /** Whether consumers can read the metrics of their pods here; false by default. */
  metricAgent?: boolean;
  /** A report of this cluster each day, to a receiver of your own; none by default. */
  telemetry?: TelemetryArgs;
  /** What a consumer is granted of each resource that it does not ask for; 4 cpu, 8Gi memory, 110 pods, 20Gi ephemeral-storage by default. */
  defaultNodeResources?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Whether requests of the built-in class are granted, rather than denied; true by default. */
  defaultResourceSliceClassEnabled?: pulumi.Input<boolean>;
  /** Whether offloaded pods are held to what was granted; true by default. */
  enforceResources?: pulumi.Input<boolean>;
  /** `None`, `Soft` (offloaded containers must have requests) or `Hard` (and limits equal to them); `None` by default. */
  limitsEnforcement?: pulumi.Input<string>;
  /** What the pods of consumers may be and name in this cluster (docs/security.md). */
  offloading?: pulumi.Input<OffloadedPodsArgs>;
  /** Interval of the check that each peer's API server answers, in seconds; 0 turns it off. 15 by default. */
  peerPingIntervalSeconds?: pulumi.Input<number>;
  /** Pods of each component; 1 by default. With more than one, they elect a leader. */
  replicas?: pulumi.Input<ReplicasArgs>;
  /** What the pods of each component ask of their node. */
  resources?: pulumi.Input<ComponentResourcesArgs>;
  /** Longest time for each object, and above all for the pods to be ready, in seconds; 300 by default. */
  timeoutSeconds?: number;
}

/** What a provider grants to the pods of consumers. */
export interface OffloadedPodsArgs {
  /** Pod Security Standard that remote namespaces enforce: `baseline`, the default, `restricted` or `privileged`. */
  podSecurity?: pulumi.Input<string>;
  /** Service accounts that offloaded pods may run as, besides `default`; `*` for all. */
  serviceAccounts?: pulumi.Input<pulumi.Input<string>[]>;
  /** Priority classes that offloaded pods may have; none by default, `*` for all. */
  priorityClasses?: pulumi.Input<pulumi.Input<string>[]>;
  /** Runtime classes that offloaded pods may have; none by default, `*` for all. */
  runtimeClasses?: pulumi.Input<pulumi.Input<string>[]>;
}

export interface TelemetryArgs {
  /** URL that takes the report by POST, as JSON; it answers 200. */
  endpoint: pulumi.Input<string>;
}

export interface AwsArgs {
  region: pulumi.Input<string>;
  /** Name of this cluster at EKS. */
  clusterName: pulumi.Input<string>;
  /** Secret in the control plane's namespace with the keys `accessKeyId` and `secretAccessKey`. */
  credentialsSecret: pulumi.Input<string>;
}

/** The networking of a cluster. Networks are IPv4, written as in `10.244.0.0/16`. */
export interface NetworkingArgs {
  /** The networks that pods of the cluster have addresses of. */
  podCidrs: pulumi.Input<string>[];
  /** The network that Services of the cluster have addresses of. */
  serviceCidr: pulumi.Input<string>;
  /** The network by which peers know what is no pod; 10.70.0.0/16 by default, or another where that is taken. A given one is kept. */
  externalCidr?: pulumi.Input<string>;
  /** The network of the overlay between nodes and gateways; 10.80.0.0/16 by default, or another where that is taken. A given one is kept. */
  internalCidr?: pulumi.Input<string>;
  /** Networks that are in use around the cluster, as by its nodes: peers' networks are never mapped to them. */
  reservedSubnets?: pulumi.Input<string>[];
  /** Where networks are taken from, in the order in which they are searched; the private ranges by default. */
  pools?: pulumi.Input<pulumi.Input<string>[]>;
  /** How peers reach this cluster's API server: by the address of its `service`, the default, or by those of its `endpoints`. */
  apiServerBy?: pulumi.Input<string>;
  /** The agent on each node. */
  fabric?: pulumi.Input<FabricArgs>;
  /** The gateways of this cluster. */
  gateway?: pulumi.Input<GatewayArgs>;
}

export interface FabricArgs {
  /** Whether pods, too, reach peers with the address of unknown senders; false by default. */
  fullMasquerade?: pulumi.Input<boolean>;
  /** Of the rules on nodes that lead to gateways, 101 to 500 beside the CNI of EKS; by default the kernel chooses. */
  routeRulePriority?: pulumi.Input<number>;
  /** Keeps a CNI that masquerades what pods send to nodes from the overlay; false by default. */
  gatewayMasqueradeBypass?: pulumi.Input<boolean>;
  /** UDP port of the overlay; 6091 by default. */
  overlayPort?: pulumi.Input<number>;
  /** Leaves packets of the overlay out of the connection tracking of nodes, as they are in gateways; false by default. */
  overlayWithoutTracking?: pulumi.Input<boolean>;
  resources?: pulumi.Input<ResourceRequirementsArgs>;
  /** Labels of the nodes that have the agent; all by default. */
  nodeSelector?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Taints that the agent tolerates; all by default. */
  tolerations?: pulumi.Input<pulumi.Input<TolerationArgs>[]>;
}

export interface GatewayArgs {
  /** Pods of each gateway, of which one works and the others stand by; 1 by default. */
  replicas?: pulumi.Input<number>;
  /** `kernel`, `userspace`, or `auto`, the default: the kernel's WireGuard where there is one. */
  implementation?: pulumi.Input<string>;
  /** Whether TCP connections that enter the tunnel agree on segments that fit; true by default. */
  mssClamp?: pulumi.Input<boolean>;
  /** Longest such segment in bytes; 0, the default, takes the path's. */
  mssClampValue?: pulumi.Input<number>;
  /** How it is found out whether the peer answers. */
  ping?: pulumi.Input<PingArgs>;
  /**
   * TCP port of the Services that peers reach servers at, open while a gateway works: for load balancers that check their targets by TCP or
   * HTTP (`/readyz`) alone. None by default.
   */
  healthPort?: pulumi.Input<number>;
  /** Annotations of the Services that peers reach servers at. */
  serviceAnnotations?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  resources?: pulumi.Input<ResourceRequirementsArgs>;
  /** Labels of the nodes that gateways may run on; any node by default. */
  nodeSelector?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Taints that gateways tolerate; none by default. */
  tolerations?: pulumi.Input<pulumi.Input<TolerationArgs>[]>;
}

export interface PingArgs {
  /** 2 by default. */
  intervalSeconds?: pulumi.Input<number>;
  /** Pings without an answer after which the connection counts as lost; 5 by default. */
  lossThreshold?: pulumi.Input<number>;
  /** How often, at most, a Connection tells another latency; 10 by default. One that stays as it is is not written. */
  updateStatusIntervalSeconds?: pulumi.Input<number>;
}

export interface TolerationArgs {
  key?: pulumi.Input<string>;
  operator?: pulumi.Input<string>;
  value?: pulumi.Input<string>;
  effect?: pulumi.Input<string>;
}

export interface ApiServerArgs {
  /** URL, or host with port. By default the first address of a control-plane node, with port 6443. */
  address?: pulumi.Input<string>;
  /** CA that signed the certificate of that address, PEM. By default the one that pods of the cluster use. */
  ca?: pulumi.Input<string>;
  /** Whether a public authority signed the certificate, so that peers need no CA; false by default. */
  trustedCa?: pulumi.Input<boolean>;
}

export interface ReplicasArgs {
  controllerManager?: pulumi.Input<number>;
  virtualKubelet?: pulumi.Input<number>;
  webhook?: pulumi.Input<number>;
}

export interface ComponentResourcesArgs {
  controllerManager?: pulumi.Input<ResourceRequirementsArgs>;
  virtualKubelet?: pulumi.Input<ResourceRequirementsArgs>;
  webhook?: pulumi.Input<ResourceRequirementsArgs>;
}

export interface ResourceRequirementsArgs {
  requests?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  limits?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

export const networkingShape = shape<NetworkingArgs>({
  podCidrs: z.array(argument.later),
  serviceCidr: argument.required,
  externalCidr: argument.later,
  internalCidr: argument.later,
  reservedSubnets: z.array(argument.later).optional(),
  pools: argument.later,
  apiServerBy: argument.later,
  fabric: argument.later,
  gateway: argument.later,
});

export const installationShape = shape<InstallationArgs>({
  cluster: clusterShape<ClusterAccess>(clusterAccess),
  clusterId: argument.later,
  namespace: argument.text,
  createNamespace: argument.flag,
  image: argument.required,
  imagePullPolicy: argument.later,
  imagePullSecrets: argument.later,
  clusterLabels: argument.later,
  podCidrs: argument.later,
  networking: networkingShape.optional(),
  apiServer: argument.later,
  aws: z.record(z.string(), argument.later).optional(),
  telemetry: z.strictObject({ endpoint: argument.required }).optional(),
  virtualKubeletPerNode: argument.flag,
  proxy: argument.flag,
  metricAgent: argument.flag,
  defaultNodeResources: argument.later,
  defaultResourceSliceClassEnabled: argument.later,
  enforceResources: argument.later,
  limitsEnforcement: argument.later,
  offloading: argument.later,
  peerPingIntervalSeconds: argument.later,
  replicas: argument.later,
  resources: argument.later,
  timeoutSeconds: argument.seconds,
});
