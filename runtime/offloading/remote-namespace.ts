import {
  Annotation,
  type Desired,
  Label,
  LabelValue,
  Namespace,
  RoleBinding,
  RoleName,
  WellKnownLabel,
} from "../api";
import { type Informer, isAlreadyExists, type KubeClient } from "../kube";
import { RBAC } from "../plan/rbac/manifests";
import type { PodSecurityLevel } from "../plan/pod-policy";
import {
  consumerOfRemoteNamespace,
  podSecurityMarks,
  podSecurityPatch,
  reservedNamespace,
} from "./remote-namespace-policy";

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

/** The map cannot have a namespace of that name: another one has it, or no consumer may. */
export class NamespaceTaken extends Error {
  override readonly name = "NamespaceTaken";
}

/** The consumer already has as many namespaces as its limit allows. */
export class NamespaceLimitReached extends NamespaceTaken {}

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

function desiredNamespace(name: string, originalName: string, owner: RemoteOwner): Desired<Namespace> {
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
function desiredRoleBinding(namespace: string, owner: RemoteOwner): Desired<RoleBinding> {
  return {
    apiVersion: `${RBAC}/v1`,
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
    subjects: [{ apiGroup: RBAC, kind: "Group", name: owner.consumer }],
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: RoleName.virtualKubeletRemote },
  };
}

/**
 * Creates a remote namespace.
 *
 * @param local the consumer's namespace that it is made for
 * @throws NamespaceTaken when the name is reserved, when a namespace of that name belongs to somebody else, or when the limit is reached
 */
export async function createRemoteNamespace(
  client: KubeClient,
  remote: string,
  local: string,
  owner: RemoteOwner & { liqoNamespace: string; namespaceLimit: number },
  reservations: NamespaceReservations,
): Promise<void> {
  const reserved = reservedNamespace(remote, owner.liqoNamespace);
  if (reserved !== undefined)
    throw new NamespaceTaken(
      `namespace ${remote} is given to no consumer: ${reserved}; offload under another name`,
    );
  const { consumer, namespaceLimit, tenantNamespace } = owner;
  if (!reservations.reserve(consumer, remote, namespaceLimit))
    throw new NamespaceLimitReached(
      `namespace ${remote} is not made: cluster "${consumer}" gets ${namespaceLimit} namespaces here; end the offloading of another one, or have the provider's administrator raise the annotation ${Annotation.namespaceLimit} of namespace ${tenantNamespace}`,
    );
  try {
    await createNamespace(client, remote, local, owner);
  } catch (error) {
    reservations.release(consumer, remote);
    throw error;
  }
}

async function createNamespace(
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

/** Sets the Pod Security Standard of a namespace; an administrator's own choice stays. */
export async function enforcePodSecurity(
  client: KubeClient,
  namespace: Namespace,
  level: PodSecurityLevel,
): Promise<void> {
  const patch = podSecurityPatch(namespace, level);
  if (patch === undefined) return;
  const { name, uid, resourceVersion } = namespace.metadata;
  // Locked: an administrator may choose at this moment.
  await client.patch(
    Namespace,
    { name },
    { metadata: { uid, resourceVersion, ...patch } },
    { type: "merge" },
  );
}

/** Binds the consumer's group to the role of virtual kubelets in a namespace. */
export async function bindConsumer(
  client: KubeClient,
  remote: string,
  owner: RemoteOwner,
  roleBindings: Pick<Informer<RoleBinding>, "get">,
): Promise<void> {
  if (roleBindings.get(owner.tenantNamespace, remote) !== undefined) return;
  try {
    await client.create(RoleBinding, desiredRoleBinding(remote, owner));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

const MADE_FOR = "made-for";

/** Counts the namespaces of each consumer. A reservation counts until the watch shows the namespace. */
export class NamespaceReservations {
  private readonly reserved = new Map<string, Set<string>>();

  /** @param namespaces those that name a peer */
  constructor(private readonly namespaces: Pick<Informer<Namespace>, "addIndex" | "byIndex" | "get">) {
    namespaces.addIndex(MADE_FOR, madeFor);
  }

  /** Reserves one more namespace; false at the limit. Synchronous, so that concurrent creations cannot pass it. */
  reserve(consumer: string, name: string, limit: number): boolean {
    const pending = this.reserved.get(consumer) ?? new Set();
    this.reserved.set(consumer, pending);
    for (const seen of pending) if (this.namespaces.get(seen) !== undefined) pending.delete(seen);
    if (pending.has(name)) return true;
    if (this.namespaces.byIndex(MADE_FOR, consumer).length + pending.size >= limit) return false;
    pending.add(name);
    return true;
  }

  /** Drops the reservation of a namespace that was not created. */
  release(consumer: string, name: string): void {
    this.reserved.get(consumer)?.delete(name);
  }
}

/** Index key: the consumer that a remote namespace was made for; none for a tenant namespace. */
function madeFor(namespace: Namespace): string[] {
  const consumer = consumerOfRemoteNamespace(namespace);
  return consumer === undefined || ownerOf(namespace) === undefined ? [] : [consumer];
}
