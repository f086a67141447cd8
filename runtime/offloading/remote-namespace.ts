import type { RoleBinding } from "../api";
import { Annotation, type Desired, Label, LabelValue, Namespace, RoleName, WellKnownLabel } from "../api";
import { isAlreadyExists, type KubeClient } from "../kube";
import type { PodSecurityLevel } from "../plan/pod-policy";
import { podSecurityMarks } from "./remote-namespace-policy";

/** The map that a remote namespace belongs to. */
export interface RemoteOwner {
  /** `<namespace>/<name>` of the NamespaceMap: owner references do not cross namespaces. */
  map: string;
  /** Namespace of the map, which the RoleBinding is named after. */
  tenantNamespace: string;
  consumer: string;
  /** Pod Security Standard of its namespaces. */
  podSecurity: PodSecurityLevel;
}

/** A namespace of that name exists, and is somebody else's. */
export class NamespaceTaken extends Error {
  override readonly name = "NamespaceTaken";
}

/** The map that an object of a remote namespace belongs to; undefined when it belongs to none. */
export function ownerOf({
  metadata,
}: {
  metadata: { annotations?: Record<string, string> };
}): string | undefined {
  return metadata.annotations?.[Annotation.managedByNamespaceMap];
}

/** The consumer's namespace that a remote one was made for; undefined where it does not say so. */
export function originalNameOf({ metadata }: Namespace): string | undefined {
  return metadata.annotations?.[Annotation.originalName];
}

export function desiredNamespace(name: string, originalName: string, owner: RemoteOwner): Desired<Namespace> {
  const marks = podSecurityMarks(owner.podSecurity);
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name,
      labels: { [Label.remoteClusterID]: owner.consumer, ...marks.labels },
      annotations: {
        ...marks.annotations,
        [Annotation.managedByNamespaceMap]: owner.map,
        [Annotation.originalName]: originalName,
      },
    },
  };
}

/** Lets the consumer's virtual nodes work in the namespace. */
export function desiredRoleBinding(namespace: string, owner: RemoteOwner): Desired<RoleBinding> {
  const group = "rbac.authorization.k8s.io";
  return {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: {
      name: owner.tenantNamespace,
      namespace,
      labels: {
        [WellKnownLabel.appManagedBy]: LabelValue.managedByLiqo,
        [Label.remoteClusterID]: owner.consumer,
      },
      annotations: { [Annotation.managedByNamespaceMap]: owner.map },
    },
    subjects: [{ apiGroup: group, kind: "Group", name: owner.consumer }],
    roleRef: { apiGroup: group, kind: "ClusterRole", name: RoleName.virtualKubeletRemote },
  };
}

/**
 * Creates a remote namespace.
 *
 * @throws NamespaceTaken when one of that name exists that does not belong to the map
 */
export async function createNamespace(
  client: KubeClient,
  name: string,
  originalName: string,
  owner: RemoteOwner,
): Promise<void> {
  try {
    await client.create(Namespace, desiredNamespace(name, originalName, owner));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(Namespace, { name });
    if (existing === undefined) return;
    if (ownerOf(existing) === owner.map) {
      const madeFor = originalNameOf(existing);
      if (madeFor === undefined || madeFor === originalName) return;
      throw new NamespaceTaken(
        `namespace ${name} was made for ${madeFor} in NamespaceMap ${owner.map}, and ${originalName} may not share it`,
      );
    }
    throw new NamespaceTaken(
      `namespace ${name} exists and does not belong to NamespaceMap ${owner.map}; delete it, or offload under another name`,
    );
  }
}
