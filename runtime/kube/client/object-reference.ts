import type { KubeObject, ObjectRef, OwnerReference } from "../../api/meta";

/** Where a kind is served; both stored and posted kinds have it. */
export interface Served {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** `/api/v1/namespaces/rome/pods`; without a namespace, the kind across all namespaces. */
export function collectionPath(kind: Served, namespace?: string): string {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  if (!kind.namespaced || namespace === undefined) return `${root}/${kind.plural}`;
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}`;
}

/** `/api/v1/namespaces/rome/pods/web-0`, and `…/status` with a subresource. Throws where the reference lacks its namespace. */
export function objectPath(kind: Served, ref: ObjectRef, subresource?: string): string {
  if (kind.namespaced && (ref.namespace === undefined || ref.namespace === "")) {
    throw new Error(
      `${kind.kind} "${ref.name}": namespace is missing; a ${kind.kind} is named by namespace and name`,
    );
  }
  if (ref.name === "") throw new Error(`${kind.kind}: name is empty; give the object's name`);
  const path = `${collectionPath(kind, ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** `path?a=1&b=2`, leaving out what is undefined. */
export function withQuery(
  path: string,
  query: Record<string, string | number | boolean | undefined>,
): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** For error texts: `Pod "rome/web-0"`. */
export function describeRef(kind: Served, ref: ObjectRef): string {
  return ref.namespace === undefined
    ? `${kind.kind} "${ref.name}"`
    : `${kind.kind} "${ref.namespace}/${ref.name}"`;
}

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

/** For a source: the key of an object's controller where that is of the kind, in the object's namespace. */
export function ownedBy(kind: string): (object: KubeObject) => string[] {
  return (object) => {
    const owner = controllerOf(object);
    return owner?.kind === kind ? [keyOfRef({ name: owner.name, namespace: object.metadata.namespace })] : [];
  };
}
