import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { read, rule } from "./rule";

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
