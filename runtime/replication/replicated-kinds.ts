import { type Kind, NamespaceMap, Renew, ResourceSlice } from "../api";
import type { Replicable } from "./copy";

/** What is copied to providers. For all of them the spec goes there and the status comes back (control plane reference 11.1). */
export const replicatedKinds: readonly Kind<Replicable>[] = [ResourceSlice, Renew, NamespaceMap];

/** Key of an object of a replicated kind within one peer. */
export function replicaKey(kind: Kind<Replicable>, name: string): string {
  return `${kind.plural}/${name}`;
}

/** @throws Error for a key that {@link replicaKey} did not make */
export function readReplicaKey(key: string): { kind: Kind<Replicable>; name: string } {
  const slash = key.indexOf("/");
  const kind = replicatedKinds.find(({ plural }) => plural === key.slice(0, slash));
  if (kind === undefined) throw new Error(`"${key}" is not the key of a replicated object`);
  return { kind, name: key.slice(slash + 1) };
}
