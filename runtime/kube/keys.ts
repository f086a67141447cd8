import type { KubeObject, ObjectRef } from "../api/meta";

/** The key of an object in caches and queues: `namespace/name`, or `name` where there is no namespace. */
export function keyOf(object: KubeObject): string {
  return keyOfRef(object.metadata);
}

export function keyOfRef({ name, namespace }: ObjectRef): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** The other way round. */
export function refOfKey(key: string): ObjectRef {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
