import { isRecord } from "../../api/invalid-object";
import type { Desired, Kind, KubeObject } from "../../api/meta";
import { ApiError, isInvalid } from "./api-error";
import type { KubeClient } from "./client";
import type { ApplyOptions, CallOptions } from "./client-options";
import { type DifferenceOptions, mergePatch } from "./difference";

export interface WriteOptions extends DifferenceOptions, CallOptions {
  /** Write with server-side apply in place of a merge patch. The difference still decides whether to write at all. */
  apply?: Pick<ApplyOptions, "fieldManager" | "force">;
  /**
   * When the write carries the observed resource version, so that it fails (409) where the object has changed meanwhile. Default: `lists`, which is when
   * the patch holds a list, since that is read, changed and written as a whole.
   */
  lock?: "always" | "lists" | "never";
}

export interface StatusOptions {
  /** The status was made elsewhere, `observedGeneration` included. */
  foreign?: boolean;
}

export interface Written<T> {
  object: T;
  change: "none" | "created" | "patched";
}

/** Of the metadata, the rest is the API server's. */
const OUR_METADATA = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/**
 * Makes an object as desired: creates it where none is observed, writes only the difference where there is one, else nothing.
 *
 * The status is left alone. A write is bound to the UID observed: a re-created object of the same name is a conflict.
 *
 * @throws ApiError 409 where it exists though none was observed, or changed meanwhile; the next reconcile settles both
 */
export async function writeIfChanged<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  desired: Desired<T>,
  observed: T | undefined,
  options: WriteOptions = {},
): Promise<Written<T>> {
  const { apply, signal, deadlineMs } = options;
  const call = { signal, deadlineMs };
  if (observed === undefined) {
    const object =
      apply === undefined
        ? await client.create(kind, desired, call)
        : await client.apply(kind, desired, { ...apply, ...call });
    return { object, change: "created" };
  }
  const patch = mergePatch(comparable(desired), comparable(observed), options);
  if (patch === undefined) return { object: observed, change: "none" };
  const object =
    apply === undefined
      ? await patchBound(client, kind, observed, patch, options)
      : await client.apply(kind, desired, { ...apply, ...call });
  return { object, change: "patched" };
}

/**
 * Writes what of a status differs, to the status subresource; fields not given stay, `null` removes one. Where the kind's status has
 * `observedGeneration`, it becomes that of the observed object, unless the status is a foreign one.
 *
 * @param status the fields of the status that are the caller's; lists of it are written whole
 */
export async function patchStatusIfChanged<T extends KubeObject & { status?: unknown }>(
  client: KubeClient,
  kind: Kind<T>,
  observed: T,
  status:
    | NonNullable<T["status"]>
    | { [Key in keyof NonNullable<T["status"]>]?: NonNullable<T["status"]>[Key] | null },
  options: Omit<WriteOptions, "apply"> & StatusOptions = {},
): Promise<Written<T>> {
  const present = isRecord(observed.status) ? observed.status : {};
  const { generation } = observed.metadata;
  const observes = kind.observesGeneration === true && generation !== undefined && options.foreign !== true;
  const difference = isRecord(status)
    ? mergePatch({ ...status, ...(observes ? { observedGeneration: generation } : {}) }, present, {
        exactItems: true,
        ...options,
      })
    : undefined;
  if (difference === undefined) return { object: observed, change: "none" };
  const object = await patchBound(client, kind, observed, { status: difference }, options, "status");
  return { object, change: "patched" };
}

async function patchBound<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  observed: T,
  patch: Record<string, unknown>,
  options: WriteOptions,
  subresource?: string,
): Promise<T> {
  const { signal, deadlineMs } = options;
  try {
    return await client.patch(kind, observed.metadata, bound(patch, observed, options), {
      type: "merge",
      subresource,
      signal,
      deadlineMs,
    });
  } catch (error) {
    throw isAnotherObject(error) ? recreated(error) : error;
  }
}

/** The API server calls a patch with the UID of another object invalid; to us it is a conflict like any other. */
function isAnotherObject(error: unknown): error is ApiError {
  return isInvalid(error) && error.details.causes.some(({ field }) => field === "metadata.uid");
}

function recreated(error: ApiError): ApiError {
  const message = "the object was deleted and created anew meanwhile";
  return new ApiError(error.request, 409, "Conflict", message, error.details);
}

function comparable(object: object): Record<string, unknown> {
  const {
    apiVersion: _apiVersion,
    kind: _kind,
    status: _status,
    metadata,
    ...rest
  } = Object.fromEntries(Object.entries(object));
  if (!isRecord(metadata)) return rest;
  const ours = OUR_METADATA.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]]));
  return { ...rest, metadata: Object.fromEntries(ours) };
}

/** Adds the identity of what was observed to a patch. */
function bound(
  patch: Record<string, unknown>,
  observed: KubeObject,
  options: WriteOptions,
): Record<string, unknown> {
  const { uid, resourceVersion } = observed.metadata;
  const lock = options.lock ?? "lists";
  const locked = lock === "always" || (lock === "lists" && holdsList(patch));
  return {
    ...patch,
    metadata: {
      ...(isRecord(patch.metadata) ? patch.metadata : {}),
      ...(uid === undefined ? {} : { uid }),
      ...(locked && resourceVersion !== undefined ? { resourceVersion } : {}),
    },
  };
}

function holdsList(value: unknown): boolean {
  if (Array.isArray(value)) return true;
  return isRecord(value) && Object.values(value).some(holdsList);
}
