import { InvalidObjectError, isRecord } from "../../api/invalid-object";
import type { ObjectMeta, ObjectRef } from "../../api/meta";
import type { PatchOptions } from "./client-options";
import { describeRef, objectPath, type Served } from "./object-reference";

/** A request as it goes on the wire. Header names in lower case. */
export interface WireRequest {
  readonly method: string;
  /** Path and query, below the path prefix of the server. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Buffer;
  /** A watch or a followed log: it holds its stream for minutes, so it is given a connection that has room. */
  readonly longLived?: boolean;
}

export type ResponseHeaders = Record<string, string | string[] | undefined>;

/** Receives an answer. After `onHead` and any number of `onData` comes exactly one of `onEnd` and `onError`. */
export interface ResponseHandler {
  onHead(status: number, headers: ResponseHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** A request under way. */
export interface Exchange {
  /** Gives up; the handler hears nothing more. */
  cancel(): void;
  pause(): void;
  resume(): void;
}

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
