import type { NodeCondition } from "kubernetes-types/core/v1";

import { isQuantity, parseQuantity } from "../../api/quantity";

/** What the conditions of a virtual node follow from. */
export interface NodeFacts {
  allocatable: Record<string, string>;
  /** Whether the clusters are connected; absent where pods need no network between the clusters, or where it is not checked. */
  networkReady?: boolean;
}

interface Wording {
  reason: string;
  message: string;
}

const READY: Record<"True" | "False", Wording> = {
  True: { reason: "KubeletReady", message: "The Liqo Virtual Kubelet is posting ready status" },
  False: { reason: "KubeletNotReady", message: "The Liqo Virtual Kubelet is currently not ready" },
};
const ENOUGH = "The remote cluster is advertising sufficient resources";
const NOT_ENOUGH = "The remote cluster is advertising no/insufficient resources";
const PRESSURES: Record<string, Record<"True" | "False", Wording>> = {
  MemoryPressure: {
    True: { reason: "RemoteClusterHasMemoryPressure", message: NOT_ENOUGH },
    False: { reason: "RemoteClusterHasSufficientMemory", message: ENOUGH },
  },
  DiskPressure: {
    True: { reason: "RemoteClusterHasDiskPressure", message: NOT_ENOUGH },
    False: { reason: "RemoteClusterHasNoDiskPressure", message: ENOUGH },
  },
  PIDPressure: {
    True: { reason: "RemoteClusterHasPIDPressure", message: NOT_ENOUGH },
    False: { reason: "RemoteClusterHasNoPIDPressure", message: ENOUGH },
  },
};
const NETWORK: Record<"True" | "False", Wording> = {
  True: { reason: "LiqoNetworkingDown", message: "The Liqo cluster interconnection is down" },
  False: { reason: "LiqoNetworkingUp", message: "The Liqo cluster interconnection is established" },
};

/** The conditions of a virtual node (offloading reference 7.3), without times. */
export function nodeConditions(facts: NodeFacts): NodeCondition[] {
  const resourcesReady = isPositive(facts.allocatable.cpu) && isPositive(facts.allocatable.memory);
  const conditions = [condition("Ready", resourcesReady && (facts.networkReady ?? true), READY)];
  for (const [type, wording] of Object.entries(PRESSURES))
    conditions.push(condition(type, !resourcesReady, wording));
  if (facts.networkReady !== undefined) {
    conditions.push(condition("NetworkUnavailable", !facts.networkReady, NETWORK));
  }
  return conditions;
}

function condition(type: string, holds: boolean, wording: Record<"True" | "False", Wording>): NodeCondition {
  const status = holds ? "True" : "False";
  return { type, status, ...wording[status] };
}

function isPositive(quantity: string | undefined): boolean {
  return quantity !== undefined && isQuantity(quantity) && parseQuantity(quantity) > 0n;
}

/** Types that are ours; others (of a problem detector, say) are left alone. */
export const OWN_CONDITIONS = ["Ready", ...Object.keys(PRESSURES), "NetworkUnavailable"];
