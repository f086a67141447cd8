import type { PolicyRule } from "kubernetes-types/rbac/v1";

import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "../../api/kubernetes";
import type { ManifestOf } from "../manifest";

/** API group of roles and bindings. */
export const RBAC = "rbac.authorization.k8s.io";

export const read = ["get", "list", "watch"];
export const write = ["create", "delete", "get", "list", "patch", "update", "watch"];
export const writeAll = [...write, "deletecollection"];

/** One rule: these verbs on these resources of one API group, by name where names are given. */
export const rule = (
  apiGroup: string,
  resources: string[],
  verbs: string[],
  resourceNames?: string[],
): PolicyRule => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
  ...(resourceNames === undefined ? {} : { resourceNames }),
});

type Labels = Record<string, string>;
type Subjects = NonNullable<RoleBinding["subjects"]>;

/** ServiceAccounts of one namespace, as the subjects of a binding. */
export function accountsOf(namespace: string, names: readonly string[]): Subjects {
  return names.map((name) => ({ kind: "ServiceAccount", name, namespace }));
}

export function clusterRole(name: string, labels: Labels, rules: PolicyRule[]): ManifestOf<ClusterRole> {
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name, labels }, rules };
}

/** Gives the ClusterRole of the same name to the subjects, in all namespaces. */
export function clusterRoleBinding(
  name: string,
  labels: Labels,
  subjects: Subjects,
): ManifestOf<ClusterRoleBinding> {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name, labels },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
    subjects,
  };
}

/** Where a Role or RoleBinding is, and its labels. */
interface Placed {
  name: string;
  namespace: string;
  labels: Labels;
}

export function role(metadata: Placed, rules: PolicyRule[]): ManifestOf<Role> {
  return { apiVersion: `${RBAC}/v1`, kind: "Role", metadata, rules };
}

/** Gives a role to the subjects, in the binding's namespace; the Role of the same name where no other is given. */
export function roleBinding(
  metadata: Placed,
  subjects: Subjects,
  roleRef: { kind: "Role" | "ClusterRole"; name: string } = { kind: "Role", name: metadata.name },
): ManifestOf<RoleBinding> {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata,
    roleRef: { apiGroup: RBAC, ...roleRef },
    subjects,
  };
}
