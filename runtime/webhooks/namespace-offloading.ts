import { isDeepStrictEqual } from "node:util";

import { Name, NamespaceOffloading } from "../api";
import { invalidNodeSelector } from "../offloading/node-selector";
import {
  invalidRemoteNamespaceName,
  isKubernetesNamespace,
  remoteNamespaceName,
} from "../offloading/remote-namespace-name";
import { type AdmissionRequest, ALLOWED, denied, type Verdict } from "./admission-review";
import { isTenantNamespace, tenantOf } from "../plan/peer-objects";

type Spec = NamespaceOffloading["spec"];

/** What a NamespaceOffloading is checked against. */
interface OffloadingDependencies {
  /** This cluster, for the name of the remote namespace. */
  clusterID: string;
  liqoNamespace: string;
  /** Labels of its namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** The NamespaceOffloadings that exist. */
  offloadings: readonly NamespaceOffloading[];
}

/**
 * Checks how a namespace is to be offloaded, beyond what its schema does: validating webhooks see only what has passed that. Objects that are
 * being deleted pass, so that their finalizer can always go.
 *
 * @see offloading reference 16.3
 */
export function validateNamespaceOffloading(
  request: AdmissionRequest,
  { clusterID, liqoNamespace, namespaceLabels, offloadings }: OffloadingDependencies,
): Verdict {
  const { object, oldObject, namespace, operation } = request;
  if (object === undefined || object.metadata.deleting) return ALLOWED;
  if (object.metadata.name !== Name.namespaceOffloading)
    return denied(`NamespaceOffloading name must match ${Name.namespaceOffloading}`);
  const { spec } = NamespaceOffloading.fromApiServer(object.raw);
  const before =
    operation === "CREATE" || oldObject === undefined
      ? undefined
      : NamespaceOffloading.fromApiServer(oldObject.raw).spec;
  const violation =
    before === undefined
      ? (reservedNamespace(namespace, liqoNamespace, namespaceLabels) ??
        creationViolation(spec, namespace, clusterID) ??
        takenRemoteName(spec, namespace, clusterID, offloadings))
      : updateViolation(before, spec);
  if (violation !== undefined) return denied(violation);
  const restricted =
    before !== undefined &&
    before.podOffloadingStrategy !== spec.podOffloadingStrategy &&
    spec.podOffloadingStrategy !== "LocalAndRemote";
  const warnings = restricted ? [RESTRICTED] : [];
  if (before === undefined && spec.remoteNamespaceName && spec.namespaceMappingStrategy !== "SelectedName")
    warnings.push(unusedName(spec.remoteNamespaceName, spec, namespace, clusterID));
  return warnings.length === 0 ? ALLOWED : { allowed: true, warnings };
}

/** The name counts with one strategy only, and neither can be changed later. */
function unusedName(given: string, spec: Spec, namespace: string, clusterID: string): string {
  const { namespaceMappingStrategy: strategy = "DefaultName" } = spec;
  return `NamespaceOffloading "${namespace}/${Name.namespaceOffloading}": spec.remoteNamespaceName: "${given}" is not used with namespaceMappingStrategy ${strategy}, and the remote namespace is named "${remoteNamespaceName(namespace, spec, clusterID)}"; for that name make it again with the strategy SelectedName`;
}

/**
 * Why a namespace is never offloaded; undefined where it may be. A provider that holds the pods of Kubernetes or of Liqo would take the cluster
 * down with it, and twins of a tenant namespace would carry its credentials to other providers.
 */
function reservedNamespace(
  namespace: string,
  liqoNamespace: string,
  labels: Readonly<Record<string, string>>,
): string | undefined {
  // The namespace `default` is for everybody's pods.
  const holder =
    isKubernetesNamespace(namespace) && namespace !== "default"
      ? "is Kubernetes' own"
      : namespace === liqoNamespace
        ? "is that of Liqo itself"
        : isTenantNamespace(labels)
          ? `is the tenant namespace of cluster "${tenantOf(labels) ?? ""}", with its credentials`
          : undefined;
  return holder === undefined
    ? undefined
    : `NamespaceOffloading "${namespace}/${Name.namespaceOffloading}": metadata.namespace: "${namespace}" ${holder}, and must stay in this cluster; put what is to be offloaded into a namespace of its own, and offload that`;
}

const RESTRICTED =
  "The PodOffloadingStrategy was mutated to a more restrictive setting: existing pods violating this policy might still be running";

function creationViolation(spec: Spec, namespace: string, clusterID: string): string | undefined {
  if (spec.namespaceMappingStrategy === "SelectedName" && !spec.remoteNamespaceName) {
    return "The RemoteNamespaceName value cannot be empty when using the SelectedName NamespaceMappingStrategy";
  }
  return (
    invalidRemoteNamespaceName(remoteNamespaceName(namespace, spec, clusterID)) ?? selectorViolation(spec)
  );
}

/** Two namespaces that shared a remote one would delete each other's objects there. */
function takenRemoteName(
  spec: Spec,
  namespace: string,
  clusterID: string,
  offloadings: readonly NamespaceOffloading[],
): string | undefined {
  const remoteName = remoteNamespaceName(namespace, spec, clusterID);
  const holder = offloadings.find(
    ({ metadata, spec: other }) =>
      metadata.namespace !== namespace &&
      metadata.deletionTimestamp === undefined &&
      (other.namespaceMappingStrategy !== "SelectedName" || other.remoteNamespaceName) &&
      remoteNamespaceName(metadata.namespace ?? "", other, clusterID) === remoteName,
  );
  if (holder === undefined) return undefined;
  const selected = spec.namespaceMappingStrategy === "SelectedName";
  const field = selected
    ? `spec.remoteNamespaceName: "${remoteName}"`
    : `spec.namespaceMappingStrategy: "${spec.namespaceMappingStrategy ?? "DefaultName"}" gives the remote name "${remoteName}", which`;
  const way = selected ? "give" : "use the strategy SelectedName with";
  return `NamespaceOffloading "${namespace}/${Name.namespaceOffloading}": ${field} is that of NamespaceOffloading "${holder.metadata.namespace ?? ""}/${Name.namespaceOffloading}" already, and no two may share a remote namespace; ${way} another remoteNamespaceName`;
}

function updateViolation(before: Spec, spec: Spec): string | undefined {
  if (before.namespaceMappingStrategy !== spec.namespaceMappingStrategy)
    return "The NamespaceMappingStrategy value cannot be modified after creation";
  if ((before.remoteNamespaceName ?? "") !== (spec.remoteNamespaceName ?? ""))
    return "The RemoteNamespaceName value cannot be modified after creation";
  return isDeepStrictEqual(before.clusterSelector, spec.clusterSelector)
    ? undefined
    : selectorViolation(spec);
}

function selectorViolation(spec: Spec): string | undefined {
  const fault = invalidNodeSelector(spec.clusterSelector);
  return fault === undefined ? undefined : `Invalid ClusterSelector: spec.clusterSelector.${fault}`;
}
