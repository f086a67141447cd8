import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { Label } from "../keys/labels";
import { embedded } from "../schema/embedded";
import { immutable, int64, observedGeneration, stringMap, transition, validated } from "../schema/fields";

/** Source: offloading.md 2.2. */
export const NamespaceMap = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "NamespaceMap",
  plural: "namespacemaps",
  shortNames: ["nm", "nsmap"],
  namespaced: true,
  summary:
    "Namespaces that a consumer wants at a provider; made on the consumer, copied to the provider, whose answer is the status.",
  spec: () =>
    z.object({
      desiredMapping: stringMap().optional().describe("Remote namespace by local namespace."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      currentMapping: z
        .record(
          z.string(),
          z.object({
            remoteNamespace: z.string().optional(),
            phase: z.enum(["Accepted", "CreationLoopBackOff", "Terminating"]).optional(),
          }),
        )
        .optional()
        .describe("What the provider made of it, by local namespace."),
    }),
  columns: [{ name: "Local", jsonPath: `.metadata.labels.${Label.replication.replaceAll(".", "\\.")}` }, AGE],
});
export type NamespaceMap = KindObject<typeof NamespaceMap>;

const ANEW = "delete the NamespaceOffloading and make it anew";

/** CEL: the remote name of an object, in quotes, or that it has none. */
const remoteName = (object: string) =>
  `(has(${object}.spec.remoteNamespaceName) ? '"' + ${object}.spec.remoteNamespaceName + '"' : 'none')`;

/**
 * Source: offloading.md 2.1 and 16.3. The name and the immutable fields are checked by the API server itself, with the sentences of upstream's
 * admission webhook.
 */
export const NamespaceOffloading = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "NamespaceOffloading",
  plural: "namespaceoffloadings",
  shortNames: ["nso", "nsof", "nsoff", "nsoffloading"],
  namespaced: true,
  summary: "Extends its namespace to other clusters; named `offloading`, one in a namespace.",
  specRequired: true,
  rules: [
    {
      rule: "self.metadata.name == 'offloading'",
      message: "NamespaceOffloading name must match offloading; name it so",
      messageExpression: `'NamespaceOffloading name must match offloading: it is "' + self.metadata.name + '"; name it offloading'`,
    },
    {
      rule: "has(self.spec.remoteNamespaceName) == has(oldSelf.spec.remoteNamespaceName)",
      message: `The RemoteNamespaceName value cannot be modified after creation; ${ANEW}`,
      messageExpression: `'The RemoteNamespaceName value cannot be modified after creation: it is ' + ${remoteName("oldSelf")} + ', and the request has ' + ${remoteName("self")} + '; ${ANEW}'`,
    },
  ],
  spec: () =>
    validated(
      z.object({
        namespaceMappingStrategy: immutable(
          z.enum(["EnforceSameName", "DefaultName", "SelectedName"]),
          "The NamespaceMappingStrategy value cannot be modified after creation",
          ANEW,
        )
          .default("DefaultName")
          .describe(
            "Name of the remote namespace. EnforceSameName: the same. DefaultName: followed by the local cluster ID. SelectedName: remoteNamespaceName. Immutable.",
          ),
        remoteNamespaceName: immutable(
          z.string(),
          "The RemoteNamespaceName value cannot be modified after creation",
          ANEW,
        )
          .optional()
          .describe("The remote namespace's name with the strategy SelectedName. Immutable."),
        podOffloadingStrategy: z
          .enum(["Local", "Remote", "LocalAndRemote"])
          .default("LocalAndRemote")
          .describe("Where pods of the namespace may run."),
        clusterSelector: embedded<core.NodeSelector>("core.NodeSelector")
          .optional()
          .describe("Chooses clusters by the labels of their virtual nodes; without terms, all of them."),
      }),
      {
        rule: "self.namespaceMappingStrategy != 'SelectedName' || (has(self.remoteNamespaceName) && size(self.remoteNamespaceName) > 0)",
        message:
          "The RemoteNamespaceName value cannot be empty when using the SelectedName NamespaceMappingStrategy; set remoteNamespaceName, or use the strategy DefaultName",
        holds: ({ namespaceMappingStrategy, remoteNamespaceName }) =>
          namespaceMappingStrategy !== "SelectedName" || (remoteNamespaceName ?? "") !== "",
      },
    ),

  status: () =>
    z.object({
      remoteNamespaceName: z.string().optional().describe("The name that was worked out."),
      offloadingPhase: z
        .string()
        .optional()
        .describe("Ready, NoClusterSelected, InProgress, SomeFailed, AllFailed or Terminating."),
      remoteNamespacesConditions: z
        .record(
          z.string(),
          z.array(
            z.object({
              type: z.string().describe("OffloadingRequired or Ready."),
              status: z.string().describe("True, False or Unknown."),
              ...transition(),
            }),
          ),
        )
        .optional()
        .describe("Conditions by cluster ID."),
      observedGeneration: int64().optional(),
    }),
  columns: [
    { name: "NamespaceMappingStrategy", jsonPath: ".spec.namespaceMappingStrategy" },
    { name: "PodOffloadingStrategy", jsonPath: ".spec.podOffloadingStrategy" },
    { name: "OffloadingPhase", jsonPath: ".status.offloadingPhase" },
    { name: "RemoteNamespaceName", jsonPath: ".status.remoteNamespaceName", priority: 10 },
    AGE,
  ],
});
export type NamespaceOffloading = KindObject<typeof NamespaceOffloading>;

/** Values of `status.offloadingPhase`. Source: offloading.md 4.2. */
export const OFFLOADING_PHASES = [
  "Ready",
  "NoClusterSelected",
  "InProgress",
  "SomeFailed",
  "AllFailed",
  "Terminating",
] as const;
export type OffloadingPhase = (typeof OFFLOADING_PHASES)[number];
