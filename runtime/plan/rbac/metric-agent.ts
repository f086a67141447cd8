import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { read, rule } from "./rule";

/** The metric agent asks the kubelets of this cluster for their metrics, and knows whose pods are whose. */
export const metricAgentRules: PolicyRule[] = [
  rule("", ["namespaces", "nodes", "pods"], read),
  rule("", ["nodes/proxy"], ["get"]),
];
