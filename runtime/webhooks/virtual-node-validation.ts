import { type VirtualNode } from "../api";
import { amountFaults } from "../api/quantity";
import { objectNameSchema } from "../plan/arguments";
import type { AdmittedObject } from "./admission-review";
import type { ValidationResult } from "./fault-verdict";
import { nodeNameFaults } from "./node-name";
import { validateProvider } from "./tenant-placement";

export interface VirtualNodeDependencies {
  /** This cluster. */
  ownClusterID: string;
  namespace: string;
  namespaceLabels: Readonly<Record<string, string>>;
}

/**
 * What a virtual node lacks, whoever makes it (offloading reference 2.3, 5.1). Whether its Secret is there is not asked: it may come later, and
 * reading Secrets of all namespaces is more than an admission webhook should be allowed to.
 */
export function validateVirtualNodeSpec(
  object: AdmittedObject,
  { clusterID, kubeconfigSecretRef, resourceQuota }: VirtualNode["spec"],
  { ownClusterID, namespace, namespaceLabels }: VirtualNodeDependencies,
): ValidationResult {
  const found = validateProvider(clusterID, {
    ownClusterID,
    purpose: "a virtual node stands for another",
    placed: { object, namespace, namespaceLabels },
  });
  const faults = [
    ...nodeNameFaults(object.metadata.name),
    ...amountFaults(resourceQuota?.hard ?? {}).map((fault) => `spec.resourceQuota.hard: ${fault}`),
    ...found.faults,
  ];
  const warnings = [...found.warnings];
  const secret = kubeconfigSecretRef?.name ?? "";
  if (secret === "") {
    warnings.push(
      "spec.kubeconfigSecretRef.name: is missing, and without it no pod reaches the provider; name a Secret of the same namespace with the key kubeconfig",
    );
  } else if (!objectNameSchema.safeParse(secret).success) {
    faults.push(
      `spec.kubeconfigSecretRef.name: ${JSON.stringify(secret)} is no name of a Secret; use lower-case letters, digits, dashes and dots, as in kubeconfig-resourceslice-pool`,
    );
  }
  return { faults, warnings };
}
