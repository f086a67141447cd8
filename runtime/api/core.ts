import { z } from "zod";

import { AGE, defineKind, type KindObject } from "./define-kind";
import { clusterID, immutable, int64, transition } from "./schema/fields";

const CONDITION_TYPES = [
  "APIServerStatus",
  "NetworkConnectionStatus",
  "NetworkGatewayServerStatus",
  "NetworkGatewayClientStatus",
  "NetworkGatewayPresence",
  "NetworkConfigurationStatus",
  "AuthIdentityControlPlaneStatus",
  "AuthTenantStatus",
  "OffloadingVirtualNodeStatus",
  "OffloadingNodeStatus",
] as const;

const CONDITION_STATUSES = [
  "None",
  "Pending",
  "Established",
  "Error",
  "Ready",
  "NotReady",
  "SomeNotReady",
] as const;

const conditions = () =>
  z.array(
    z.object({
      type: z.enum(CONDITION_TYPES),
      status: z.enum(CONDITION_STATUSES).default("None"),
      ...transition(),
    }),
  );

const peeringModule = () =>
  z.object({
    enabled: z.boolean().describe("Whether one of the module's objects exists for this peer."),
    conditions: conditions().optional(),
  });

/** Source: control-plane.md 2.2. */
export const ForeignCluster = defineKind({
  group: "core.liqo.io",
  version: "v1beta1",
  kind: "ForeignCluster",
  plural: "foreignclusters",
  shortNames: ["fc"],
  namespaced: false,
  summary:
    "A peer and the state of the peering with it; made and kept by the controllers, named after the peer's cluster ID.",
  spec: () =>
    z.object({
      clusterID: immutable(
        clusterID(),
        "ClusterID field is immutable",
        "keep it; another cluster has a ForeignCluster of its own, which the controllers make",
      ),
    }),
  status: () =>
    z.object({
      observedGeneration: int64().optional(),
      role: z
        .enum(["Consumer", "Provider", "ConsumerAndProvider", "Unknown"])
        .default("Unknown")
        .describe("The role of the peer: Provider, it lends to this cluster."),
      modules: z
        .object({ networking: peeringModule(), authentication: peeringModule(), offloading: peeringModule() })
        .optional(),
      apiServerUrl: z.string().optional(),
      foreignProxyUrl: z.string().optional(),
      tenantNamespace: z.object({ local: z.string().optional(), remote: z.string().optional() }).optional(),
      conditions: conditions().optional(),
    }),
  columns: [
    { name: "Role", jsonPath: ".status.role" },
    { name: "ClusterID", jsonPath: ".spec.clusterID", priority: 1 },
    AGE,
  ],
});
export type ForeignCluster = KindObject<typeof ForeignCluster>;
