import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { read, rule, write, writeAll } from "./manifests";
import { reflectedRules } from "../reflected-resources";

/** What a consumer's control plane may do in its tenant namespace (`liqo-remote-controlplane`). Peers of other make rely on it. */
export const remoteControlplaneRules: PolicyRule[] = [
  rule(
    "authentication.liqo.io",
    ["renews", "renews/status", "resourceslices", "resourceslices/status"],
    writeAll,
  ),
  rule("offloading.liqo.io", ["namespacemaps", "namespacemaps/status"], writeAll),
];

const written = reflectedRules("written", write);
const isCore = ({ apiGroups }: PolicyRule): boolean => apiGroups?.[0] === "";

/** What a consumer's virtual nodes may do in each namespace offloaded to here (`liqo-virtual-kubelet-remote`). */
export const virtualKubeletRemoteRules: PolicyRule[] = [
  ...written.filter(isCore),
  rule("", ["pods"], read),
  rule("", ["pods/attach", "pods/exec"], ["create"]),
  rule("", ["pods/log"], ["get", "list"]),
  rule("", ["pods/portforward"], ["create", "get"]),
  rule("metrics.k8s.io", ["pods"], read),
  ...written.filter((one) => !isCore(one)),
];

/** What a consumer may do beyond its namespaces: read the metrics of its own pods (`liqo-virtual-kubelet-remote-clusterwide`). */
export const virtualKubeletRemoteClusterwideRules: PolicyRule[] = [
  rule("metrics.liqo.io", ["scrape/metrics"], read),
];

/**
 * What a consumer's administrator may do in the tenant namespace, with the kubeconfig that the provider's made for it (`liqo-peering-user-tenant-ns`).
 * Beside the contract's verbs there is `patch` wherever there is `update`: our own liqoctl changes objects by it, and it allows no more.
 */
export const peeringUserTenantNamespaceRules: PolicyRule[] = [
  rule("", ["namespaces", "services"], ["get"]),
  rule("", ["secrets"], ["create", "delete", "get", "list"]),
  rule("apps", ["deployments"], ["get"]),
  rule("authentication.liqo.io", ["tenants"], ["create", "delete", "get", "list", "patch", "update"]),
  rule("ipam.liqo.io", ["ips"], ["create", "delete", "get", "patch", "update"]),
  rule(
    "networking.liqo.io",
    ["configurations", "gatewayclients", "gatewayservers", "publickeies"],
    ["create", "delete", "get", "list", "patch", "update"],
  ),
  rule("networking.liqo.io", ["connections"], ["get", "list"]),
  rule("networking.liqo.io", ["gatewayclients/status", "gatewayservers/status"], ["get"]),
];

/** What that administrator may read in the Liqo namespace: who this cluster is, and its networks (`liqo-peering-user-liqo-ns`). */
export const peeringUserLiqoNamespaceRules: PolicyRule[] = [
  rule("", ["configmaps"], read),
  rule("ipam.liqo.io", ["ips"], ["get"]),
  rule("ipam.liqo.io", ["networks"], ["get", "list"]),
  rule("networking.liqo.io", ["wggatewayclienttemplates", "wggatewayservertemplates"], ["get", "list"]),
];
