/** Who may do what: the groups `rbac`, `authentication`, `authorization` and `certificates`, and service accounts. */
import type * as authentication from "kubernetes-types/authentication/v1";
import type * as authorization from "kubernetes-types/authorization/v1";
import type * as certificates from "kubernetes-types/certificates/v1";
import type * as core from "kubernetes-types/core/v1";
import type * as rbac from "kubernetes-types/rbac/v1";

import { builtIn, type BuiltIn, posted, type Posted } from "./built-in";

export type ServiceAccount = BuiltIn<core.ServiceAccount, "v1", "ServiceAccount">;
export const ServiceAccount = builtIn<ServiceAccount>({
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
});

export type TokenRequest = Posted<authentication.TokenRequest, "authentication.k8s.io/v1", "TokenRequest">;
export const TokenRequest = posted<TokenRequest>({
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenRequest",
  plural: "token",
  namespaced: true,
});

export type TokenReview = Posted<authentication.TokenReview, "authentication.k8s.io/v1", "TokenReview">;
export const TokenReview = posted<TokenReview>({
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  namespaced: false,
});

export type CertificateSigningRequest = BuiltIn<
  certificates.CertificateSigningRequest,
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  "spec"
>;
export const CertificateSigningRequest = builtIn<CertificateSigningRequest>({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
  always: ["spec"],
});

export type SubjectAccessReview = Posted<
  authorization.SubjectAccessReview,
  "authorization.k8s.io/v1",
  "SubjectAccessReview"
>;
export const SubjectAccessReview = posted<SubjectAccessReview>({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  namespaced: false,
});

export type SelfSubjectAccessReview = Posted<
  authorization.SelfSubjectAccessReview,
  "authorization.k8s.io/v1",
  "SelfSubjectAccessReview"
>;
export const SelfSubjectAccessReview = posted<SelfSubjectAccessReview>({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
});

export type Role = BuiltIn<rbac.Role, "rbac.authorization.k8s.io/v1", "Role">;
export const Role = builtIn<Role>({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  plural: "roles",
  namespaced: true,
});

export type RoleBinding = BuiltIn<rbac.RoleBinding, "rbac.authorization.k8s.io/v1", "RoleBinding">;
export const RoleBinding = builtIn<RoleBinding>({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
});

export type ClusterRole = BuiltIn<rbac.ClusterRole, "rbac.authorization.k8s.io/v1", "ClusterRole">;
export const ClusterRole = builtIn<ClusterRole>({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
});

export type ClusterRoleBinding = BuiltIn<
  rbac.ClusterRoleBinding,
  "rbac.authorization.k8s.io/v1",
  "ClusterRoleBinding"
>;
export const ClusterRoleBinding = builtIn<ClusterRoleBinding>({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
});
