import { EventReason, type KubeObject, Label, LabelValue, Name, RoleBinding, RoleName } from "../api";
import {
  type Controller,
  exceptStatus,
  isAlreadyExists,
  type Outcome,
  runController,
  watches,
  writeIfChanged,
} from "../kube";
import type { OffloadingContext, OffloadingOptions } from "./context";
import { clusterOfSource, type ConsumerCaches } from "./consumer-caches";
import {
  credentialsGrant,
  type Grant,
  kubeletBinding,
  type NamespaceRole,
  offloadedGrant,
  servedBy,
} from "./virtual-kubelet-rights";

/** When to look again whether what is in the way of a binding is gone, which nothing else tells. */
const IN_THE_WAY_MS = 30_000;

/**
 * Gives virtual kubelets their rights where they need them: in each namespace that is offloaded, and with the credentials of their virtual nodes. They
 * have none of these rights anywhere else.
 */
export function virtualKubeletRightsController(
  context: OffloadingContext,
  options: Pick<OffloadingOptions, "liqoNamespace" | "virtualKubeletPerNode">,
  caches: ConsumerCaches,
): Controller {
  const { client, informers, events, health } = context;
  const { liqoNamespace = Name.liqoNamespace, virtualKubeletPerNode = false } = options;
  const by = servedBy(virtualKubeletPerNode, liqoNamespace);
  const bindings = informers.informer(RoleBinding, {
    labelSelector: `${Label.offloadingComponent}=${LabelValue.virtualKubelet}`,
  });
  const offloadingIn = (namespace: string) => caches.offloadings.get(Name.namespaceOffloading, namespace);
  const namespaceOf = ({ metadata }: KubeObject) => [metadata.namespace ?? ""];
  const offloaded = () => caches.offloadings.list().flatMap(namespaceOf);
  const ownMaps = () =>
    caches.namespaceMaps.list().filter((map) => {
      const cluster = clusterOfSource(map);
      return cluster !== undefined && caches.namespaceMapOf(cluster) === map;
    });

  /** Gives a role in a namespace to these accounts and to nobody else. */
  const give = async (role: NamespaceRole, namespace: string, grant: Grant): Promise<Outcome> => {
    if (grant === "as it is") return;
    const observed = bindings.get(role, namespace);
    if (grant.length === 0) {
      if (observed !== undefined) await remove(observed);
      return;
    }
    const desired = kubeletBinding(role, namespace, grant);
    // Nobody may change the role of a binding, so it was made by hand.
    const another = observed !== undefined && observed.roleRef.name !== role;
    if (another) await remove(observed);
    try {
      await writeIfChanged(client, RoleBinding, desired, another ? undefined : observed);
    } catch (error) {
      if (!isAlreadyExists(error) || !(await isInTheWay(role, namespace))) throw error;
      const subject =
        offloadingIn(namespace) ??
        caches.virtualNodes.list().find(({ metadata }) => metadata.namespace === namespace);
      if (subject !== undefined)
        events.warning(
          subject,
          EventReason.virtualKubeletRightsRefused,
          `RoleBinding "${namespace}/${role}" exists and is not Liqo's, so that the virtual kubelet gets no rights in namespace "${namespace}"; delete it`,
        );
      return { requeueAfterMs: IN_THE_WAY_MS };
    }
  };

  const remove = async ({ metadata }: RoleBinding): Promise<void> => {
    await client.delete(RoleBinding, metadata, { uid: metadata.uid });
  };

  /** Whether a binding is somebody else's, and not one that the cache does not show yet. */
  const isInTheWay = async (name: string, namespace: string): Promise<boolean> => {
    const found = await client.get(RoleBinding, { name, namespace });
    return (
      found !== undefined && found.metadata.labels?.[Label.offloadingComponent] !== LabelValue.virtualKubelet
    );
  };

  const tried = new Set<string>();
  const isTried = (object: KubeObject) => tried.has(object.metadata.namespace ?? "");
  const synced = () => caches.offloadings.synced && caches.virtualNodes.synced;
  let given = false;
  // The rights in all namespaces, which an earlier version gave, are taken away once this process is ready.
  health.addReadiness("rights of virtual kubelets", () => {
    given ||= synced() && [...caches.offloadings.list(), ...caches.virtualNodes.list()].every(isTried);
    return given ? undefined : "they were not given in all namespaces yet";
  });

  return runController(
    {
      name: "virtualkubelet-rights",
      sources: [
        watches(caches.offloadings, { keys: namespaceOf }),
        watches(caches.namespaceMaps, {
          keys: (map) =>
            clusterOfSource(map) === undefined ? [] : Object.keys(map.spec.desiredMapping ?? {}),
          when: exceptStatus,
        }),
        watches(caches.virtualNodes, {
          keys: (node) => [...namespaceOf(node), ...(virtualKubeletPerNode ? offloaded() : [])],
          when: exceptStatus,
        }),
        watches(bindings, { keys: namespaceOf }),
      ],
      reconcile: async (namespace) => {
        const facts = {
          offloading: offloadingIn(namespace),
          maps: ownMaps(),
          virtualNodes: caches.virtualNodes.list(),
        };
        try {
          const outcomes = await Promise.all([
            give(RoleName.virtualKubeletNamespace, namespace, offloadedGrant(namespace, facts, by)),
            give(RoleName.virtualKubeletTenantNamespace, namespace, credentialsGrant(namespace, facts, by)),
          ]);
          return outcomes.find((outcome) => outcome !== undefined);
        } finally {
          tried.add(namespace);
        }
      },
    },
    context,
  );
}
