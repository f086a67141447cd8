import {
  type Desired,
  Label,
  LabelValue,
  type NamespaceMap,
  type NamespaceOffloading,
  type RoleBinding,
  type RoleName,
  virtualKubeletName,
  type VirtualNode,
  WellKnownLabel,
} from "../api";
import { askedNames } from "../plan/peer-objects";
import { DeploymentName } from "../plan/deployments";
import { RBAC } from "../plan/rbac/manifests";
import { isDeleting } from "../kube";

/** A ServiceAccount that a virtual kubelet runs as. */
interface KubeletAccount {
  name: string;
  namespace: string;
}

/** Whom virtual nodes are served by: one process for all, as this account, or one each, as an account of its own. */
type ServedBy = { account: KubeletAccount } | "processes of their own";

export function servedBy(perNode: boolean, liqoNamespace: string): ServedBy {
  if (perNode) return "processes of their own";
  return { account: { name: DeploymentName.virtualKubelet, namespace: liqoNamespace } };
}

/** What the rights in one namespace are decided from. */
interface RightsFacts {
  /** Of the namespace; undefined where it has none. */
  offloading: NamespaceOffloading | undefined;
  /** What is asked of providers: this cluster's own maps. */
  maps: readonly NamespaceMap[];
  virtualNodes: readonly VirtualNode[];
}

/** To whom a role is to be given in a namespace; `as it is` where whoever has it keeps it, and nobody gets it. */
export type Grant = readonly KubeletAccount[] | "as it is";

/**
 * Who may read what a namespace holds, and make tokens of its accounts: the virtual kubelets of the clusters that the namespace is asked of, by the very
 * words that a virtual kubelet goes by. While the offloading ends, and the pods there with it, everybody keeps what he has.
 */
export function offloadedGrant(namespace: string, facts: RightsFacts, by: ServedBy): Grant {
  const { offloading, maps, virtualNodes } = facts;
  if (offloading === undefined) return [];
  if (isDeleting(offloading)) return "as it is";
  const asked = new Set(
    maps
      .filter((map) => askedNames(map, namespace, offloading).length > 0)
      .map(({ metadata }) => metadata.labels?.[Label.remoteClusterID]),
  );
  // The one for all keeps its rights while a virtual node is replaced.
  if (by !== "processes of their own") return asked.size > 0 ? [by.account] : [];
  return accounts(
    virtualNodes.filter(({ spec }) => asked.has(spec.clusterID)),
    by,
  );
}

/** Who may read the credentials for providers in a namespace: the virtual kubelets of the virtual nodes there. */
export function credentialsGrant(
  namespace: string,
  { virtualNodes }: Pick<RightsFacts, "virtualNodes">,
  by: ServedBy,
): Grant {
  const here = virtualNodes.filter(
    ({ metadata, spec }) => metadata.namespace === namespace && Boolean(spec.kubeconfigSecretRef?.name),
  );
  const leaving = here.length > 0 && here.every(isDeleting);
  return leaving ? "as it is" : accounts(here, by);
}

function accounts(virtualNodes: readonly VirtualNode[], by: ServedBy): KubeletAccount[] {
  if (by !== "processes of their own") return virtualNodes.length > 0 ? [by.account] : [];
  const own = virtualNodes.map(({ metadata: { name, namespace = "" } }) => ({
    name: virtualKubeletName(name),
    namespace,
  }));
  const keyOfAccount = ({ name, namespace }: KubeletAccount) => `${namespace}/${name}`;
  return own.sort((a, b) => (keyOfAccount(a) < keyOfAccount(b) ? -1 : 1));
}

/** The roles of virtual kubelets in namespaces; a binding bears the name of its role. */
export type NamespaceRole =
  typeof RoleName.virtualKubeletNamespace | typeof RoleName.virtualKubeletTenantNamespace;

export function kubeletBinding(
  role: NamespaceRole,
  namespace: string,
  given: readonly KubeletAccount[],
): Desired<RoleBinding> {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: {
      name: role,
      namespace,
      labels: {
        [WellKnownLabel.appManagedBy]: LabelValue.managedByLiqo,
        [Label.offloadingComponent]: LabelValue.virtualKubelet,
      },
    },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
    subjects: given.map((account) => ({ kind: "ServiceAccount", ...account })),
  };
}
