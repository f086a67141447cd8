import type { PolicyRule } from "kubernetes-types/rbac/v1";

export const read = ["get", "list", "watch"];
export const write = ["create", "delete", "get", "list", "patch", "update", "watch"];
export const writeAll = [...write, "deletecollection"];

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
