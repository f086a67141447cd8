import type { Affinity, NodeAffinity, PodAntiAffinity } from "kubernetes-types/core/v1";

import { Annotation } from "../../api/keys";

const HOSTNAME_TOPOLOGY = "kubernetes.io/hostname";

/** Labels that differ between pods that belong together. */
const VARYING_LABELS = [
  "controller-revision-hash",
  "pod-template-hash",
  "statefulset.kubernetes.io/pod-name",
];

interface PodForAffinity {
  annotations?: Record<string, string>;
  /** The local pod's; only its pod anti-affinity can cross, and only on demand. */
  affinity?: Affinity;
  /** The labels that the remote pod gets. */
  remoteLabels: Record<string, string>;
}

/**
 * The affinity of a remote pod: the node affinity that the virtual node imposes, and the anti-affinity that the pod asks for by annotation
 * (offloading reference 11.5). The local affinity itself is about the consumer's nodes and stays at home.
 */
export function remoteAffinity(pod: PodForAffinity, imposed: NodeAffinity | undefined): Affinity | undefined {
  const podAntiAffinity = presetAntiAffinity(pod);
  if (imposed === undefined && podAntiAffinity === undefined) return undefined;
  return {
    ...(imposed === undefined ? {} : { nodeAffinity: imposed }),
    ...(podAntiAffinity === undefined ? {} : { podAntiAffinity }),
  };
}

function presetAntiAffinity({
  annotations,
  affinity,
  remoteLabels,
}: PodForAffinity): PodAntiAffinity | undefined {
  const matchLabels = () => antiAffinityLabels(remoteLabels, annotations?.[Annotation.antiAffinityLabels]);
  switch (annotations?.[Annotation.antiAffinityPreset]) {
    case "propagate":
      return affinity?.podAntiAffinity;
    case "soft":
      return {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: {
              topologyKey: HOSTNAME_TOPOLOGY,
              labelSelector: { matchLabels: matchLabels() },
            },
          },
        ],
      };
    case "hard":
      return {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: HOSTNAME_TOPOLOGY, labelSelector: { matchLabels: matchLabels() } },
        ],
      };
    default:
      return undefined;
  }
}

/** The labels that pods to keep apart share: those asked for, or all but the ones that vary within a workload. */
function antiAffinityLabels(
  labels: Record<string, string>,
  asked: string | undefined,
): Record<string, string> {
  const wanted = asked
    ?.split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "");
  return Object.fromEntries(
    Object.entries(labels).filter(([key]) =>
      wanted === undefined || wanted.length === 0 ? !VARYING_LABELS.includes(key) : wanted.includes(key),
    ),
  );
}
