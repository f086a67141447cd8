import { Label } from "../../api/keys";

/** The two clusters that an object is reflected between. */
export interface ReflectionPair {
  /** Consumer. */
  origin: string;
  /** Provider. */
  destination: string;
}

/** Keys that stay at home (`labelsNotReflected` and `annotationsNotReflected` of the offloading patch). */
export interface NotReflected {
  labels: readonly string[];
  annotations: readonly string[];
}

interface Labelled {
  metadata: { labels?: Record<string, string> };
}

/** The labels that mark an object as reflected from one cluster to the other. */
export function reflectionLabels({ origin, destination }: ReflectionPair): Record<string, string> {
  return { [Label.reflectionOrigin]: origin, [Label.reflectionDestination]: destination };
}

/** The same as a selector, for watches. */
export function reflectionSelector({ origin, destination }: ReflectionPair): string {
  return `${Label.reflectionOrigin}=${origin},${Label.reflectionDestination}=${destination}`;
}

/** Whether an object was reflected from this consumer to this provider; others of the same name are left alone. */
export function isReflected(
  { metadata: { labels } }: Labelled,
  { origin, destination }: ReflectionPair,
): boolean {
  return labels?.[Label.reflectionOrigin] === origin && labels[Label.reflectionDestination] === destination;
}

/** A map without the keys that stay at home. */
export function without(
  map: Record<string, string> | undefined,
  keys: readonly string[],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(map ?? {})) if (!keys.includes(key)) kept[key] = value;
  return kept;
}
