import {
  type ClusterRoleBinding,
  type KubeObject,
  LabelValue,
  type ObjectMeta,
  type RoleBinding,
  WellKnownLabel,
} from "../../api";
import { keyOf } from "../../kube";
import { NetworkingRole } from "../../plan/rbac/networking";
import { RBAC } from "../../plan/rbac/manifests";
import { objectName } from "../labels";
import type { NetworkingOptions } from "../networking-context";
import { gatewayLabels, serviceAccountName, type WgGateway } from "./gateway-workload";

/** What lets the account of a gateway do something. */
interface GatewayRights {
  roleBindings: [ownNamespace: BindingOf<"RoleBinding">, liqoNamespace: BindingOf<"RoleBinding">];
  clusterRoleBinding: BindingOf<"ClusterRoleBinding">;
}

/** Bindings that are there. */
export interface BoundRights {
  roleBindings: readonly RoleBinding[];
  clusterRoleBindings: readonly ClusterRoleBinding[];
}

interface BindingOf<K extends "RoleBinding" | "ClusterRoleBinding"> {
  apiVersion: "rbac.authorization.k8s.io/v1";
  kind: K;
  metadata: Pick<ObjectMeta, "name" | "labels"> & (K extends "RoleBinding" ? { namespace: string } : object);
  roleRef: { apiGroup: string; kind: "ClusterRole"; name: string };
  subjects: { kind: "ServiceAccount"; name: string; namespace: string }[];
}

/**
 * Lets a gateway work in its own namespace, report in the Liqo namespace, and read, wherever in the cluster that is, what it is to carry out. Whoever
 * gets hold of its token can do no more than that.
 *
 * Outside of its own namespace the names tell gateways apart by a dot after the namespace, which has none: a gateway's name is its peer's to choose,
 * and must not be able to take another gateway's binding.
 */
export function gatewayRights(
  gateway: WgGateway,
  { gatewayClusterRole, liqoNamespace }: Pick<NetworkingOptions, "gatewayClusterRole" | "liqoNamespace">,
): GatewayRights {
  const { name, namespace = "" } = gateway.metadata;
  const { gatewayClusterWide, gatewayLiqoNamespace } = NetworkingRole;
  const labels = { ...gatewayLabels(gateway), [WellKnownLabel.appManagedBy]: LabelValue.managedByLiqo };
  const given = (role: string) => ({
    roleRef: { apiGroup: RBAC, kind: "ClusterRole" as const, name: role },
    subjects: [{ kind: "ServiceAccount" as const, name: serviceAccountName(gateway), namespace }],
  });
  const apiVersion = "rbac.authorization.k8s.io/v1";
  return {
    roleBindings: [
      {
        apiVersion,
        kind: "RoleBinding",
        metadata: { name: objectName(`${gatewayClusterRole}-${name}`), namespace, labels },
        ...given(gatewayClusterRole),
      },
      {
        apiVersion,
        kind: "RoleBinding",
        metadata: {
          name: objectName(`${gatewayLiqoNamespace}-${namespace}.${name}`),
          namespace: liqoNamespace,
          labels,
        },
        ...given(gatewayLiqoNamespace),
      },
    ],
    clusterRoleBinding: {
      apiVersion,
      kind: "ClusterRoleBinding",
      metadata: { name: objectName(`${gatewayClusterWide}-${namespace}.${name}`), labels },
      ...given(gatewayClusterWide),
    },
  };
}

/**
 * Of the bindings that carry the labels of a gateway those that Liqo made and that are not to be any more: before, one ClusterRoleBinding gave all
 * rights in all namespaces. What an administrator bound does not say that Liqo manages it, and stays.
 */
export function obsoleteRights(bound: BoundRights, rights: GatewayRights): BoundRights {
  const wanted = new Set([...rights.roleBindings, rights.clusterRoleBinding].map(identityOf));
  const isObsolete = (binding: KubeObject) =>
    binding.metadata.labels?.[WellKnownLabel.appManagedBy] === LabelValue.managedByLiqo &&
    !wanted.has(identityOf(binding));
  return {
    roleBindings: bound.roleBindings.filter(isObsolete),
    clusterRoleBindings: bound.clusterRoleBindings.filter(isObsolete),
  };
}

function identityOf(object: KubeObject): string {
  return `${object.kind} ${keyOf(object)}`;
}
