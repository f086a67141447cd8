import { type ResourceSlice, type StorageClass, WellKnownAnnotation } from "../api";
import type { OfferedClass } from "./class-list";

/** What the provider's administrator has set about granting resources. */
export interface DefaultClassOptions {
  /** Whether the classes `default` and empty are granted by us at all. */
  enabled: boolean;
  /** Granted where a slice does not ask for an amount of its own. */
  defaultResources: Readonly<Record<string, string>>;
  /** Labels of this cluster, for the virtual nodes that stand for it. */
  clusterLabels: Readonly<Record<string, string>>;
  ingressClasses: readonly OfferedClass[];
  loadBalancerClasses: readonly OfferedClass[];
  storageEnabled: boolean;
  /** Storage class offered as the default one; empty: those that Kubernetes has as default. */
  realStorageClassName: string;
}

type Status = NonNullable<ResourceSlice["status"]>;
export type Grant = Pick<
  Status,
  "resources" | "storageClasses" | "ingressClasses" | "loadBalancerClasses" | "nodeLabels"
>;

/** Whether slices of a class are granted by the built-in class. */
export function isDefaultClass(name: string | undefined): boolean {
  return name === undefined || name === "" || name === "default";
}

/**
 * What the built-in class grants (control plane reference 10.2): all that is asked for, and the defaults for the rest. What a slice no
 * longer asks for is no longer granted.
 */
export function grantDefaultClass(
  requested: ResourceSlice["spec"]["resources"],
  options: DefaultClassOptions,
  storageClasses: readonly StorageClass[],
): Grant {
  return {
    resources: { ...options.defaultResources, ...canonical(requested) },
    storageClasses: options.storageEnabled
      ? offeredStorage(storageClasses, options.realStorageClassName)
      : [],
    ingressClasses: options.ingressClasses.map((offered) => ({
      ingressClassName: offered.name,
      ...mark(offered.default),
    })),
    loadBalancerClasses: options.loadBalancerClasses.map((offered) => ({
      loadBalancerClassName: offered.name,
      ...mark(offered.default),
    })),
    nodeLabels: { ...options.clusterLabels },
  };
}

/** Quantities may be written as numbers; as grants they are text. */
function canonical(resources: ResourceSlice["spec"]["resources"]): Record<string, string> {
  return Object.fromEntries(Object.entries(resources ?? {}).map(([name, amount]) => [name, String(amount)]));
}

function offeredStorage(classes: readonly StorageClass[], realName: string) {
  return classes
    .map((storageClass) => ({
      storageClassName: storageClass.metadata.name,
      ...mark(
        realName === ""
          ? storageClass.metadata.annotations?.[WellKnownAnnotation.defaultStorageClass] === "true"
          : storageClass.metadata.name === realName,
      ),
    }))
    .sort((left, right) => (left.storageClassName < right.storageClassName ? -1 : 1));
}

function mark(isDefault: boolean): { default?: true } {
  return isDefault ? { default: true } : {};
}
