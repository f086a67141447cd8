import type { PodSpec } from "kubernetes-types/core/v1";

import { type Configuration, type Desired, Label, LabelValue, type Pod, type ShadowPod } from "../api";
import { controlledBy } from "../kube";
import { mapAddress } from "../networking/address-mapping";

type Strings = Readonly<Record<string, string>>;

/** By labels of this group pods are known to the network here, as the gateway to a peer for one. */
const NETWORK_LABELS = "networking.liqo.io/";

/** Labels of the pod of a ShadowPod: none by which it would be taken for a part of this cluster's network. */
export function podLabels(shadowPod: ShadowPod): Record<string, string> {
  const labels = Object.entries(shadowPod.metadata.labels ?? {});
  return {
    ...Object.fromEntries(labels.filter(([key]) => !key.startsWith(NETWORK_LABELS))),
    [Label.managedBy]: LabelValue.managedByShadowPod,
  };
}

/**
 * The pod that a ShadowPod stands for, in one request. It belongs to the ShadowPod, so that it goes with it.
 *
 * @see offloading reference 12.1
 */
export function desiredPod(shadowPod: ShadowPod, spec: NonNullable<ShadowPod["spec"]["pod"]>): Desired<Pod> {
  const { name, namespace, annotations } = shadowPod.metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: podLabels(shadowPod),
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controlledBy(shadowPod)],
    },
    spec,
  };
}

/** Name by which offloaded pods call the API server of the cluster they come from. */
const HOME_API_SERVER = "kubernetes.default";

/**
 * A pod's spec in which the aliases of its home API server have an address that this cluster reaches: the consumer only knows the one by which it
 * reaches itself. Without a Configuration the clusters share no network, and an alias of that name is the pod's own business.
 *
 * @param configurationOf the Configuration of a peer; called only where the pod has such an alias
 * @throws Error while the networks of the consumer have no place here yet
 * @see offloading reference 12.1 and 12.4
 */
export function withReachableHome(
  spec: PodSpec,
  consumer: string,
  configurationOf: (cluster: string) => Configuration | undefined,
): PodSpec {
  const { hostAliases = [] } = spec;
  if (!hostAliases.some(isHome)) return spec;
  const configuration = configurationOf(consumer);
  if (configuration === undefined) return spec;
  return {
    ...spec,
    hostAliases: hostAliases.map((alias) =>
      isHome(alias) && alias.ip !== undefined ? { ...alias, ip: mapAddress(alias.ip, configuration) } : alias,
    ),
  };
}

function isHome({ hostnames = [] }: { hostnames?: readonly string[] }): boolean {
  return hostnames.includes(HOME_API_SERVER);
}

/** Keys to set, and with null to remove. */
export type StringsPatch = Record<string, string | null>;

/** What makes `current` say all that `desired` says; keys that others added stay. Undefined when nothing has to change. */
export function additions(
  current: Strings | undefined,
  desired: Strings | undefined,
): StringsPatch | undefined {
  const patch: StringsPatch = {};
  for (const [key, value] of Object.entries(desired ?? {})) if (current?.[key] !== value) patch[key] = value;
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Keys of `current` that `desired` does not have. */
export function surplus(current: Strings | undefined, desired: Strings | undefined): string[] {
  return Object.keys(current ?? {}).filter((key) => desired?.[key] === undefined);
}

/**
 * Labels and annotations that the creator of a pod wrote, by the record of the API server: of those that a ShadowPod no longer has, only these
 * may be removed, for the others are the provider's own.
 *
 * @param uid the ShadowPod's; whoever made the pod wrote the owner reference with it
 */
export function writtenByCreator(
  managedFields: readonly Record<string, unknown>[] | undefined,
  uid: string,
): { labels: ReadonlySet<string>; annotations: ReadonlySet<string> } {
  const metadataOf = (entry: Record<string, unknown>) => fieldOf(fieldOf(entry, "fieldsV1"), "f:metadata");
  const entries = managedFields ?? [];
  const creators = new Set(
    entries
      .filter((entry) => {
        const owners = fieldOf(metadataOf(entry), "f:ownerReferences");
        return Object.keys(owners).some((key) => key.startsWith("k:") && key.includes(`"uid":"${uid}"`));
      })
      .map((entry) => entry.manager),
  );
  const labels = new Set<string>();
  const annotations = new Set<string>();
  for (const entry of entries) {
    if (!creators.has(entry.manager)) continue;
    for (const key of keysOf(fieldOf(metadataOf(entry), "f:labels"))) labels.add(key);
    for (const key of keysOf(fieldOf(metadataOf(entry), "f:annotations"))) annotations.add(key);
  }
  return { labels, annotations };
}

function fieldOf(value: unknown, key: string): Record<string, unknown> {
  const field: unknown =
    typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof field === "object" && field !== null ? (field as Record<string, unknown>) : {};
}

function keysOf(fields: Record<string, unknown>): string[] {
  return Object.keys(fields)
    .filter((key) => key.startsWith("f:"))
    .map((key) => key.slice(2));
}
