import type * as schema from "kubernetes-types/rbac/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type Role = BuiltIn<schema.Role, "rbac.authorization.k8s.io/v1", "Role">;
export const Role = builtIn<Role>({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  plural: "roles",
  namespaced: true,
});

export type RoleBinding = BuiltIn<schema.RoleBinding, "rbac.authorization.k8s.io/v1", "RoleBinding">;
export const RoleBinding = builtIn<RoleBinding>({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
});

export type ClusterRole = BuiltIn<schema.ClusterRole, "rbac.authorization.k8s.io/v1", "ClusterRole">;
export const ClusterRole = builtIn<ClusterRole>({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
});

export type ClusterRoleBinding = BuiltIn<
  schema.ClusterRoleBinding,
  "rbac.authorization.k8s.io/v1",
  "ClusterRoleBinding"
>;
export const ClusterRoleBinding = builtIn<ClusterRoleBinding>({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
});
