import type { KubeObject, OwnerReference } from "../api/meta";

/** Makes an object the controller of another in the same namespace, or of any where the owner has none: deleted, it takes the other along. */
export function controlledBy(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The reference to the controller of an object; undefined where it has none. */
export function controllerOf(object: KubeObject | undefined): OwnerReference | undefined {
  return object?.metadata.ownerReferences?.find(({ controller }) => controller === true);
}
