/** Objects as an API server keeps them: versions, generations, finalizers, owners, and what has happened since. */
import { isRecord } from "../../runtime/api/invalid-object";

export interface Stored {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    creationTimestamp: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: { kind: string; name: string; uid: string }[];
    [field: string]: unknown;
  };
  spec?: unknown;
  status?: unknown;
  [field: string]: unknown;
}

export interface StoreEvent {
  version: number;
  /** Undefined where it did not exist before, or does not after. */
  before: Stored | undefined;
  after: Stored | undefined;
}

/** What the server answers in the place of an object. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** The objects of one resource, such as `ipam.liqo.io/ips`, by `namespace/name`. */
export class Collection {
  readonly objects = new Map<string, Stored>();
  readonly history: StoreEvent[] = [];
  readonly listeners = new Set<(event: StoreEvent) => void>();
}

export class MemoryStore {
  private readonly collections = new Map<string, Collection>();
  private version = 0;
  private uids = 0;
  /** Seconds since the beginning: each object is a second younger than the one before. */
  private seconds = 0;

  get currentVersion(): number {
    return this.version;
  }

  collection(resource: string): Collection {
    let collection = this.collections.get(resource);
    if (collection === undefined) this.collections.set(resource, (collection = new Collection()));
    return collection;
  }

  create(resource: string, object: Record<string, unknown>, namespace: string | undefined): Stored {
    const metadata = isRecord(object.metadata) ? object.metadata : {};
    const name = text(metadata.name) || `${text(metadata.generateName)}${(this.uids + 1).toString(36)}`;
    const key = keyOf(name, namespace);
    if (this.collection(resource).objects.has(key)) {
      throw new Refusal(409, "AlreadyExists", `${resource} "${key}" already exists`);
    }
    this.uids += 1;
    this.seconds += 1;
    const { status: _status, ...rest } = object;
    const stored = {
      ...rest,
      apiVersion: String(object.apiVersion),
      kind: String(object.kind),
      metadata: {
        ...metadata,
        name,
        ...(namespace !== undefined && { namespace }),
        uid: `uid-${this.uids}`,
        generation: 1,
        creationTimestamp: new Date(Date.UTC(2026, 0, 1) + this.seconds * 1000)
          .toISOString()
          .replace(".000", ""),
        resourceVersion: "",
      },
    };
    const created = this.commit(resource, undefined, stored);
    this.collectOrphan(resource, key, created.metadata.ownerReferences ?? []);
    return created;
  }

  /** Writes an object over the present one: its status alone, or everything but the status. Writes nothing where nothing changes. */
  update(resource: string, key: string, wanted: Record<string, unknown>, part: "main" | "status"): Stored {
    const before = this.get(resource, key);
    const metadata: Record<string, unknown> = isRecord(wanted.metadata) ? wanted.metadata : {};
    for (const [field, present] of [
      ["uid", before.metadata.uid],
      ["resourceVersion", before.metadata.resourceVersion],
    ] as const) {
      const given = metadata[field];
      if (given !== undefined && given !== present) {
        throw new Refusal(
          409,
          "Conflict",
          `${resource} "${key}": ${field} is ${present}, not ${text(given)}`,
        );
      }
    }
    const after: Stored =
      part === "status"
        ? { ...before, status: wanted.status }
        : {
            ...before,
            ...wanted,
            status: before.status,
            metadata: { ...before.metadata, ...ownMetadata(metadata) },
          };
    if (JSON.stringify(sorted(after)) === JSON.stringify(sorted(before))) return before;
    if (JSON.stringify(sorted(after.spec)) !== JSON.stringify(sorted(before.spec))) {
      after.metadata = { ...after.metadata, generation: before.metadata.generation + 1 };
    }
    const gone = after.metadata.deletionTimestamp !== undefined && !after.metadata.finalizers?.length;
    return this.commit(resource, before, after, gone);
  }

  delete(resource: string, key: string, preconditions: { uid?: unknown; resourceVersion?: unknown }): Stored {
    const before = this.get(resource, key);
    const { uid, resourceVersion } = before.metadata;
    if (
      (preconditions.uid ?? uid) !== uid ||
      (preconditions.resourceVersion ?? resourceVersion) !== resourceVersion
    ) {
      throw new Refusal(409, "Conflict", `${resource} "${key}": the preconditions do not hold`);
    }
    if (!before.metadata.finalizers?.length) return this.commit(resource, before, before, true);
    if (before.metadata.deletionTimestamp !== undefined) return before;
    const deletionTimestamp = "2026-01-02T00:00:00Z";
    return this.commit(resource, before, { ...before, metadata: { ...before.metadata, deletionTimestamp } });
  }

  get(resource: string, key: string): Stored {
    const found = this.collection(resource).objects.get(key);
    if (found === undefined) throw new Refusal(404, "NotFound", `${resource} "${key}" not found`);
    return found;
  }

  private commit(resource: string, before: Stored | undefined, wanted: Stored, gone = false): Stored {
    this.version += 1;
    const after = { ...wanted, metadata: { ...wanted.metadata, resourceVersion: String(this.version) } };
    const collection = this.collection(resource);
    const key = keyOf(after.metadata.name, after.metadata.namespace);
    if (gone) collection.objects.delete(key);
    else collection.objects.set(key, after);
    // Of a deletion, watchers get the last state with the version of the deletion.
    const last =
      gone && before !== undefined
        ? { ...before, metadata: { ...before.metadata, resourceVersion: String(this.version) } }
        : before;
    const event = { version: this.version, before: last, after: gone ? undefined : after };
    collection.history.push(event);
    for (const listener of collection.listeners) listener(event);
    if (gone) this.collectGarbage(after.metadata.uid);
    return after;
  }

  /** As the garbage collector does a little later: what is owned by an object that does not exist goes. */
  private collectOrphan(resource: string, key: string, owners: { uid: string }[]): void {
    const exists = ({ uid }: { uid: string }) =>
      [...this.collections.values()].some(({ objects }) =>
        [...objects.values()].some(({ metadata }) => metadata.uid === uid),
      );
    if (owners.length === 0 || owners.some(exists)) return;
    setTimeout(() => {
      if (this.collection(resource).objects.has(key)) this.delete(resource, key, {});
    }, 20);
  }

  /** As the garbage collector does: what is owned by an object that is gone goes, too. */
  private collectGarbage(owner: string): void {
    for (const [resource, { objects }] of this.collections) {
      for (const [key, object] of objects) {
        const owners = object.metadata.ownerReferences ?? [];
        if (owners.some(({ uid }) => uid === owner)) this.delete(resource, key, {});
      }
    }
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function keyOf(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** JSON merge patch (RFC 7386). */
export function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = merged(result[field], value);
  }
  return result;
}

const SERVER_METADATA = new Set([
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "name",
  "namespace",
]);

function ownMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([field]) => !SERVER_METADATA.has(field)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
}
