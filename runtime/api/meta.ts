/** A pointer from a dependent to its owner (Kubernetes garbage collection). */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Metadata of an object that exists: it has a name. Times are RFC 3339 strings. */
export interface ObjectMeta {
  name: string;
  /** Absent on cluster-scoped objects. */
  namespace?: string;
  generateName?: string;
  /** Identity of this incarnation; set by the API server. */
  uid?: string;
  /** Opaque; compared for equality only. */
  resourceVersion?: string;
  /** Counts changes of the spec. */
  generation?: number;
  creationTimestamp?: string | null;
  /** Set while the object waits for its finalizers. */
  deletionTimestamp?: string | null;
  deletionGracePeriodSeconds?: number | null;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: Record<string, unknown>[];
}

/** What every object of every kind has. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Which object of a kind; without a namespace for cluster-scoped kinds. */
export interface ObjectRef {
  name: string;
  namespace?: string;
}

/** Every field optional, at every depth, in list items too. */
export type DeepPartial<V> = V extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : V extends object
    ? { [Key in keyof V]?: DeepPartial<V[Key]> }
    : V;

/** Metadata of an object to create: named by us, or by the API server from a prefix. */
export type DesiredMeta =
  (Partial<ObjectMeta> & { name: string }) | (Partial<ObjectMeta> & { generateName: string });

/** An object to create or apply: identified, the rest as far as the writer has an opinion. */
export type Desired<T extends KubeObject> = {
  apiVersion: T["apiVersion"];
  kind: T["kind"];
  metadata: DesiredMeta;
} & { [Key in Exclude<keyof T, "apiVersion" | "kind" | "metadata">]?: DeepPartial<T[Key]> };

/**
 * A kind of object: where the API server serves it, and how a value becomes a typed object.
 *
 * There are two ways in, because their callers differ. `parse` is for values that a person or a peer wrote (manifests, arguments,
 * admission requests): it checks every field and fills the defaults. `fromApiServer` is for values that an API server returned, which it
 * has validated and defaulted already: it checks only what tells a wrong answer from a right one, so that it costs next to nothing for
 * each watch event.
 */
export interface Kind<T extends KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** `group/version`, or the version alone for the core group. */
  readonly apiVersion: T["apiVersion"];
  readonly kind: T["kind"];
  /** Path segment, such as `tenants`. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Whether its status has `observedGeneration`, which whoever writes the status keeps. */
  readonly observesGeneration?: boolean;
  /** Full validation with defaults. Throws {@link InvalidObjectError}. */
  parse(value: unknown): T;
  /** Cheap check of an API server's answer; returns the same object. Throws {@link InvalidObjectError}. */
  fromApiServer(value: unknown): T;
}

/**
 * A kind that is posted and answered, never stored: reviews (posted to their plural), tokens and evictions (posted to the subresource of that
 * name, which stands in `plural`). Such objects have no name of their own.
 */
export interface PostedKind<T> {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  parse(value: unknown): T;
}
