import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { Name, RoleName } from "../../api";
import { reflectedRules } from "../reflected-resources";
import { read, rule } from "./rule";

/** What the virtual kubelet may do in all of its own cluster (`liqo-virtual-kubelet-local`). */
export const virtualKubeletLocalRules: PolicyRule[] = [
  // Of what happens to pods, and to what is reflected for them.
  rule("", ["events"], [...read, "create", "delete", "patch"]),
  // Virtual nodes and their pods. The label that marks a pod as taken over is written with its status.
  rule("", ["nodes"], [...read, "create", "patch"]),
  rule("", ["nodes/status", "pods/status"], ["patch"]),
  rule("", ["pods"], [...read, "delete"]),
  rule("coordination.k8s.io", ["leases"], ["create", "delete", "get", "list", "update"]),
  // The peering that a virtual node is part of.
  rule("core.liqo.io", ["foreignclusters"], read),
  rule("ipam.liqo.io", ["ips"], read),
  rule("networking.liqo.io", ["configurations"], read),
  rule("offloading.liqo.io", ["namespacemaps", "namespaceoffloadings", "virtualnodes"], read),
  // The kubelet endpoint: its certificate, who its clients are and what they may do.
  rule("", ["configmaps"], read, [Name.clientAuthentication]),
  rule("certificates.k8s.io", ["certificatesigningrequests"], ["create", "get"]),
  rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
  rule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
];

/**
 * What it may do more where a namespace is offloaded (`liqo-virtual-kubelet-namespace`): read what goes to the provider, and make tokens for the pods
 * there.
 */
export const virtualKubeletNamespaceRules: PolicyRule[] = [
  ...reflectedRules("read", read),
  rule("", ["serviceaccounts/token"], ["create"]),
];

/** And in the namespaces of its virtual nodes (`liqo-virtual-kubelet-tenant-ns`): read the credentials for their providers. */
export const virtualKubeletTenantNamespaceRules: PolicyRule[] = [rule("", ["secrets"], read)];

/** A process for each virtual node, in place of one for all, is made by the controller manager: with the rights of that one's role. */
export const virtualKubeletPerNodeRules: PolicyRule[] = [
  rule("", ["serviceaccounts"], [...read, "create", "patch"]),
  rule("apps", ["deployments"], [...read, "create", "patch"]),
  rule("offloading.liqo.io", ["vkoptionstemplates"], read),
  rule("rbac.authorization.k8s.io", ["clusterrolebindings"], [...read, "create", "delete", "patch"]),
  rule("rbac.authorization.k8s.io", ["clusterroles"], ["bind"], [RoleName.virtualKubeletLocal]),
];
