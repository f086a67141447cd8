import { type VirtualNode } from "../api";
import { amountFaults } from "../api/amount-faults";
import type { AdmittedObject } from "./admission-review";
import type { Findings } from "./fault-verdict";
import { nodeNameFaults } from "./node-name";
import { placementFindings } from "./tenant-placement";

export interface VirtualNodeSurroundings {
  /** This cluster. */
  ownClusterID: string;
  namespace: string;
  namespaceLabels: Readonly<Record<string, string>>;
}

const SECRET_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * What a virtual node lacks, whoever makes it (offloading reference 2.3, 5.1). Whether its Secret is there is not asked: it may come later, and
 * reading Secrets of all namespaces is more than an admission webhook should be allowed to.
 */
export function virtualNodeFindings(
  object: AdmittedObject,
  { clusterID, kubeconfigSecretRef, resourceQuota }: VirtualNode["spec"],
  { ownClusterID, namespace, namespaceLabels }: VirtualNodeSurroundings,
): Findings {
  const faults = [
    ...nodeNameFaults(object.metadata.name),
    ...amountFaults(resourceQuota?.hard ?? {}).map((fault) => `spec.resourceQuota.hard: ${fault}`),
  ];
  const warnings: string[] = [];
  if (!clusterID) faults.push("spec.clusterID: is missing; give the provider's cluster ID");
  else if (clusterID === ownClusterID) {
    faults.push(
      `spec.clusterID: "${clusterID}" is this cluster, and a virtual node stands for another; give the provider's cluster ID`,
    );
  } else {
    const found = placementFindings({
      object,
      namespace,
      namespaceLabels,
      clusterID,
      field: "spec.clusterID",
    });
    faults.push(...found.faults);
    warnings.push(...found.warnings);
  }
  const secret = kubeconfigSecretRef?.name ?? "";
  if (secret === "") {
    warnings.push(
      "spec.kubeconfigSecretRef.name: is missing, and without it no pod reaches the provider; name a Secret of the same namespace with the key kubeconfig",
    );
  } else if (secret.length > 253 || !SECRET_NAME.test(secret)) {
    faults.push(
      `spec.kubeconfigSecretRef.name: ${JSON.stringify(secret)} is no name of a Secret; use lower-case letters, digits, dashes and dots, as in kubeconfig-resourceslice-pool`,
    );
  }
  return { faults, warnings };
}
