import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { read, rule, write, writeAll } from "./rule";

/** What a consumer's control plane may do in its tenant namespace (`liqo-remote-controlplane`). Peers of other make rely on it. */
export const remoteControlplaneRules: PolicyRule[] = [
  rule(
    "authentication.liqo.io",
    ["renews", "renews/status", "resourceslices", "resourceslices/status"],
    writeAll,
  ),
  rule("offloading.liqo.io", ["namespacemaps", "namespacemaps/status"], writeAll),
];

/** What a consumer's virtual nodes may do in each namespace offloaded to here (`liqo-virtual-kubelet-remote`). */
export const virtualKubeletRemoteRules: PolicyRule[] = [
  rule("", ["configmaps", "events", "persistentvolumeclaims", "secrets", "services"], write),
  rule("", ["pods"], read),
  rule("", ["pods/attach", "pods/exec"], ["create"]),
  rule("", ["pods/log"], ["get", "list"]),
  rule("", ["pods/portforward"], ["create", "get"]),
  rule("metrics.k8s.io", ["pods"], read),
  rule("networking.k8s.io", ["ingresses"], write),
  rule("offloading.liqo.io", ["shadowendpointslices", "shadowpods"], write),
];

/** What a consumer may do beyond its namespaces: read the metrics of its own pods (`liqo-virtual-kubelet-remote-clusterwide`). */
export const virtualKubeletRemoteClusterwideRules: PolicyRule[] = [
  rule("metrics.liqo.io", ["scrape/metrics"], read),
];
