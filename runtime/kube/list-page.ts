import { InvalidObjectError, isRecord } from "../api/invalid-object";
import type { Kind, KubeObject } from "../api/meta";
import type { ListPage } from "./client-options";

/** Reads the answer to a list. Throws `InvalidObjectError`, also where a single item is not of the kind. */
export function readPage<T extends KubeObject>(kind: Kind<T>, value: unknown): ListPage<T> {
  const fail = (issue: string): never => {
    throw new InvalidObjectError(`list of ${kind.plural}`, [issue]);
  };
  if (!isRecord(value)) return fail("is not an object");
  const { metadata, items } = value;
  if (!isRecord(metadata) || typeof metadata.resourceVersion !== "string") {
    return fail("metadata.resourceVersion: is missing");
  }
  // Go writes an empty list as null.
  if (items !== null && !Array.isArray(items)) return fail("items: is not a list");
  return {
    items: (items ?? []).map((item: unknown) => {
      // Lists of built-in kinds leave these out of their items.
      if (isRecord(item)) {
        item.apiVersion ??= kind.apiVersion;
        item.kind ??= kind.kind;
      }
      return kind.fromApiServer(item);
    }),
    resourceVersion: metadata.resourceVersion,
    continueToken:
      typeof metadata.continue === "string" && metadata.continue !== "" ? metadata.continue : undefined,
  };
}
