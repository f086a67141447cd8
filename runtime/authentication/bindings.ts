import {
  type ClusterRoleBinding,
  type Desired,
  Label,
  LabelValue,
  type RoleBinding,
  type Tenant,
  tenantClusterRoleBindingName,
  tenantRoleBindingName,
  WellKnownLabel,
} from "../api";
import { controlledBy, type GlobalMetadata } from "../kube";

const rbac = "rbac.authorization.k8s.io";

/** Values of `app.kubernetes.io/name` by which the roles for consumers are found (control plane reference 3.3). */
export const consumerRole = {
  /** For the consumer's control plane, in its tenant namespace. */
  controlPlane: "remote-controlplane",
  /** For all of the consumer's identities, in the whole cluster. */
  clusterWide: "virtual-kubelet-remote-clusterwide",
} as const;

/** Lets a consumer's control plane work in its tenant namespace. Goes with its Tenant. */
export function controlPlaneBinding(
  tenant: Tenant,
  consumer: string,
  namespace: string,
  clusterRole: string,
  global: GlobalMetadata,
): Desired<RoleBinding> {
  return {
    apiVersion: `${rbac}/v1`,
    kind: "RoleBinding",
    metadata: {
      name: tenantRoleBindingName(clusterRole),
      namespace,
      ...bindingMetadata(consumer, global),
      // An owner in another namespace would be taken for a missing one.
      ...(tenant.metadata.namespace === namespace ? { ownerReferences: [controlledBy(tenant)] } : {}),
    },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: clusterRole },
    subjects: [{ apiGroup: rbac, kind: "User", name: consumer }],
  };
}

/** Lets all identities of a consumer do what no namespace bounds. Removed by the Tenant's finalizer. */
export function clusterWideBinding(
  consumer: string,
  clusterRole: string,
  global: GlobalMetadata,
): Desired<ClusterRoleBinding> {
  return {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: {
      name: tenantClusterRoleBindingName(clusterRole, consumer),
      ...bindingMetadata(consumer, global),
    },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: clusterRole },
    subjects: [{ apiGroup: rbac, kind: "Group", name: consumer }],
  };
}

function bindingMetadata(consumer: string, global: GlobalMetadata) {
  return {
    labels: {
      ...global.labels,
      [WellKnownLabel.appManagedBy]: LabelValue.managedByLiqo,
      [Label.remoteClusterID]: consumer,
    },
    ...(Object.keys(global.annotations).length > 0 && { annotations: { ...global.annotations } }),
  };
}

type Subject = NonNullable<RoleBinding["subjects"]>[number];

/** The subjects with the wanted ones added; undefined where none is missing. */
export function missingSubjects(
  present: readonly Subject[] | undefined,
  wanted: readonly Subject[],
): Subject[] | undefined {
  const missing = wanted.filter(
    (subject) => !(present ?? []).some(({ kind, name }) => kind === subject.kind && name === subject.name),
  );
  return missing.length === 0 ? undefined : [...(present ?? []), ...missing];
}
