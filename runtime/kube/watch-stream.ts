import { isRecord } from "../api/invalid-object";
import { ApiError } from "./api-error";
import type { KubeClient } from "./client";
import { DeadlineError } from "./unary";
import { LineFramer } from "./line-framer";

/** A line of a watch. Errors of the server are thrown, never events. */
export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  object: Record<string, unknown>;
}

export interface WatchRequest {
  /** Names the watch in error texts, such as `watch pods`. */
  what: string;
  path: string;
  /** Longest silence, in milliseconds; bookmarks break it. Asked for anew after each chunk. */
  idleMs: () => number;
  signal: AbortSignal;
  /** The server accepted the watch. */
  onOpen: () => void;
  /** What it throws ends the watch and is thrown on. */
  onEvent: (event: WatchEvent) => void;
}

/** The stream was silent for longer than a live one ever is. */
export class IdleWatchError extends DeadlineError {}

/**
 * Reads one watch until it ends.
 *
 * Resolves when the server ended it in an orderly way (it does after `timeoutSeconds`) or the signal was aborted; throws {@link ApiError}
 * for the server's errors (410 in the middle of a watch included), `ConnectionError` and {@link IdleWatchError} for the network's.
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
    const framer = new LineFramer((line) => watch.onEvent(readEvent(what, line)));
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
            refusal = (refusal + chunk.toString("utf8")).slice(0, 65_536);
            return;
          }
          try {
            framer.push(chunk);
          } catch (error) {
            return settle(error instanceof Error ? error : new Error(String(error)));
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
        (error: unknown) => settle(error instanceof Error ? error : new Error(String(error))),
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
