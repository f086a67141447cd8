import { EventReason, type ResourceSlice } from "../api";
import { type Clock, conditionStatus, type EventRecorder } from "../kube";
import { isDefaultClass } from "./default-class";

/** How long a provider's own controller of a class may take before anybody is told that nobody answers, in milliseconds. */
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
 * Tells by an event that nobody answers a slice; its status is for the controller of its class alone, which may still come.
 *
 * @returns after how many milliseconds to look again, where it is too early to tell; undefined otherwise
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
