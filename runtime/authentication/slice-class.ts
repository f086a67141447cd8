import { EventReason, type ResourceSlice, type StorageClass, WellKnownAnnotation } from "../api";
import { type Clock, conditionStatus, type EventRecorder } from "../kube";

/** A class that a provider offers, as named in `--ingress-classes` and `--load-balancer-classes`. */
export interface OfferedClass {
  name: string;
  default: boolean;
}

/**
 * Reads `nginx;default,traefik`: names separated by commas, the default one marked. The order is kept.
 *
 * @throws Error naming the faulty entry.
 */
export function parseClassList(text: string): OfferedClass[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [name = "", mark, ...rest] = entry.split(";").map((part) => part.trim());
      if (name === "" || rest.length > 0 || (mark !== undefined && mark !== "default")) {
        throw new Error(`class "${entry}" is not of the form NAME or NAME;default`);
      }
      return { name, default: mark === "default" };
    });
}

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
    resources: { ...options.defaultResources, ...amountsAsText(requested) },
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

/** Amounts as text: in a slice they may be numbers too. */
export function amountsAsText(resources: ResourceSlice["spec"]["resources"]): Record<string, string> {
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

/** How long a provider's own controller of a class may take to answer before an event reports it missing, in milliseconds. */
const ANSWER_WITHIN_MS = 5_000;

/** Whether a slice has credentials and waits for a controller of its class, which is not ours (control plane reference 10.2). */
export function awaitsItsClass({ spec, status }: ResourceSlice): boolean {
  return (
    !isDefaultClass(spec.class) &&
    conditionStatus(status?.conditions, "Authentication") === "Accepted" &&
    conditionStatus(status?.conditions, "Resources") === undefined &&
    Object.keys(status?.resources ?? {}).length === 0
  );
}

/**
 * Reports by an event that no controller answers a slice. Its status belongs to the controller of its class, which may still come.
 *
 * @returns after how many milliseconds to check again, where it is too early to tell; undefined otherwise
 */
export function tellUnservedClass(
  slice: ResourceSlice,
  { clock, events }: { clock: Clock; events: Pick<EventRecorder, "warning"> },
  wayOut: string,
): number | undefined {
  if (!awaitsItsClass(slice)) return undefined;
  const accepted = slice.status?.conditions?.find(
    ({ type }) => type === "Authentication",
  )?.lastTransitionTime;
  const since = Math.max(
    ...[slice.metadata.creationTimestamp, accepted].map((time) => Date.parse(time ?? "") || 0),
  );
  const remaining = Math.min(since + ANSWER_WITHIN_MS - clock.now(), ANSWER_WITHIN_MS);
  if (remaining > 0) return remaining;
  events.warning(
    slice,
    EventReason.classNotServed,
    `spec.class: nobody has answered class "${slice.spec.class ?? ""}": ${wayOut}`,
  );
  return undefined;
}
