import {
  type Amounts,
  formatQuantity,
  isBinaryQuantity,
  parseQuantity,
  type ResourceList,
} from "../api/quantity";
import type { PodDemand } from "./pod-demand";

/** What the webhook needs of a Quota. */
export interface QuotaLimits {
  resources: ResourceList;
  limitsEnforcement?: string;
  cordoned?: boolean;
}

/**
 * Why a demand may not be met; undefined when it may.
 *
 * @param used what the user's other ShadowPods take
 * @see offloading reference 16.4
 */
export function quotaViolation(quota: QuotaLimits, demand: PodDemand, used: Amounts): string | undefined {
  if (quota.cordoned === true) return "user is cordoned";
  return (
    limitsViolation(quota.limitsEnforcement, demand) ?? amountViolation(quota.resources, demand.total, used)
  );
}

function limitsViolation(enforcement: string | undefined, demand: PodDemand): string | undefined {
  if (enforcement !== "Soft" && enforcement !== "Hard") return undefined;
  const groups = [
    ["container", demand.containers],
    ["initContainer", demand.initContainers],
  ] as const;
  for (const [kind, containers] of groups) {
    for (const { name, requests, limits } of containers) {
      if (!requests.has("cpu") || !requests.has("memory"))
        return `CPU and/or memory requests not set for ${kind} ${name}`;
      if (enforcement !== "Hard") continue;
      for (const [resource, amount] of requests) {
        if (limits.get(resource) !== amount)
          return `${resource} limits and requests are not equal for ${kind} ${name}`;
      }
    }
  }
  return undefined;
}

function amountViolation(resources: ResourceList, demand: Amounts, used: Amounts): string | undefined {
  for (const [resource, amount] of demand) {
    const limit = resources[resource];
    if (limit === undefined) {
      // Pods are charged where the quota counts them; a pod without any resource must not need an entry.
      if (resource === "pods" || amount === 0n) continue;
      return `${resource} quota limit not found for this peering`;
    }
    const free = parseQuantity(limit) - (used.get(resource) ?? 0n);
    if (free >= amount) continue;
    const style = isBinaryQuantity(limit) ? "binary" : "decimal";
    return `peering ${resource} quota usage exceeded - free ${formatQuantity(free, style)} / requested ${formatQuantity(amount, style)}`;
  }
  return undefined;
}
