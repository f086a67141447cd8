import { isRecord } from "../api/invalid-object";

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/**
 * The fields of an admission request that our webhooks use. The objects are not parsed: each webhook checks only the fields that it reads, because
 * validating a whole pod costs more than the decision.
 */
export interface AdmissionRequest {
  uid: string;
  operation: Operation;
  /** Such as `status`; empty for the object itself. */
  subResource: string;
  /** Empty for names that the API server will generate. */
  name: string;
  namespace: string;
  username: string;
  groups: readonly string[];
  dryRun: boolean;
  /** Absent on DELETE. */
  object?: AdmittedObject;
  /** Absent on CREATE; on DELETE what is to go. */
  oldObject?: AdmittedObject;
}

export interface AdmittedObject {
  metadata: {
    name?: string;
    namespace?: string;
    uid?: string;
    labels: Readonly<Record<string, string>>;
    annotations: Readonly<Record<string, string>>;
    deleting: boolean;
  };
  /** The whole object, unchecked. */
  raw: Readonly<Record<string, unknown>>;
}

/** One step of a JSON Patch (RFC 6902). */
export type PatchOperation =
  { op: "add" | "replace"; path: string; value: unknown } | { op: "remove"; path: string };

/** What a webhook decides. */
export type Verdict =
  | { allowed: true; patch?: readonly PatchOperation[]; warnings?: readonly string[] }
  | { allowed: false; code: number; message: string };

export const ALLOWED: Verdict = Object.freeze({ allowed: true });

/** The rules forbid it (code 403). */
export const denied = (message: string): Verdict => ({ allowed: false, code: 403, message });
/** The request can't be decided: 400 when it is malformed, 500 when something is missing on our side. */
export const errored = (code: number, message: string): Verdict => ({ allowed: false, code, message });
export const patched = (patch: readonly PatchOperation[]): Verdict =>
  patch.length === 0 ? ALLOWED : { allowed: true, patch };

/** A body that is no admission review. */
export class MalformedReview extends Error {
  override readonly name = "MalformedReview";
}

export interface Review {
  apiVersion: string;
  request: AdmissionRequest;
}

/**
 * Reads the body of a webhook call.
 *
 * @throws MalformedReview that names the field
 */
export function parseReview(body: string): Review {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new MalformedReview("the body is not JSON", { cause });
  }
  if (!isRecord(value) || value.kind !== "AdmissionReview" || typeof value.apiVersion !== "string")
    throw new MalformedReview("the body is not an AdmissionReview");
  const request = value.request;
  if (!isRecord(request)) throw new MalformedReview("request: missing");
  if (typeof request.uid !== "string" || request.uid === "")
    throw new MalformedReview("request.uid: missing");
  const user = isRecord(request.userInfo) ? request.userInfo : {};
  return {
    apiVersion: value.apiVersion,
    request: {
      uid: request.uid,
      operation: operationOf(request.operation),
      subResource: textOf(request.subResource),
      name: textOf(request.name),
      namespace: textOf(request.namespace),
      username: textOf(user.username),
      groups: Array.isArray(user.groups) ? user.groups.filter((group) => typeof group === "string") : [],
      dryRun: request.dryRun === true,
      ...optionalObject("object", request.object),
      ...optionalObject("oldObject", request.oldObject),
    },
  };
}

function operationOf(value: unknown): Operation {
  if (value === "CREATE" || value === "UPDATE" || value === "DELETE" || value === "CONNECT") return value;
  throw new MalformedReview(`request.operation: ${JSON.stringify(value)} is no operation`);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function optionalObject<Key extends "object" | "oldObject">(
  key: Key,
  value: unknown,
): Partial<Record<Key, AdmittedObject>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new MalformedReview(`request.${key}: is not an object`);
  const metadata = isRecord(value.metadata) ? value.metadata : {};
  const object: AdmittedObject = {
    metadata: {
      ...(typeof metadata.name === "string" ? { name: metadata.name } : {}),
      ...(typeof metadata.namespace === "string" ? { namespace: metadata.namespace } : {}),
      ...(typeof metadata.uid === "string" ? { uid: metadata.uid } : {}),
      labels: stringsOf(metadata.labels),
      annotations: stringsOf(metadata.annotations),
      deleting: typeof metadata.deletionTimestamp === "string",
    },
    raw: value,
  };
  return { [key]: object } as Partial<Record<Key, AdmittedObject>>;
}

const NONE: Readonly<Record<string, string>> = Object.freeze({});

function stringsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value)) return NONE;
  const strings: Record<string, string> = {};
  for (const [key, entry] of Object.entries(value)) if (typeof entry === "string") strings[key] = entry;
  return strings;
}

/** The answer to a review, as JSON. */
export function reviewResponse(review: Review, verdict: Verdict): string {
  return JSON.stringify({
    apiVersion: review.apiVersion,
    kind: "AdmissionReview",
    response: { uid: review.request.uid, ...answerOf(verdict) },
  });
}

function answerOf(verdict: Verdict): Record<string, unknown> {
  if (!verdict.allowed) {
    const reason = verdict.code === 403 ? { reason: "Forbidden" } : {};
    return { allowed: false, status: { code: verdict.code, message: verdict.message, ...reason } };
  }
  const { patch, warnings } = verdict;
  return {
    allowed: true,
    ...(warnings === undefined ? {} : { warnings }),
    ...(patch === undefined
      ? {}
      : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }),
  };
}

/** The patch that sets a label, whether the object has labels or not. */
export function labelPatch(object: AdmittedObject, key: string, value: string): PatchOperation[] {
  if (object.metadata.labels[key] === value) return [];
  const metadata = object.raw.metadata;
  if (!isRecord(metadata) || !isRecord(metadata.labels))
    return [{ op: "add", path: "/metadata/labels", value: { [key]: value } }];
  return [{ op: "add", path: `/metadata/labels/${pointerSegment(key)}`, value }];
}

/** A key as one segment of a JSON pointer (RFC 6901). */
function pointerSegment(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Answers admission requests of one path. What it throws becomes an error of code 500. */
export type Webhook = (request: AdmissionRequest) => Verdict | Promise<Verdict>;

/** Webhooks by path, such as `/mutate/pod`. */
export type Routes = Readonly<Record<string, Webhook>>;
