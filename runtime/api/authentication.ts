import { z } from "zod";

import { AGE, defineKind, type KindObject } from "./define-kind";
import {
  bytes,
  clusterID,
  immutable,
  ingressClasses,
  loadBalancerClasses,
  localObjectReference,
  observedGeneration,
  resourceList,
  storageClasses,
  stringMap,
  transition,
} from "./schema/fields";

/** What a consumer needs to reach a provider's API server. Source: control-plane.md 2.1. */
export const authParams = () =>
  z.object({
    ca: bytes()
      .optional()
      .describe(
        "PEM bundle that the API server's certificate is checked with; absent when a public CA signed it.",
      ),
    signedCRT: bytes().optional().describe("Certificate for the consumer's key, PEM."),
    apiServer: z.string().optional().describe("URL of the API server."),
    proxyURL: z.string().optional().describe("HTTP proxy through which to reach it."),
    awsConfig: z
      .object({
        awsUserArn: z.string(),
        awsAccessKeyID: z.string(),
        awsSecretAccessKey: z.string(),
        awsRegion: z.string(),
        awsClusterName: z.string(),
      })
      .optional()
      .describe("Credentials for an EKS cluster, instead of a certificate."),
  });
export type AuthParams = z.infer<ReturnType<typeof authParams>>;

/** Source: control-plane.md 2.4. */
export const Identity = defineKind({
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Identity",
  plural: "identities",
  shortNames: ["id"],
  namespaced: true,
  summary:
    "Access to a provider; lives on the consumer, in the tenant namespace of the provider, and becomes a kubeconfig secret.",
  spec: () =>
    z.object({
      clusterID: clusterID().optional().describe("The provider."),
      type: z
        .enum(["ControlPlane", "ResourceSlice"])
        .optional()
        .describe(
          "ControlPlane: for replicating objects. ResourceSlice: for running pods against one slice.",
        ),
      authParams: authParams().optional(),
      namespace: z
        .string()
        .optional()
        .describe("Tenant namespace at the provider; set for ControlPlane identities only."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      kubeconfigSecretRef: localObjectReference()
        .optional()
        .describe("Secret with the kubeconfig, in the same namespace."),
    }),
  columns: [
    { name: "Type", jsonPath: ".spec.type" },
    { name: "KubeconfigSecret", jsonPath: ".status.kubeconfigSecretRef.name", priority: 1 },
    AGE,
  ],
});
export type Identity = KindObject<typeof Identity>;

/** Source: control-plane.md 2.6. */
export const Renew = defineKind({
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Renew",
  plural: "renews",
  namespaced: true,
  summary:
    "Carries renewed certificates of a control-plane Identity from the provider to the consumer, in its status.",
  spec: () =>
    z.object({
      consumerClusterID: clusterID().optional(),
      publicKey: bytes().optional(),
      csr: bytes().optional(),
      identityType: z.string().optional().describe("Type of the Identity that is renewed."),
      resourceSliceRef: localObjectReference().optional(),
    }),
  status: () => z.object({ observedGeneration: observedGeneration(), authParams: authParams().optional() }),
  columns: [AGE],
});
export type Renew = KindObject<typeof Renew>;

/** Source: control-plane.md 2.5. */
export const ResourceSlice = defineKind({
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "ResourceSlice",
  plural: "resourceslices",
  shortNames: ["rslice"],
  namespaced: true,
  summary:
    "Resources that a consumer asks of a provider; made on the consumer, copied to the provider, whose answer is the status.",
  spec: () =>
    z.object({
      consumerClusterID: clusterID().optional().describe("Filled by the consumer when absent."),
      providerClusterID: clusterID().optional().describe("Filled from the namespace when absent."),
      resources: resourceList()
        .optional()
        .describe("Amounts asked for, by resource name; the provider's defaults for the rest."),
      class: z.string().optional().describe("Who grants at the provider; empty and `default` are built in."),
      csr: bytes()
        .optional()
        .describe("Certificate request of this slice's identity, PEM; filled by the consumer when absent."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      conditions: z
        .array(
          z.object({
            type: z.enum(["Authentication", "Resources"]),
            status: z.enum(["Accepted", "Denied"]),
            ...transition(),
          }),
        )
        .optional(),
      resources: resourceList().optional().describe("Amounts granted."),
      authParams: authParams().optional(),
      storageClasses: storageClasses().optional(),
      ingressClasses: ingressClasses().optional(),
      loadBalancerClasses: loadBalancerClasses().optional(),
      nodeLabels: stringMap().optional().describe("Labels for the virtual node."),
      nodeSelector: stringMap().optional().describe("Nodes of the provider that pods of this slice go to."),
    }),
  columns: [
    { name: "Authentication", jsonPath: '.status.conditions[?(@.type=="Authentication")].status' },
    { name: "Resources", jsonPath: '.status.conditions[?(@.type=="Resources")].status' },
    AGE,
  ],
});
export type ResourceSlice = KindObject<typeof ResourceSlice>;

/** Source: control-plane.md 2.3. */
export const Tenant = defineKind({
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Tenant",
  plural: "tenants",
  shortNames: ["tn"],
  namespaced: true,
  summary:
    "A consumer that may use this cluster; lives on the provider, in the tenant namespace of the consumer.",
  spec: () =>
    z.object({
      clusterID: immutable(
        clusterID(),
        "ClusterID is immutable",
        "keep it, and make a Tenant for the other cluster in that cluster's tenant namespace",
      )
        .optional()
        .describe("The consumer."),
      authzPolicy: z
        .enum(["KeysExchange", "TolerateNoHandshake"])
        .default("KeysExchange")
        .describe(
          "KeysExchange: the consumer proves its key by a signed nonce and gets certificates. TolerateNoHandshake: an administrator hands out the credentials.",
        ),
      publicKey: bytes()
        .optional()
        .describe("The consumer's public key, PEM; a raw Ed25519 key of 32 bytes is understood too."),
      csr: bytes().optional().describe("The consumer's certificate request, PEM."),
      signature: bytes().optional().describe("The nonce, signed with the consumer's key."),
      proxyURL: z
        .string()
        .optional()
        .describe("HTTP proxy through which the consumer must reach this cluster."),
      tenantCondition: z
        .enum(["Active", "Cordoned", "Drained"])
        .default("Active")
        .describe("Cordoned: nothing new is granted. Drained: everything granted is taken back."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      tenantNamespace: z.string().optional().describe("Where the consumer's objects live on this cluster."),
      authParams: authParams().optional().describe("What the consumer needs to reach this cluster."),
      rotatedPublicKey: z
        .string()
        .optional()
        .describe(
          "Fingerprint of the public key that the consumer, proving itself by the one before, put in its place; this key needs no signature of the nonce. Not upstream's.",
        ),
      replacedPublicKeys: z
        .array(z.string())
        .optional()
        .describe(
          "Fingerprints of the keys before, the last one first; slices whose request is still for one of them keep what they have. Not upstream's.",
        ),
      drainedRoleBindings: z
        .array(
          z.object({
            name: z.string(),
            namespace: z.string(),
            labels: z.record(z.string(), z.string()).optional(),
            clusterRole: z.string(),
            subjects: z.array(
              z.object({
                kind: z.string(),
                name: z.string(),
                apiGroup: z.string().optional(),
                namespace: z.string().optional(),
              }),
            ),
          }),
        )
        .optional()
        .describe(
          "The administrator's role bindings that draining took away, to be brought back with the Tenant. Not upstream's.",
        ),
    }),
  columns: [{ name: "Condition", jsonPath: ".spec.tenantCondition" }, AGE],
});
export type Tenant = KindObject<typeof Tenant>;
