import { type Identity, type KubeObject, Label, type ResourceSlice, type Secret } from "../api";
import { keyOf, type Source, watches } from "../kube";
import { isSource } from "../plan/peer-objects";
import type { AuthenticationCaches } from "./caches";

/** Names one direction of a peering at its consumer: where its objects are, and who is asked. */
export function consumption(namespace: string | undefined, provider: string | undefined): string {
  return `${namespace ?? ""} ${provider ?? ""}`;
}

/** Which direction a control-plane Identity, or the Secret made of one or by hand, is of; none for other objects. */
export const consumptionOfIdentity = ({ metadata, spec }: Identity): string[] =>
  spec.type === "ControlPlane" && spec.clusterID ? [consumption(metadata.namespace, spec.clusterID)] : [];

export const consumptionOfSecret = ({ metadata }: Secret): string[] => {
  const { [Label.identityType]: type, [Label.remoteClusterID]: provider } = metadata.labels ?? {};
  return type === "ControlPlane" && provider ? [consumption(metadata.namespace, provider)] : [];
};

/**
 * Whether a slice is one that this cluster asks a provider for. Its labels alone do not say so: whoever we provide for writes in the same kind of
 * namespace, and could make this cluster its consumer by an object that calls itself a source and brings the answer along. A source counts where
 * this cluster has a control-plane identity for its provider, which is never the peer's to make; without one no answer can have come from there.
 */
export function isOwnSource(slice: ResourceSlice, caches: AuthenticationCaches): boolean {
  if (!isSource(slice)) return false;
  const { namespace, labels } = slice.metadata;
  return caches.consumes(consumption(namespace, labels?.[Label.replicationDestination]));
}

/** The local slices that begin or cease to count with a control-plane identity. */
export function slicesOfIdentities({ slices, identities, peerSecrets }: AuthenticationCaches): Source[] {
  const inNamespaceOf = ({ metadata }: KubeObject): string[] =>
    slices
      .list()
      .filter((slice) => isSource(slice) && slice.metadata.namespace === metadata.namespace)
      .map(keyOf);
  return [
    watches(identities, {
      keys: inNamespaceOf,
      when: ({ type, object }) => type !== "updated" && consumptionOfIdentity(object).length > 0,
    }),
    watches(peerSecrets, {
      keys: inNamespaceOf,
      when: ({ type, object }) => type !== "updated" && consumptionOfSecret(object).length > 0,
    }),
  ];
}
