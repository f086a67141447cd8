import { isRecord } from "../../api/invalid-object";
import { AnswerLimitError } from "../client/answer-limits";
import { HeldBytes } from "../client/held-bytes";
import { ApiError, asError } from "../client/api-error";
import type { KubeClient } from "../client/client";
import { DeadlineError } from "../client/round-trip";

/** A line of a watch. Errors of the server are thrown, never events. */
export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  object: Record<string, unknown>;
}

interface WatchRequest {
  /** Names the watch in error texts, such as `watch pods`. */
  what: string;
  path: string;
  /** Longest silence, in milliseconds; bookmarks break it. Asked for anew after each chunk. */
  idleMs: () => number;
  signal: AbortSignal;
  /** The server accepted the watch. */
  onOpen: () => void;
  /** Is told the size of the event, too. What it throws ends the watch and is thrown on. */
  onEvent: (event: WatchEvent, bytes: number) => void;
}

/** Characters; a refusal that goes on is not waited for. */
const MAX_REFUSAL = 65_536;

/** The stream was silent for longer than a live one ever is. */
export class IdleWatchError extends DeadlineError {}

/**
 * Reads one watch until it ends.
 *
 * Resolves when the server ended it in an orderly way (it does after `timeoutSeconds`) or the signal was aborted; throws {@link ApiError}
 * for the server's errors (410 in the middle of a watch included), `ConnectionError` and {@link IdleWatchError} for the network's,
 * {@link AnswerLimitError} for an event that is too large.
 */
export async function readWatch(client: KubeClient, watch: WatchRequest): Promise<void> {
  const { what, signal } = watch;
  await new Promise<void>((resolve, reject) => {
    let status = 0;
    let retryAfter: string | undefined;
    let refusal = "";
    let cancel: (() => void) | undefined;
    let settled = false;
    const settle = (error?: Error) => {
      if (settled) return;
      settled = true;
      clearTimeout(idle);
      signal.removeEventListener("abort", abort);
      cancel?.();
      if (error === undefined) resolve();
      else reject(error);
    };
    const abort = () => settle();
    let allowed = watch.idleMs();
    const startIdle = () =>
      setTimeout(() => settle(new IdleWatchError(`${what}: nothing heard for ${allowed / 1000} s`)), allowed);
    let idle = startIdle();
    const { eventBytes } = client.limits;
    const framer = new LineFramer(
      (line, bytes) => watch.onEvent(readEvent(what, line), bytes),
      eventBytes,
      (bytes) => new AnswerLimitError(client.nameOf(watch.path), "an event of the watch", eventBytes, bytes),
    );
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) return settle();
    client
      .open(watch.path, {
        onHead: (code, headers) => {
          status = code;
          if (code === 200) watch.onOpen();
          retryAfter = typeof headers["retry-after"] === "string" ? headers["retry-after"] : undefined;
        },
        onData: (chunk) => {
          if (settled) return;
          if (status !== 200) {
            refusal += chunk.toString("utf8");
            if (refusal.length > MAX_REFUSAL) settle(ApiError.fromBody(what, status, refusal, retryAfter));
            return;
          }
          try {
            framer.push(chunk);
          } catch (error) {
            return settle(asError(error));
          }
          if (settled) return;
          const wanted = watch.idleMs();
          if (wanted === allowed) idle.refresh();
          else {
            clearTimeout(idle);
            allowed = wanted;
            idle = startIdle();
          }
        },
        onEnd: () =>
          settle(status === 200 ? undefined : ApiError.fromBody(what, status, refusal, retryAfter)),
        onError: (error) => settle(error),
      })
      .then(
        (exchange) => {
          cancel = () => exchange.cancel();
          if (settled) cancel();
        },
        (error: unknown) => settle(asError(error)),
      );
  });
}

function readEvent(what: string, line: string): WatchEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    throw new Error(`${what}: a line of the stream is not JSON`);
  }
  if (!isRecord(event) || !isRecord(event.object))
    throw new Error(`${what}: a line of the stream is no event`);
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      return { type: event.type, object: event.object };
    case "ERROR":
      throw ApiError.fromStatus(what, 500, event.object);
    default:
      throw new Error(`${what}: event of unknown type ${String(event.type).slice(0, 40)}`);
  }
}

/** Whether a bookmark ends a streaming list. */
export function isInitialEventsEnd(object: Record<string, unknown>): boolean {
  const metadata = object.metadata;
  if (!isRecord(metadata) || !isRecord(metadata.annotations)) return false;
  return metadata.annotations["k8s.io/initial-events-end"] === "true";
}

export function versionOf(object: Record<string, unknown>): string {
  const version = isRecord(object.metadata) ? object.metadata.resourceVersion : undefined;
  if (typeof version !== "string" || version === "")
    throw new Error("an event of the watch has no resource version");
  return version;
}

const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines and hands each one over as text.
 *
 * Works on bytes, so that a character cut in two by a chunk's border arrives whole, and a long line spread over many chunks
 * is joined once. A line longer than the limit is an error: it would be the memory of the process that bounds it.
 */
export class LineFramer {
  private readonly held = new HeldBytes();

  /**
   * @param onLine is told the length in bytes too
   * @param tooLong makes the error of a line that is too long
   */
  constructor(
    private readonly onLine: (line: string, bytes: number) => void,
    private readonly maxLineBytes = 32 << 20,
    private readonly tooLong = (bytes: number): Error =>
      new Error(`a line of the stream is longer than ${maxLineBytes} bytes: ${bytes} have come`),
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.finish(chunk, start, end);
      start = end + 1;
    }
    if (start === chunk.length) return;
    // A copy where little of a large chunk is left, so that the rest of it can be freed.
    const rest = chunk.subarray(start);
    this.held.push(rest.length * 4 < chunk.length ? Buffer.from(rest) : rest);
    this.check(this.held.length);
  }

  private finish(chunk: Buffer, start: number, end: number): void {
    if (this.held.length === 0) {
      this.check(end - start);
      if (end > start) this.onLine(chunk.toString("utf8", start, end), end - start);
      return;
    }
    this.held.push(chunk.subarray(start, end));
    const { length } = this.held;
    this.check(length);
    this.onLine(this.held.take().toString("utf8"), length);
  }

  private check(bytes: number): void {
    if (bytes > this.maxLineBytes) throw this.tooLong(bytes);
  }
}
