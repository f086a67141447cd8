import type { ContainerImage, NodeAffinity, Taint, Toleration } from "kubernetes-types/core/v1";

import type { VirtualNode } from "../../api";
import { readFlags, splitCommandLine } from "../../component/command-line";
import type { NotReflected } from "../reflection/reflected-metadata";
import { type NodeFlags, nodeFlags } from "./flags";

/** What a VirtualNode changes in the pods it runs (`spec.offloadingPatch`). */
export interface OffloadingPatch {
  annotationsNotReflected?: readonly string[];
  labelsNotReflected?: readonly string[];
  nodeSelector?: Record<string, string>;
  tolerations?: readonly Toleration[];
  affinity?: { nodeAffinity?: NodeAffinity };
  runtimeClassName?: string;
}

/** What a VirtualNode and its flags say about a virtual node. */
export interface NodeSettings {
  /** Name of the Node. */
  name: string;
  /** Tenant namespace of the provider. */
  namespace: string;
  /** Provider. */
  clusterId: string;
  /** Secret with the kubeconfig, in the tenant namespace. */
  kubeconfigSecret: string;
  createNode: boolean;
  /** Whether the node is ready only while the clusters are connected. */
  checkNetwork: boolean;
  resources: Record<string, string>;
  images: readonly ContainerImage[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  taints: readonly Taint[];
  offloadingPatch: OffloadingPatch | undefined;
  notReflected: NotReflected;
  /** Classes at the provider; absent where the provider offers none. */
  storageClass: string | undefined;
  ingressClass: string | undefined;
  loadBalancerClass: string | undefined;
  flags: NodeFlags;
}

/** Reads a VirtualNode. Classes are read from the spec, so that a change of them takes effect; the rest of the flags from the template. */
export function nodeSettings(node: VirtualNode, defaults: NodeFlags): NodeSettings {
  const { metadata, spec } = node;
  const flags = flagsOf(node, defaults);
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? "",
    clusterId: spec.clusterID ?? "",
    kubeconfigSecret: spec.kubeconfigSecretRef?.name ?? "",
    createNode: spec.createNode ?? true,
    checkNetwork: spec.disableNetworkCheck !== true,
    resources: spec.resourceQuota?.hard ?? {},
    images: spec.images ?? [],
    labels: { ...flags.nodeExtraLabels, ...spec.labels },
    annotations: { ...flags.nodeExtraAnnotations, ...spec.annotations },
    taints: spec.taints ?? [],
    offloadingPatch: spec.offloadingPatch,
    notReflected: {
      labels: spec.offloadingPatch?.labelsNotReflected ?? [],
      annotations: spec.offloadingPatch?.annotationsNotReflected ?? [],
    },
    storageClass: preferred(spec.storageClasses)?.storageClassName,
    ingressClass: preferred(spec.ingressClasses)?.ingressClassName,
    loadBalancerClass: preferred(spec.loadBalancerClasses)?.loadBalancerClassName,
    flags,
  };
}

/** The class marked as default, or the first. */
function preferred<Class extends { default?: boolean }>(
  classes: readonly Class[] | undefined,
): Class | undefined {
  return classes?.find((one) => one.default === true) ?? classes?.[0];
}

/** Flags that the template names; for the others, those of the process. A flag that cannot be read counts as not given. */
function flagsOf({ spec }: VirtualNode, defaults: NodeFlags): NodeFlags {
  const args = spec.template?.spec?.template.spec?.containers?.[0]?.args ?? [];
  const flags: NodeFlags = { ...defaults };
  for (const argument of args) {
    try {
      const line = splitCommandLine(["virtual-kubelet", argument]);
      const [name] = line.flags.keys();
      const key = keys.get(name ?? "");
      if (key === undefined) continue;
      const given = readFlags(line, nodeFlags)[key];
      Object.assign(flags, { [key]: typeof given === "number" ? workers(given, defaults[key]) : given });
    } catch {
      // an argument of upstream's that means nothing here, or a value that is none
    }
  }
  return flags;
}

/** Upstream's templates give numbers that suit its rate limit; what they can say here is no more than on or off. */
function workers(given: number, ours: unknown): number {
  return given === 0 || typeof ours !== "number" ? given : Math.max(given, ours);
}

const keys = new Map(
  Object.keys(nodeFlags.shape).map((key) => [
    key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    key as keyof NodeFlags,
  ]),
);
