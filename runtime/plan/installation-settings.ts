import { z } from "zod";

import { Name } from "../api/keys";
import { cidr } from "../api/schema/fields";
import { clusterIdSchema, namespaceNameSchema, resourceListSchema } from "./arguments";
import { networkingSettingsSchema } from "./networking/settings";
import { offloadedPodsSchema } from "./pod-policy";

/** What a pod asks of its node, and may use at most. */
const resourceRequirements = z.strictObject({
  requests: resourceListSchema.optional(),
  limits: resourceListSchema.optional(),
});

const replicas = z
  .number()
  .int("is not a whole number")
  .min(1, "is below 1; a component without a pod does nothing")
  .max(5, "is above 5; one of the replicas works and the others stand by");

/** What decides which objects an installation has. Plain values, so that a preview shows all of them. */
export const installationStructureSchema = z.strictObject({
  /** Namespace of the control plane; `liqo` by default. */
  namespace: namespaceNameSchema.default(Name.liqoNamespace),
  /** Whether the namespace is made with the rest, and removed with it; true by default. */
  createNamespace: z.boolean().default(true),
  /** Whether each virtual node has a process of its own, in place of one for all; false by default. */
  virtualKubeletPerNode: z.boolean().default(false),
  /** Whether there is a proxy by which peers reach the API server through the tunnel; false by default. */
  proxy: z.boolean().default(false),
  /** Whether consumers can read the metrics of their pods here, as an aggregated API; false by default. */
  metricAgent: z.boolean().default(false),
});

/** What stands inside the objects, the cluster ID aside. */
export const installationDataSchema = z.strictObject({
  /** Image of the runtime, with its tag. */
  image: z.string().min(1, "is empty; give the runtime's image, such as pulumi-liqo/runtime:0.1.0"),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).default("IfNotPresent"),
  /** Secrets in the Liqo namespace with credentials for the image's registry. */
  imagePullSecrets: z.array(z.string().min(1)).default([]),
  /** Labels of this cluster that consumers see on their virtual node. */
  clusterLabels: z.record(z.string().min(1), z.string()).default({}),
  /** The cluster's pod CIDRs; with the virtual kubelet they tell local addresses from remapped ones. */
  podCidrs: z.array(cidr()).default([]),
  /** Pods and Services of peers reach each other; without it, clusters keep their own networks. None by default. */
  networking: networkingSettingsSchema.optional(),
  /** How peers reach this cluster's API server, where that differs from what the cluster itself says. */
  apiServer: z
    .strictObject({
      /** URL, or host with port. By default the first address of a control-plane node, port 6443. */
      address: z.string().min(1).optional(),
      /** CA of that address, PEM. By default the one that pods use. */
      ca: z.string().min(1).optional(),
      /** Whether the certificate is signed by a public authority, so that peers need no CA; false by default. */
      trustedCa: z.boolean().default(false),
    })
    .prefault({}),
  /** Consumers get IAM users instead of certificates: for providers on EKS, whose API servers sign none. None by default. */
  aws: z
    .strictObject({
      region: z.string().min(1),
      /** Name of this cluster at EKS. */
      clusterName: z.string().min(1),
      /** Secret in the Liqo namespace with the keys `accessKeyId` and `secretAccessKey`. */
      credentialsSecret: z.string().min(1),
    })
    .optional(),
  /** A report of this cluster each day, to a receiver of your own (docs/user/install.md). None by default. */
  telemetry: z
    .strictObject({
      /** URL that takes the report by POST. */
      endpoint: z.url({ protocol: /^https?$/, error: "is no URL; write one with https" }),
    })
    .optional(),
  /** What a consumer is granted of each resource that it does not ask for. */
  defaultNodeResources: resourceListSchema.default({
    cpu: "4",
    memory: "8Gi",
    pods: "110",
    "ephemeral-storage": "20Gi",
  }),
  /** Whether requests of the built-in class are granted, rather than denied; true by default. */
  defaultResourceSliceClassEnabled: z.boolean().default(true),
  /** Whether offloaded pods are held to what was granted; true by default. */
  enforceResources: z.boolean().default(true),
  /** Whether each offloaded container must have requests (`Soft`), and limits equal to them (`Hard`); `None` by default. */
  limitsEnforcement: z.enum(["None", "Soft", "Hard"]).default("None"),
  /** What the pods of consumers may be and name here (docs/security.md). */
  offloading: offloadedPodsSchema.prefault({}),
  /** Interval of the check that a peer's API server answers, in seconds; 0 turns it off. 15 by default. */
  peerPingIntervalSeconds: z
    .number()
    .int("is not a whole number of seconds")
    .min(0, "is below 0; 0 turns the check off")
    .default(15),
  /** Pods of each component. With more than one, they elect a leader; a webhook does so in any case. */
  replicas: z
    .strictObject({
      controllerManager: replicas.default(1),
      virtualKubelet: replicas.default(1),
      webhook: replicas.default(1),
    })
    .prefault({}),
  /** What the pods of each component ask of their node. */
  resources: z
    .strictObject({
      controllerManager: resourceRequirements.default({ requests: { cpu: "20m", memory: "96Mi" } }),
      virtualKubelet: resourceRequirements.default({ requests: { cpu: "20m", memory: "96Mi" } }),
      webhook: resourceRequirements.default({ requests: { cpu: "10m", memory: "64Mi" } }),
    })
    .prefault({}),
});

/** Everything that the planner of an installation takes. */
export const installationSettingsSchema = z
  .strictObject({
    clusterId: clusterIdSchema,
    /** A random UUID, by which the receiver of telemetry tells clusters apart. Needed where telemetry is asked for. */
    telemetryIdentity: z.uuid().optional(),
    ...installationStructureSchema.shape,
    ...installationDataSchema.shape,
  })
  .refine(({ telemetry, telemetryIdentity }) => telemetry === undefined || telemetryIdentity !== undefined, {
    path: ["telemetryIdentity"],
    error: "is missing; give a random UUID, by which the receiver of the telemetry tells clusters apart",
  });

export type InstallationStructure = z.output<typeof installationStructureSchema>;
export type InstallationData = z.output<typeof installationDataSchema>;
export type InstallationSettings = z.input<typeof installationSettingsSchema>;

/** The address of an API server as peers are told it (control plane reference 7.1). */
export function apiServerAddressUrl(address: string): string {
  return address.startsWith("https://") ? address : `https://${address}`;
}
