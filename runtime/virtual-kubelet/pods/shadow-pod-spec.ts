import type {
  Affinity,
  Container,
  NodeAffinity,
  PodAntiAffinity,
  PodSpec,
  Probe,
  ResourceRequirements,
  Toleration,
  Volume,
} from "kubernetes-types/core/v1";

import type { WholePodSpec } from "../../api";
import { Annotation, Name, VIRTUAL_NODE_TAINT } from "../../api/keys";
import { defined } from "../reflection/reflected-metadata";
import type { OffloadingPatch } from "../settings/node-settings";
import { type ApiServerOffer, withApiServer } from "./api-server-access";

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
 * (node, affinity, scheduler, priority) stays at home, and host namespaces are never used. Values that the provider's API server fills in by itself are
 * left out, because a ShadowPod is stored, validated and watched as often as its pod.
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
    // Without it, root in the pod is root on the node.
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

/**
 * A pod spec without the values that every API server fills in where nothing is given (the defaults of `core/v1`). Kubernetes never changes
 * a default of a stable version, so the pod is the same.
 */
export function withoutDefaults(spec: WholePodSpec): WholePodSpec {
  const lean = without(spec, {
    dnsPolicy: "ClusterFirst",
    enableServiceLinks: true,
    hostUsers: true,
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
  });
  if (isEmpty(spec.securityContext)) delete lean.securityContext;
  if (isEmpty(spec.resources)) delete lean.resources;
  lean.containers = spec.containers.map(leanContainer);
  if (spec.initContainers !== undefined) lean.initContainers = spec.initContainers.map(leanContainer);
  if (spec.volumes !== undefined) lean.volumes = spec.volumes.map(leanVolume);
  return lean;
}

/** The pull policy stays: its default depends on the image. */
function leanContainer(container: Container): Container {
  const lean = without(container, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
  if (isEmpty(container.resources)) delete lean.resources;
  if (container.ports !== undefined)
    lean.ports = container.ports.map((port) => without(port, { protocol: "TCP" }));
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"] as const) {
    const given = container[probe];
    if (given !== undefined) lean[probe] = leanProbe(given);
  }
  return lean;
}

function leanProbe(probe: Probe): Probe {
  const lean = without(probe, {
    failureThreshold: 3,
    periodSeconds: 10,
    successThreshold: 1,
    timeoutSeconds: 1,
  });
  if (probe.httpGet !== undefined) lean.httpGet = without(probe.httpGet, { scheme: "HTTP" });
  return lean;
}

/** 420 is 0644. */
const FILE_MODE = { defaultMode: 420 };

function leanVolume(volume: Volume): Volume {
  const lean = { ...volume };
  if (volume.configMap !== undefined) lean.configMap = without(volume.configMap, FILE_MODE);
  if (volume.downwardAPI !== undefined) lean.downwardAPI = without(volume.downwardAPI, FILE_MODE);
  if (volume.projected !== undefined) lean.projected = without(volume.projected, FILE_MODE);
  if (volume.secret !== undefined) lean.secret = without(volume.secret, FILE_MODE);
  return lean;
}

/** A copy without the fields that have the value given here. */
function without<T extends object>(value: T, defaults: { readonly [Key in keyof T]?: T[Key] }): T {
  const lean = { ...value };
  for (const key of Object.keys(defaults) as (keyof T)[]) if (lean[key] === defaults[key]) delete lean[key];
  return lean;
}

function isEmpty(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length === 0;
}
