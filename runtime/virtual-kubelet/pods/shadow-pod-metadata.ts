import { Label } from "../../api/keys";
import {
  type NotReflected,
  reflectionLabels,
  type ReflectionPair,
  without,
} from "../reflection/reflected-metadata";
import { type RemoteMetadata, withSourceRecord } from "../reflection/source-record";

interface LocalPod {
  uid: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** Labels that say something about the local pod alone. */
const LOCAL_LABELS = [Label.shadowPod, Label.remoteUnavailable];

/** Labels and annotations of the ShadowPod of a local pod (offloading reference 11.3). */
export function shadowPodMetadata(
  pod: LocalPod,
  nodeName: string,
  notReflected: NotReflected,
  pair: ReflectionPair,
): RemoteMetadata {
  const labels = without(
    { ...without(pod.labels, LOCAL_LABELS), [Label.reflectionNodeName]: nodeName },
    notReflected.labels,
  );
  return withSourceRecord(pod.uid, {
    labels: { ...labels, ...reflectionLabels(pair) },
    annotations: without(pod.annotations, notReflected.annotations),
  });
}
