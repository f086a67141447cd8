import type { Kind, KubeObject } from "../../api/meta";
import type { KubeClient } from "./client";

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

export function isDeleting({ metadata }: KubeObject): boolean {
  return typeof metadata.deletionTimestamp === "string";
}

/** The object with the finalizer; writes only where it is missing. */
export async function withFinalizer<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object;
  return await writeFinalizers(client, kind, object, [...(object.metadata.finalizers ?? []), finalizer]);
}

/** The object without the finalizer, with which it may cease to exist; writes only where it is there. */
export async function withoutFinalizer<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  if (!hasFinalizer(object, finalizer)) return object;
  const rest = (object.metadata.finalizers ?? []).filter((one) => one !== finalizer);
  return await writeFinalizers(client, kind, object, rest);
}

/** The list is written as a whole, so only over the version that it was read from. */
async function writeFinalizers<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { metadata: { name, namespace, uid, resourceVersion } }: T,
  finalizers: string[],
): Promise<T> {
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return await client.patch(kind, { name, namespace }, body, { type: "merge" });
}
