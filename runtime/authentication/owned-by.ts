import type { KubeObject } from "../api";
import { controllerOf, keyOfRef } from "../kube";

/** For a source: the key of an object's controller where that is of the kind, in the object's namespace. */
export function ownedBy(kind: string): (object: KubeObject) => string[] {
  return (object) => {
    const owner = controllerOf(object);
    return owner?.kind === kind ? [keyOfRef({ name: owner.name, namespace: object.metadata.namespace })] : [];
  };
}
