import {
  ClusterRoleBinding,
  type Desired,
  Label,
  LabelValue,
  RoleBinding,
  Tenant,
  tenantClusterRoleBindingName,
  tenantRoleBindingName,
  WellKnownLabel,
} from "../api";
import { controlledBy, controllerOf, type GlobalMetadata, patchStatusIfChanged } from "../kube";
import { RBAC } from "../plan/rbac/manifests";
import { type AuthenticationContext, consumerRole } from "./context";

/** An administrator's binding, stored in the Tenant's status while the Tenant is drained. Only this cluster's controllers write there. */
type KeptBinding = NonNullable<NonNullable<Tenant["status"]>["drainedRoleBindings"]>[number];

/** The roles that a provider binds a consumer to, and takes back (control plane reference 3.3, 9). */
export class TenantRoleBindings {
  constructor(private readonly authentication: AuthenticationContext) {}

  /** Binds the consumer's control plane to its roles in its namespace. @throws where no such role is installed */
  async bindControlPlane(tenant: Tenant, consumer: string, namespace: string): Promise<void> {
    const { caches, runtime, options } = this.authentication;
    for (const role of this.roles(consumerRole.controlPlane)) {
      const desired = controlPlaneBinding(tenant, consumer, namespace, role, options.global);
      const existing = caches.roleBindings.get(tenantRoleBindingName(role), namespace);
      if (existing === undefined) {
        await runtime.client.create(RoleBinding, desired);
        continue;
      }
      // An administrator's binding may have that name; the consumer is added to it.
      const subjects = missingSubjects(existing.subjects, [{ apiGroup: RBAC, kind: "User", name: consumer }]);
      if (subjects !== undefined) await runtime.client.replace(RoleBinding, { ...existing, subjects });
    }
  }

  /** Binds the group of all the consumer's identities to the roles for the whole cluster. @throws where no such role is installed */
  async bindClusterWide(consumer: string): Promise<void> {
    const { caches, runtime, options } = this.authentication;
    for (const role of this.roles(consumerRole.clusterWide)) {
      if (caches.clusterRoleBindings.get(tenantClusterRoleBindingName(role, consumer)) !== undefined)
        continue;
      await runtime.client.create(ClusterRoleBinding, clusterWideBinding(consumer, role, options.global));
    }
  }

  private roles(purpose: string): string[] {
    const roles = this.authentication.caches.rolesFor(purpose);
    if (roles.length > 0) return roles;
    throw new Error(
      `no ClusterRole is labelled ${WellKnownLabel.appName}=${purpose}; the installation of this cluster is incomplete`,
    );
  }

  /** Deletes the cluster-wide bindings. It works without the roles, which may have been deleted first. */
  async unbindClusterWide(consumer: string): Promise<void> {
    const { caches, runtime } = this.authentication;
    for (const binding of caches.ofPeer(caches.clusterRoleBindings, consumer)) {
      const { name, uid, labels } = binding.metadata;
      const ours =
        labels?.[WellKnownLabel.appManagedBy] === LabelValue.managedByLiqo &&
        name === tenantClusterRoleBindingName(binding.roleRef.name, consumer);
      if (ours) await runtime.client.delete(ClusterRoleBinding, { name }, { uid });
    }
  }

  /**
   * Deletes the bindings of the consumer's control plane. It first records those of an administrator in the Tenant's status, so that they can be
   * restored.
   *
   * @returns how many bindings it deleted
   */
  async unbindControlPlane(tenant: Tenant, consumer: string): Promise<number> {
    const { caches, runtime } = this.authentication;
    const roles = caches.rolesFor(consumerRole.controlPlane);
    const bindings = caches
      .ofPeer(caches.roleBindings, consumer)
      .filter(({ roleRef, metadata }) => roles.includes(roleRef.name) && !metadata.deletionTimestamp);
    const foreign = bindings.filter((binding) => controllerOf(binding)?.uid !== tenant.metadata.uid);
    await this.note(tenant, foreign.map(kept));
    for (const { metadata } of bindings) {
      await runtime.client.delete(RoleBinding, metadata, { uid: metadata.uid });
    }
    return bindings.length;
  }

  /** Restores the administrator's bindings that draining deleted, to the roles whose bindings draining deletes and no others. */
  async restoreBindings(tenant: Tenant): Promise<Tenant> {
    const { caches, runtime } = this.authentication;
    const noted = tenant.status?.drainedRoleBindings ?? [];
    if (noted.length === 0) return tenant;
    const roles = caches.rolesFor(consumerRole.controlPlane);
    for (const { name, namespace, labels, clusterRole, subjects } of noted) {
      if (!roles.includes(clusterRole) || caches.roleBindings.get(name, namespace) !== undefined) continue;
      await runtime.client.create(RoleBinding, {
        apiVersion: `${RBAC}/v1`,
        kind: "RoleBinding",
        metadata: { name, namespace, ...(labels && { labels }) },
        roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: clusterRole },
        subjects,
      });
    }
    return await this.writeKept(tenant, undefined);
  }

  private async note(tenant: Tenant, bindings: KeptBinding[]): Promise<void> {
    const before = tenant.status?.drainedRoleBindings ?? [];
    const added = bindings.filter(
      ({ name, namespace }) => !before.some((other) => other.name === name && other.namespace === namespace),
    );
    if (added.length > 0) await this.writeKept(tenant, [...before, ...added]);
  }

  private async writeKept(tenant: Tenant, bindings: KeptBinding[] | undefined): Promise<Tenant> {
    const { client } = this.authentication.runtime;
    const status = { drainedRoleBindings: bindings ?? null };
    // Foreign: this write does not mean that the Tenant's generation has been reconciled.
    const written = await patchStatusIfChanged(client, Tenant, tenant, status, {
      foreign: true,
      lock: "always",
    });
    return written.object;
  }
}

function kept({ metadata, roleRef, subjects }: RoleBinding): KeptBinding {
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? "",
    ...(metadata.labels && { labels: metadata.labels }),
    clusterRole: roleRef.name,
    subjects: (subjects ?? []).map(({ kind, name, apiGroup, namespace }) => ({
      kind,
      name,
      ...(apiGroup && { apiGroup }),
      ...(namespace && { namespace }),
    })),
  };
}

/** Gives a consumer's control plane its rights in its tenant namespace. The Tenant owns it. */
export function controlPlaneBinding(
  tenant: Tenant,
  consumer: string,
  namespace: string,
  clusterRole: string,
  global: GlobalMetadata,
): Desired<RoleBinding> {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: {
      name: tenantRoleBindingName(clusterRole),
      namespace,
      ...bindingMetadata(consumer, global),
      // The garbage collector takes an owner in another namespace for a missing one.
      ...(tenant.metadata.namespace === namespace ? { ownerReferences: [controlledBy(tenant)] } : {}),
    },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: clusterRole },
    subjects: [{ apiGroup: RBAC, kind: "User", name: consumer }],
  };
}

/** Gives all identities of a consumer their cluster-wide rights. The Tenant's finalizer removes it. */
export function clusterWideBinding(
  consumer: string,
  clusterRole: string,
  global: GlobalMetadata,
): Desired<ClusterRoleBinding> {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: {
      name: tenantClusterRoleBindingName(clusterRole, consumer),
      ...bindingMetadata(consumer, global),
    },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: clusterRole },
    subjects: [{ apiGroup: RBAC, kind: "Group", name: consumer }],
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
