import { isRecord } from "../api/invalid-object";
import {
  addAmounts,
  type Amounts,
  formatQuantity,
  greatestAmounts,
  isBinaryQuantity,
  isQuantity,
  type Nano,
  parseQuantity,
  type ResourceList,
} from "../api/quantity";

/** What a container of a ShadowPod asks for. */
interface ContainerDemand {
  name: string;
  /** As the API server will read them: a resource with a limit and no request is requested up to its limit. */
  requests: ReadonlyMap<string, Nano>;
  limits: ReadonlyMap<string, Nano>;
}

export interface PodDemand {
  containers: readonly ContainerDemand[];
  initContainers: readonly ContainerDemand[];
  /** What the pod takes from a quota, the pod itself included (`pods: 1`). */
  total: ReadonlyMap<string, Nano>;
}

/** A quantity in a pod can't be read. */
export class UnreadableDemand extends Error {
  override readonly name = "UnreadableDemand";
}

const ONE_POD = parseQuantity(1);

/**
 * What a pod needs while it runs, as the scheduler counts it: all containers and sidecars at once, or an init container with the sidecars
 * started before it, whichever is more; and at least what the pod asks for as a whole.
 *
 * @param spec the pod's spec as it came
 * @throws UnreadableDemand that names the container and the resource
 */
export function podDemand(spec: unknown): PodDemand {
  const pod = isRecord(spec) ? spec : {};
  const containers = demandsOf("containers", pod.containers);
  const initContainers = demandsOf("initContainers", pod.initContainers);

  const running = new Map<string, Nano>();
  for (const container of containers) addAmounts(running, container.requests);
  let starting = new Map<string, Nano>();
  const sidecars = new Map<string, Nano>();
  for (const container of initContainers) {
    const needed = new Map(sidecars);
    addAmounts(needed, container.requests);
    if (container.sidecar) addAmounts(sidecars, container.requests);
    starting = greatestAmounts(starting, needed);
  }
  addAmounts(running, sidecars);
  const whole = requirementsOf("pod", pod.resources);
  const total = greatestAmounts(greatestAmounts(running, starting), whole.requests);
  total.set("pods", ONE_POD);
  return { containers, initContainers, total };
}

function demandsOf(field: string, value: unknown): (ContainerDemand & { sidecar: boolean })[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map((container, index) => {
    const name = typeof container.name === "string" ? container.name : `${field}[${index}]`;
    return {
      name,
      sidecar: container.restartPolicy === "Always",
      ...requirementsOf(`container ${name}`, container.resources),
    };
  });
}

function requirementsOf(
  subject: string,
  resources: unknown,
): { requests: Map<string, Nano>; limits: Map<string, Nano> } {
  const record = isRecord(resources) ? resources : {};
  const limits = amounts(subject, "limits", record.limits);
  const requests = amounts(subject, "requests", record.requests);
  for (const [resource, amount] of limits) if (!requests.has(resource)) requests.set(resource, amount);
  return { requests, limits };
}

function amounts(subject: string, field: string, value: unknown): Map<string, Nano> {
  const result = new Map<string, Nano>();
  if (!isRecord(value)) return result;
  for (const [resource, quantity] of Object.entries(value)) {
    const amount = isQuantity(quantity) ? parseQuantity(quantity) : -1n;
    if (amount < 0n) {
      throw new UnreadableDemand(
        `${subject}: ${field}.${resource} is ${JSON.stringify(quantity)}, which is not a quantity of a resource`,
      );
    }
    result.set(resource, amount);
  }
  return result;
}

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
