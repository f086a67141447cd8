import type { KubeObject } from "../../api/meta";
import { keyOf } from "../client/object-reference";

type KeysOf<T> = (object: T) => string[];

/** What became different in a store; `uid` tells a changed object from another one of the same name. */
export type Change<T> =
  { type: "added"; object: T } | { type: "updated"; before: T; object: T } | { type: "deleted"; object: T };

/** Objects by key, and by the keys of any number of indexes. */
export class Store<T extends KubeObject> {
  private objects = new Map<string, T>();
  private readonly indexes = new Map<KeysOf<T>, Map<string, Set<string>>>();

  get size(): number {
    return this.objects.size;
  }

  get(key: string): T | undefined {
    return this.objects.get(key);
  }

  list(): T[] {
    return [...this.objects.values()];
  }

  addIndex(keysOf: KeysOf<T>): void {
    if (this.indexes.has(keysOf)) return;
    const index = new Map<string, Set<string>>();
    this.indexes.set(keysOf, index);
    for (const [key, object] of this.objects) enter(index, keysOf(object), key);
  }

  byIndex(keysOf: KeysOf<T>, indexKey: string): T[] {
    const found: T[] = [];
    for (const key of this.indexes.get(keysOf)?.get(indexKey) ?? []) {
      const object = this.objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /** Puts an object in; nothing changes where the very same version is there already. */
  set(object: T): Change<T>[] {
    const key = keyOf(object);
    const before = this.objects.get(key);
    if (before !== undefined && sameVersion(before, object)) return [];
    this.put(key, object, before);
    return changesBetween(before, object);
  }

  /** Takes an object out; the answer tells of the final state given, or of the last one known. */
  delete(key: string, final?: T): Change<T>[] {
    const before = this.objects.get(key);
    if (before === undefined) return [];
    this.objects.delete(key);
    for (const [keysOf, index] of this.indexes) leave(index, keysOf(before), key);
    return [{ type: "deleted", object: final !== undefined && sameUid(before, final) ? final : before }];
  }

  /** Makes the store hold these objects and no other. Deletions come first. */
  replace(present: ReadonlyMap<string, T>): Change<T>[] {
    const changes: Change<T>[] = [];
    for (const key of [...this.objects.keys()]) if (!present.has(key)) changes.push(...this.delete(key));
    for (const object of present.values()) changes.push(...this.set(object));
    return changes;
  }

  private put(key: string, object: T, before: T | undefined): void {
    this.objects.set(key, object);
    for (const [keysOf, index] of this.indexes) {
      if (before !== undefined) leave(index, keysOf(before), key);
      enter(index, keysOf(object), key);
    }
  }
}

export function sameVersion(a: KubeObject, b: KubeObject): boolean {
  return sameUid(a, b) && a.metadata.resourceVersion === b.metadata.resourceVersion;
}

function sameUid(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid;
}

/** Another object of the same name means that a deletion went unseen: it is told now. */
function changesBetween<T extends KubeObject>(before: T | undefined, object: T): Change<T>[] {
  if (before === undefined) return [{ type: "added", object }];
  if (sameUid(before, object)) return [{ type: "updated", before, object }];
  return [
    { type: "deleted", object: before },
    { type: "added", object },
  ];
}

function enter(index: Map<string, Set<string>>, indexKeys: string[], key: string): void {
  for (const indexKey of indexKeys) {
    const members = index.get(indexKey);
    if (members === undefined) index.set(indexKey, new Set([key]));
    else members.add(key);
  }
}

function leave(index: Map<string, Set<string>>, indexKeys: string[], key: string): void {
  for (const indexKey of indexKeys) {
    const members = index.get(indexKey);
    members?.delete(key);
    if (members?.size === 0) index.delete(indexKey);
  }
}
