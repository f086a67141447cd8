import { Label, LabelValue, Pod, ShadowPod } from "../api";
import { type Informer, type InformerSet, sameMap, type SourceEvent } from "../kube";
import { isTerminal } from "./shadow-pod-phase";

/** The pods of ShadowPods; of each, what their controllers read. */
export function shadowedPods(informers: InformerSet): Informer<Pod> {
  return informers.informer(Pod, {
    labelSelector: `${Label.managedBy}=${LabelValue.managedByShadowPod}`,
    project: relevantOfPod,
  });
}

/** ShadowPods, with their spec for as long as a pod may have to be made from it without delay. */
export function shadowPods(informers: InformerSet): Informer<ShadowPod> {
  return informers.informer(ShadowPod, { project: withoutUsedSpec });
}

function relevantOfPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, labels, annotations, ownerReferences, deletionTimestamp } =
    metadata;
  const disruption = status?.conditions?.filter(({ type }) => type === "DisruptionTarget");
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      labels,
      annotations,
      ownerReferences,
      deletionTimestamp,
    },
    spec: { containers: [], restartPolicy: spec.restartPolicy, nodeName: spec.nodeName },
    status: { phase: status?.phase, conditions: disruption },
  };
}

/** The spec is most of a ShadowPod, and once the pod runs it is needed only to make the pod anew, which may cost a request. */
function withoutUsedSpec(shadowPod: ShadowPod): ShadowPod {
  const phase = shadowPod.status?.phase;
  return phase === "Running" || isTerminal(phase) ? { ...shadowPod, spec: {} } : shadowPod;
}

/** For sources: something of a pod changed that its ShadowPod's controller reads. Kubelets write more often than that. */
export function podChanged(event: SourceEvent<Pod>): boolean {
  if (event.type !== "updated") return true;
  const [before, after] = [event.before, event.object];
  return (
    before.metadata.uid !== after.metadata.uid ||
    before.status?.phase !== after.status?.phase ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    before.status?.conditions?.length !== after.status?.conditions?.length ||
    !sameMap(before.metadata.labels, after.metadata.labels) ||
    !sameMap(before.metadata.annotations, after.metadata.annotations)
  );
}
