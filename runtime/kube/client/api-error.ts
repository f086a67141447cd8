import { isRecord } from "../../api/invalid-object";

/** What an API server says beside its sentence: the object and the causes it names. */
interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes: { reason?: string; message?: string; field?: string }[];
}

/** The sentence of an API server goes into logs, events and conditions; the longest ones list the faults of an object, field by field. */
const MAX_MESSAGE = 16_384;
const MAX_WORD = 256;
const MAX_CAUSES = 1_000;

/**
 * An answer of the API server that is not a success (Kubernetes `Status`).
 *
 * `reason` is the machine-readable word (`NotFound`, `Conflict`, `Invalid`, …), empty where the server gave none. The message names the
 * request; request bodies and headers are never part of it.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly request: string,
    readonly status: number,
    readonly reason: string,
    message: string,
    readonly details: StatusDetails = { causes: [] },
    readonly retryAfterSeconds?: number,
  ) {
    super(`${request}: ${status}${reason === "" ? "" : ` ${reason}`}: ${message}`);
  }

  /** Reads a `Status` body, or whatever else a proxy on the way answered. */
  static fromBody(request: string, status: number, body: string, retryAfter?: string): ApiError {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      value = undefined;
    }
    return ApiError.fromStatus(request, status, value ?? body, retryAfter);
  }

  /** From a decoded `Status` object, such as the one of a watch event of type `ERROR`. */
  static fromStatus(request: string, httpStatus: number, value: unknown, retryAfter?: string): ApiError {
    const seconds = retryAfter === undefined ? undefined : retryAfterSeconds(retryAfter);
    if (!isRecord(value) || value.kind !== "Status") {
      const text = typeof value === "string" ? value.trim().slice(0, 200) : "";
      return new ApiError(
        request,
        httpStatus,
        "",
        text === "" ? "the answer has no Status" : text,
        undefined,
        seconds,
      );
    }
    const code = typeof value.code === "number" ? value.code : httpStatus;
    const message = shortened(stringOf(value.message) ?? "no message", MAX_MESSAGE);
    const inBody = isRecord(value.details) ? value.details.retryAfterSeconds : undefined;
    return new ApiError(
      request,
      code,
      shortened(stringOf(value.reason) ?? "", MAX_WORD),
      message,
      detailsOf(value.details),
      seconds ?? (typeof inBody === "number" ? inBody : undefined),
    );
  }
}

function detailsOf(value: unknown): StatusDetails {
  if (!isRecord(value)) return { causes: [] };
  const causes = Array.isArray(value.causes) ? value.causes.filter(isRecord) : [];
  return {
    name: stringOf(value.name),
    group: stringOf(value.group),
    kind: stringOf(value.kind),
    uid: stringOf(value.uid),
    causes: causes.slice(0, MAX_CAUSES).map((cause) => ({
      reason: stringOf(cause.reason),
      message: stringOf(cause.message),
      field: stringOf(cause.field),
    })),
  };
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** `Retry-After` as Kubernetes writes it: whole seconds. */
function retryAfterSeconds(header: string): number | undefined {
  return /^\d+$/.test(header) ? Number(header) : undefined;
}

/** The object, or the kind itself, does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404;
}

/** A precondition (resource version, UID) or a field manager stood against the write. Also true of {@link isAlreadyExists}. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 409;
}

/** A create met an object of that name. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return error instanceof ApiError && error.reason === "AlreadyExists";
}

/** The credentials are valid and lack the right, or admission refused. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}

/** The credentials themselves were refused. */
export function isUnauthorized(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 401;
}

/** The resource version asked for is too old: list again. */
export function isGone(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 410;
}

/** The object breaks its schema or a validation rule. */
export function isInvalid(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 422;
}

/** The server asks to come back later. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 429;
}

/** Whether the API server refuses what was asked for, as it will the next time: a human must change something. */
export function isRefusal(error: unknown): error is ApiError {
  return isForbidden(error) || isInvalid(error) || (error instanceof ApiError && error.status === 400);
}

/** What was thrown, as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The message of what was thrown, be it an error or not. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
