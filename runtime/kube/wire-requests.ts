import { InvalidObjectError, isRecord } from "../api/invalid-object";
import type { ObjectMeta, ObjectRef } from "../api/meta";
import type { PatchOptions } from "./client-options";
import type { WireRequest } from "./exchange";
import { describeRef, objectPath, type Served } from "./resource-path";

const PATCH_CONTENT_TYPE = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

export function readRequest(path: string): WireRequest {
  return { method: "GET", path, headers: {} };
}

export function jsonRequest(
  method: string,
  path: string,
  body: unknown,
  contentType = "application/json",
): WireRequest {
  return { method, path, headers: { "content-type": contentType }, body: JSON.stringify(body) };
}

export function patchRequest(
  kind: Served,
  ref: ObjectRef,
  body: unknown,
  { type, subresource }: PatchOptions,
): WireRequest {
  return jsonRequest("PATCH", objectPath(kind, ref, subresource), body, PATCH_CONTENT_TYPE[type]);
}

export function patchVerb({ subresource }: PatchOptions): string {
  return subresource === undefined ? "patch" : `patch ${subresource} of`;
}

/** The same request, for an answer that is no more than the object's metadata. */
export function metadataRequest(request: WireRequest): WireRequest {
  const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  return { ...request, headers: { ...request.headers, accept } };
}

/** Also of a whole object, which servers behind an aggregator may answer with. */
export function metadataOf(answer: unknown): ObjectMeta {
  if (isRecord(answer) && isRecord(answer.metadata) && typeof answer.metadata.name === "string")
    return { ...answer.metadata, name: answer.metadata.name };
  throw new InvalidObjectError("answer", ["metadata.name: is missing"]);
}

export function refOf(object: { metadata: { name?: string; namespace?: string } }): ObjectRef | undefined {
  const { name, namespace } = object.metadata;
  return name === undefined ? undefined : { name, namespace };
}

/** A request in words, for errors: `patch status of Pod shop/web`. */
export function nameOf(verb: string, kind: Served, ref: ObjectRef | undefined): string {
  return `${verb} ${ref === undefined ? kind.plural : describeRef(kind, ref)}`;
}
