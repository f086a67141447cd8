import {
  Annotation,
  ClusterRoleBinding,
  Finalizer,
  Label,
  LabelValue,
  Namespace,
  NamespaceMap,
  ResourceSlice,
  RoleBinding,
  Tenant,
  tenantClusterRoleBindingName,
  tenantRoleBindingName,
  WellKnownLabel,
} from "../api";
import { controllerOf, isNotFound, patchStatusIfChanged } from "../kube";
import type { AuthenticationContext } from "./authentication-context";
import { clusterWideBinding, consumerRole, controlPlaneBinding, missingSubjects } from "./bindings";

/** A binding that an administrator made, kept in the Tenant's status while it is drained: nobody but this cluster's controllers writes there. */
type KeptBinding = NonNullable<NonNullable<Tenant["status"]>["drainedRoleBindings"]>[number];

const rbac = "rbac.authorization.k8s.io";

/** What a provider hands out to a consumer, and takes back: roles, slices, namespace maps (control plane reference 3.3, 9). */
export class TenantGrants {
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
      // An administrator's own binding may stand there; ours is added to it.
      const subjects = missingSubjects(existing.subjects, [{ apiGroup: rbac, kind: "User", name: consumer }]);
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

  /** Takes back what no namespace bounds. Does not rely on the roles being there: they may have been removed first. */
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
   * Takes the consumer's control plane its roles. Bindings that an administrator made are noted in the Tenant's status first, since nobody else would
   * bring them back.
   *
   * @returns how many bindings were there to delete
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

  /** Brings back the administrator's bindings that draining took away, to the roles that draining takes away and no others. */
  async restoreBindings(tenant: Tenant): Promise<Tenant> {
    const { caches, runtime } = this.authentication;
    const noted = tenant.status?.drainedRoleBindings ?? [];
    if (noted.length === 0) return tenant;
    const roles = caches.rolesFor(consumerRole.controlPlane);
    for (const { name, namespace, labels, clusterRole, subjects } of noted) {
      if (!roles.includes(clusterRole) || caches.roleBindings.get(name, namespace) !== undefined) continue;
      await runtime.client.create(RoleBinding, {
        apiVersion: `${rbac}/v1`,
        kind: "RoleBinding",
        metadata: { name, namespace, ...(labels && { labels }) },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: clusterRole },
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
    // Foreign: that the bindings are noted does not say that the Tenant's generation is done.
    const written = await patchStatusIfChanged(client, Tenant, tenant, status, {
      foreign: true,
      lock: "always",
    });
    return written.object;
  }

  /** Marks or unmarks all slices of a consumer as cordoned with their Tenant. */
  async markCordoned(consumer: string, cordoned: boolean): Promise<void> {
    const { runtime } = this.authentication;
    for (const slice of this.copies(consumer)) {
      const mark = slice.metadata.annotations?.[Annotation.cordonTenant];
      const wanted = cordoned ? LabelValue.true : undefined;
      if (slice.metadata.deletionTimestamp || mark === wanted) continue;
      await this.unlessGone(
        runtime.client.patch(
          ResourceSlice,
          slice.metadata,
          {
            metadata: {
              uid: slice.metadata.uid,
              annotations: { [Annotation.cordonTenant]: wanted ?? null },
            },
          },
          { type: "merge" },
        ),
      );
    }
  }

  /** @returns how many were there to delete */
  async deleteSlices(consumer: string): Promise<number> {
    const { client } = this.authentication.runtime;
    const copies = this.copies(consumer).filter(({ metadata }) => !metadata.deletionTimestamp);
    for (const { metadata } of copies) await client.delete(ResourceSlice, metadata, { uid: metadata.uid });
    return copies.length;
  }

  /**
   * Takes back the consumer's maps, and with them the offloaded namespaces. The consumer writes the labels and finalizers of its maps, so what is
   * its own says the tenant namespace alone; and namespaces whose map it made disappear without them go by themselves.
   *
   * @returns how many maps were there to delete
   */
  async deleteNamespaceMaps(tenant: Tenant, consumer: string): Promise<number> {
    const { runtime, caches } = this.authentication;
    // Its label may have been removed; the Tenant is in it all the same.
    const tenantNamespaces = [...caches.tenantNamespaces.namesOf(consumer), tenant.metadata.namespace ?? ""];
    const maps = caches.namespaceMaps
      .list()
      .filter(({ metadata }) => tenantNamespaces.includes(metadata.namespace ?? ""))
      .filter((map) => !map.metadata.deletionTimestamp && !isOwnMap(map, consumer));
    for (const { metadata } of maps) {
      await runtime.client.delete(NamespaceMap, metadata, { uid: metadata.uid });
    }
    await this.deleteOffloadedNamespaces(tenantNamespaces);
    return maps.length;
  }

  private async deleteOffloadedNamespaces(tenantNamespaces: readonly string[]): Promise<void> {
    const { runtime, options } = this.authentication;
    // Without offloading there are none, nor the right to delete them.
    if (!options.offloadingEnabled) return;
    const offloaded = await runtime.client.list(Namespace, { labelSelector: Label.remoteClusterID });
    for (const { metadata } of offloaded) {
      const [tenantNamespace = "", map] =
        metadata.annotations?.[Annotation.managedByNamespaceMap]?.split("/") ?? [];
      if (map === undefined || !tenantNamespaces.includes(tenantNamespace)) continue;
      if (metadata.deletionTimestamp) continue;
      await runtime.client.delete(Namespace, { name: metadata.name }, { uid: metadata.uid });
    }
  }

  private copies(consumer: string): ResourceSlice[] {
    const { caches } = this.authentication;
    return caches
      .ofPeer(caches.slices, consumer)
      .filter(({ metadata }) => metadata.labels?.[Label.replicated] === LabelValue.true);
  }

  private async unlessGone(write: Promise<unknown>): Promise<void> {
    try {
      await write;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/**
 * Whether a map in a tenant namespace is the one that this cluster, a consumer itself, keeps for that peer as its provider. Anything that would
 * make it a peer's rules that out.
 */
export function isOwnMap({ metadata: { name, labels, finalizers } }: NamespaceMap, peer: string): boolean {
  return (
    name === peer &&
    labels?.[Label.replication] === LabelValue.true &&
    labels[Label.replicationDestination] === peer &&
    labels[Label.replicated] !== LabelValue.true &&
    finalizers?.includes(Finalizer.namespaceMap) !== true
  );
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
