import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { Name, RoleName } from "../../api";
import { RBAC, read, rule } from "./manifests";
import { reflectedRules } from "../reflected-resources";

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
  rule(RBAC, ["clusterrolebindings"], [...read, "create", "delete", "patch"]),
  rule(RBAC, ["clusterroles"], ["bind"], [RoleName.virtualKubeletLocal]),
];

/** The admission webhooks: they read what they decide on, and write their authority into their own two registrations. */
export const webhookRules: PolicyRule[] = [
  rule(
    "admissionregistration.k8s.io",
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    [...read, "patch"],
    ["liqo-webhook"],
  ),
  rule("", ["namespaces"], read),
  // What an IP of a peering user may not lead to: nodes, the API server, networks of others.
  rule("", ["nodes"], ["get", "list"]),
  rule("", ["services"], ["get"], ["kubernetes"]),
  rule("discovery.k8s.io", ["endpointslices"], ["get"], ["kubernetes"]),
  rule("ipam.liqo.io", ["networks"], ["list"]),
  rule("networking.liqo.io", ["configurations", "internalnodes"], ["list"]),
  // A pod of a consumer counts until it is gone, which may be long after its ShadowPod.
  rule("", ["pods"], ["get", "list"]),
  rule("authentication.liqo.io", ["resourceslices", "tenants"], ["list"]),
  rule("offloading.liqo.io", ["namespaceoffloadings", "quotas", "shadowpods"], read),
  rule("networking.liqo.io", ["firewallconfigurations", "routeconfigurations"], ["list"]),
  rule("offloading.liqo.io", ["virtualnodes"], ["list"]),
  rule("offloading.liqo.io", ["vkoptionstemplates"], ["get"]),
];

/** In the Liqo namespace only: the webhook's own certificate and what is to be told of it, the leader's lease and its mark. */
export const webhookNamespaceRules: PolicyRule[] = [
  rule("", ["secrets"], ["create"]),
  rule("", ["secrets"], [...read, "update"], ["liqo-webhook-certs"]),
  rule("", ["pods"], ["patch"]),
  rule("", ["events"], ["create", "patch"]),
  rule("coordination.k8s.io", ["leases"], ["create", "get", "update"]),
];

/** The metric agent asks the kubelets of this cluster for their metrics, and knows whose pods are whose. */
export const metricAgentRules: PolicyRule[] = [
  rule("", ["namespaces", "nodes", "pods"], read),
  rule("", ["nodes/proxy"], ["get"]),
];
