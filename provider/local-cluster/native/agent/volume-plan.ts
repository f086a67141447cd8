import { join } from "node:path";

import type { PersistentVolume, PersistentVolumeClaim } from "../../../../runtime/api/kubernetes";
import { storageProvisioner } from "../addons";

const provisionedBy = "pv.kubernetes.io/provisioned-by";
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner";
const selectedNode = "volume.kubernetes.io/selected-node";

/** What a claim needs: a volume on a node, nothing, or another claim. */
export type ClaimDecision = { provisionOn: string } | { refuse: string } | undefined;

/** Whether and where to make a volume for a claim. The controller manager names our provisioner on the claims that are ours. */
export function decideClaim(claim: PersistentVolumeClaim, nodes: readonly string[]): ClaimDecision {
  const { metadata, spec } = claim;
  if (metadata.annotations?.[provisionerAnnotation] !== storageProvisioner) return undefined;
  if (metadata.deletionTimestamp != null || Boolean(spec.volumeName)) return undefined;
  if (spec.volumeMode === "Block") {
    return { refuse: "volumeMode is Block; the storage class serves Filesystem only" };
  }
  const node = metadata.annotations[selectedNode];
  if (node === undefined) return undefined; // no pod of it is scheduled yet
  return nodes.includes(node)
    ? { provisionOn: node }
    : { refuse: `${node} is not a node of this machine; the storage class serves ${nodes.join(", ")}` };
}

/** Name of the volume of a claim and of its folder: the same at every try. */
export function volumeName(claim: PersistentVolumeClaim): string {
  return `pvc-${claim.metadata.uid ?? ""}`;
}

export function volumeOf(claim: PersistentVolumeClaim, node: string, volumesFolder: string) {
  const name = volumeName(claim);
  return {
    apiVersion: "v1" as const,
    kind: "PersistentVolume" as const,
    metadata: { name, annotations: { [provisionedBy]: storageProvisioner } },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.["storage"] ?? "1Gi" },
      accessModes: [...(claim.spec.accessModes ?? [])],
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: claim.spec.storageClassName ?? "",
      volumeMode: "Filesystem",
      hostPath: { path: join(volumesFolder, name), type: "DirectoryOrCreate" },
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        name: claim.metadata.name,
        namespace: claim.metadata.namespace ?? "",
        uid: claim.metadata.uid ?? "",
      },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] },
          ],
        },
      },
    },
  };
}

/** Whether a volume's claim is gone and its data with it. */
export function mustRemove(volume: PersistentVolume): boolean {
  return (
    volume.metadata.annotations?.[provisionedBy] === storageProvisioner &&
    volume.spec?.persistentVolumeReclaimPolicy === "Delete" &&
    volume.status?.phase === "Released" &&
    volume.metadata.deletionTimestamp == null
  );
}
