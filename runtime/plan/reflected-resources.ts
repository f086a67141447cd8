import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { rule } from "./rbac/manifests";

/** API group and plural of a resource. */
type Resource = readonly [apiGroup: string, plural: string];

/** What the virtual kubelet needs to reflect one kind. */
export interface ReflectedRights {
  /** Whether a policy (`DenyList` or `AllowList`) decides which objects are reflected. */
  readonly policy?: true;
  /** What it reads in an offloaded namespace of the consumer. Absent: nothing beyond its rights in all of the cluster. */
  readonly read?: Resource;
  /** What it writes in the namespace at the provider. Absent: nothing. */
  readonly written?: Resource;
}

/**
 * Every kind that is reflected between the clusters, in the order of the arguments of upstream's virtual kubelet. Roles, flags, arguments, metrics and
 * events follow from this list; the compiler asks for the flags and the reflection of a kind that is added here.
 */
export const REFLECTED_RESOURCES = {
  Pod: { written: ["offloading.liqo.io", "shadowpods"] },
  Service: { policy: true, read: ["", "services"], written: ["", "services"] },
  EndpointSlice: {
    read: ["discovery.k8s.io", "endpointslices"],
    written: ["offloading.liqo.io", "shadowendpointslices"],
  },
  Ingress: {
    policy: true,
    read: ["networking.k8s.io", "ingresses"],
    written: ["networking.k8s.io", "ingresses"],
  },
  ConfigMap: { policy: true, read: ["", "configmaps"], written: ["", "configmaps"] },
  Secret: { policy: true, read: ["", "secrets"], written: ["", "secrets"] },
  // Tokens of service accounts are written as Secrets.
  ServiceAccount: {},
  PersistentVolumeClaim: { read: ["", "persistentvolumeclaims"], written: ["", "persistentvolumeclaims"] },
  // Events come from the provider.
  Event: { policy: true, written: ["", "events"] },
} as const satisfies Record<string, ReflectedRights>;

/** What is reflected, as metrics and events call it. */
export type ReflectedResource = keyof typeof REFLECTED_RESOURCES;

/** Kinds of which a policy says what is reflected. */
export type ResourceWithPolicy = {
  [R in ReflectedResource]: (typeof REFLECTED_RESOURCES)[R] extends { policy: true } ? R : never;
}[ReflectedResource];

/** @returns the entry of {@link REFLECTED_RESOURCES}, in the type of every entry */
export function reflectedRights(resource: ReflectedResource): ReflectedRights {
  return REFLECTED_RESOURCES[resource];
}

/** Rules for what is read at the consumer or written at the provider: one for each API group, groups and resources sorted. */
export function reflectedRules(side: "read" | "written", verbs: string[]): PolicyRule[] {
  const byGroup = new Map<string, string[]>();
  const resources = Object.values<ReflectedRights>(REFLECTED_RESOURCES).flatMap((rights) => {
    const resource = rights[side];
    return resource === undefined ? [] : [resource];
  });
  for (const [group, plural] of resources.sort()) {
    byGroup.set(group, [...(byGroup.get(group) ?? []), plural]);
  }
  return [...byGroup].map(([group, plurals]) => rule(group, plurals, verbs));
}
