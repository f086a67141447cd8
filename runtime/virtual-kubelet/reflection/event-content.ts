import type { EventSource, ObjectReference } from "kubernetes-types/core/v1";

import { ShadowPod } from "../../api";
import type { Event } from "../../api/kubernetes";
import { defined } from "../pods/defined";

/** Kinds whose remote events are shown on the local object of that name, by `apiVersion/kind` (offloading reference 10.6). */
const KINDS = new Map<string, LocalSubject["kind"]>([
  ["v1/ConfigMap", "ConfigMap"],
  ["v1/Secret", "Secret"],
  ["v1/Service", "Service"],
  ["v1/PersistentVolumeClaim", "PersistentVolumeClaim"],
  ["v1/Pod", "Pod"],
  ["discovery.k8s.io/v1/EndpointSlice", "EndpointSlice"],
  ["networking.k8s.io/v1/Ingress", "Ingress"],
  [`${ShadowPod.apiVersion}/${ShadowPod.kind}`, "Pod"],
]);

/** The local object that a remote event is about. */
export interface LocalSubject {
  kind: "ConfigMap" | "Secret" | "Service" | "PersistentVolumeClaim" | "Pod" | "EndpointSlice" | "Ingress";
  name: string;
}

/** Undefined where an event is of no interest here. */
export function subjectOf(event: Event): LocalSubject | undefined {
  const { apiVersion = "", kind = "", name } = event.involvedObject;
  const subject = KINDS.get(`${apiVersion}/${kind}`);
  if (subject === undefined || !name) return undefined;
  return { kind: subject, name };
}

/** What a local copy has beside its metadata. */
export function localEventContent(
  event: Event,
  subject: { apiVersion: string; kind: string; name: string; namespace: string; uid: string },
): Omit<Event, "apiVersion" | "kind" | "metadata"> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, involvedObject, ...rest } = event;
  return {
    ...rest,
    source: remoteSource(event),
    involvedObject: localReference(involvedObject, subject),
  };
}

function remoteSource({ source, reportingComponent }: Event): EventSource {
  const component = source?.component || reportingComponent || "unknown";
  return { ...source, component: `${component} (remote)` };
}

function localReference(
  remote: ObjectReference,
  {
    apiVersion,
    kind,
    name,
    namespace,
    uid,
  }: { apiVersion: string; kind: string; name: string; namespace: string; uid: string },
): ObjectReference {
  return defined({ apiVersion, kind, name, namespace, uid, fieldPath: remote.fieldPath });
}

/** How long API servers keep events by default is an hour; what is nearly that old has expired rather than been deleted, as its copy will. */
const NEARLY_EXPIRED_MS = 50 * 60_000;

/** Whether an event is old enough that its disappearance needs no answer. */
export function isExpired({ lastTimestamp, eventTime, firstTimestamp }: Event, now: number): boolean {
  const at = Date.parse(lastTimestamp ?? eventTime ?? firstTimestamp ?? "");
  return Number.isFinite(at) && now - at >= NEARLY_EXPIRED_MS;
}
