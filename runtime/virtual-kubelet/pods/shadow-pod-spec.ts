import type {
  Container,
  NodeAffinity,
  PodSpec,
  ResourceRequirements,
  Toleration,
} from "kubernetes-types/core/v1";

import { Annotation, Name, VIRTUAL_NODE_TAINT } from "../../api/keys";
import type { WholePodSpec } from "../../api";
import { type ApiServerOffer, withApiServer } from "./api-server-support";
import { defined } from "./defined";
import { withoutDefaults } from "./pod-defaults";
import { remoteAffinity } from "./remote-affinity";

/** What a VirtualNode changes in the pods it runs (`spec.offloadingPatch`). */
export interface OffloadingPatch {
  annotationsNotReflected?: readonly string[];
  labelsNotReflected?: readonly string[];
  nodeSelector?: Record<string, string>;
  tolerations?: readonly Toleration[];
  affinity?: { nodeAffinity?: NodeAffinity };
  runtimeClassName?: string;
}

/** What the spec of a remote pod depends on besides the local pod. */
export interface SpecContext {
  consumerId: string;
  offloadingPatch?: OffloadingPatch;
  apiServer: ApiServerOffer;
}

interface LocalPod {
  name: string;
  annotations?: Record<string, string>;
  spec: PodSpec;
  /** The labels that the remote pod gets. */
  remoteLabels: Record<string, string>;
}

/**
 * The spec of the pod that runs at the provider in place of a local one (offloading reference 11.4 to 11.6). What places the local pod
 * (node, affinity, scheduler, priority) stays at home; host namespaces are never used, which is what a spec without them means. What the
 * provider's API server fills in by itself is left out: a ShadowPod is stored, checked and watched as often as its pod.
 */
export function shadowPodSpec(pod: LocalPod, context: SpecContext): WholePodSpec {
  const { spec, annotations } = pod;
  const { offloadingPatch: patch } = context;
  const copied = copiedFields(spec);
  const adapted = withApiServer(
    copied,
    { name: pod.name, annotations, serviceAccountName: spec.serviceAccountName },
    context.apiServer,
    context.consumerId,
  );
  const remote = defined({
    ...copied,
    ...adapted,
    nodeSelector: patch?.nodeSelector,
    tolerations: remoteTolerations(spec.tolerations, patch?.tolerations),
    affinity: remoteAffinity(
      { annotations, affinity: spec.affinity, remoteLabels: pod.remoteLabels },
      patch?.affinity?.nodeAffinity,
    ),
    runtimeClassName: remoteRuntimeClass(annotations, spec.runtimeClassName, patch?.runtimeClassName),
  });
  return withoutDefaults(remote);
}

/** The fields that mean the same at the provider. */
function copiedFields(spec: WholePodSpec): WholePodSpec {
  return {
    activeDeadlineSeconds: spec.activeDeadlineSeconds,
    containers: spec.containers.map(withoutClaims),
    dnsConfig: spec.dnsConfig,
    dnsPolicy: spec.dnsPolicy,
    enableServiceLinks: spec.enableServiceLinks,
    hostAliases: spec.hostAliases,
    // Without it root in the pod is root on the node.
    hostUsers: spec.hostUsers,
    hostname: spec.hostname,
    imagePullSecrets: spec.imagePullSecrets,
    initContainers: spec.initContainers?.map(withoutClaims),
    resources: spec.resources && resourcesWithoutClaims(spec.resources),
    restartPolicy: spec.restartPolicy,
    securityContext: spec.securityContext,
    setHostnameAsFQDN: spec.setHostnameAsFQDN,
    shareProcessNamespace: spec.shareProcessNamespace,
    subdomain: spec.subdomain,
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
    topologySpreadConstraints: spec.topologySpreadConstraints,
    volumes: spec.volumes,
  };
}

/** Claims of dynamic resources are made at home, where the remote scheduler cannot see them. */
function withoutClaims(container: Container): Container {
  if (container.resources?.claims === undefined) return container;
  return { ...container, resources: resourcesWithoutClaims(container.resources) };
}

function resourcesWithoutClaims({ claims: _, ...resources }: ResourceRequirements): ResourceRequirements {
  return resources;
}

/** The toleration of virtual nodes does not cross, or the provider could offload the pod further. */
function remoteTolerations(
  own: readonly Toleration[] | undefined,
  imposed: readonly Toleration[] | undefined,
): Toleration[] | undefined {
  const tolerations = [
    ...(own ?? []).filter(({ key }) => key !== VIRTUAL_NODE_TAINT.key),
    ...(imposed ?? []),
  ];
  return tolerations.length === 0 ? undefined : tolerations;
}

/** The first class that is named; the one named `liqo` only brings pods onto virtual nodes. */
function remoteRuntimeClass(
  annotations: Record<string, string> | undefined,
  own: string | undefined,
  imposed: string | undefined,
): string | undefined {
  const candidates = [annotations?.[Annotation.remoteRuntimeClassName], unlessLiqo(own), unlessLiqo(imposed)];
  return candidates.find((name) => name !== undefined && name !== "");
}

function unlessLiqo(name: string | undefined): string | undefined {
  return name === Name.runtimeClass ? undefined : name;
}
