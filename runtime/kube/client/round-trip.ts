import { Readable } from "node:stream";

import { AnswerLimitError } from "./answer-limits";
import { HeldBytes } from "./held-bytes";
import { ConnectionError } from "./dial";
import type { Transport } from "./transport";
import type { Exchange, ResponseHeaders, WireRequest } from "./wire-request";

export interface Answer {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
}

/** The time allowed for a request passed without a whole answer; a write may have been carried out. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

/** Sends a request and reads its whole answer within the deadline. */
export function unary(
  transport: Transport,
  request: WireRequest,
  limits: {
    /** Left for this attempt. */
    deadlineMs: number;
    /** Allowed for the whole call, as the error text shows it. */
    allowedMs: number;
    /** Of the body. */
    maxBytes: number;
    signal?: AbortSignal;
  },
): Promise<Answer> {
  const { signal, deadlineMs, allowedMs, maxBytes } = limits;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortReason(signal));
    let status = 0;
    let headers: ResponseHeaders = {};
    const body = new HeldBytes();
    let settled = false;
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const giveUp = (error: Error) => {
      settle();
      exchange?.cancel();
      reject(error);
    };
    const tooLarge = (bytes: number) =>
      new AnswerLimitError(requestName(transport, request), "the answer", maxBytes, bytes);
    const onAbort = () => giveUp(signal === undefined ? new Error("aborted") : abortReason(signal));
    const timer = setTimeout(() => {
      giveUp(new DeadlineError(`${requestName(transport, request)}: no answer in ${allowedMs / 1000} s`));
    }, deadlineMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    const exchange: Exchange | undefined = transport.send(request, {
      onHead: (code, values) => {
        status = code;
        headers = values;
        const announced = request.method === "HEAD" ? 0 : Number(values["content-length"] ?? 0);
        if (announced > maxBytes) giveUp(tooLarge(announced));
      },
      onData: (chunk) => {
        if (settled) return;
        body.push(chunk);
        if (body.length > maxBytes) giveUp(tooLarge(body.length));
      },
      onEnd: () => {
        settle();
        resolve({ status, headers, body: body.take() });
      },
      onError: (error) => {
        settle();
        reject(error);
      },
    });
  });
}

/** Whether a request that changes nothing may be sent again. */
export function isConnectionLoss(error: unknown): boolean {
  return error instanceof ConnectionError && !error.unprocessed;
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("the request was aborted");
}

/** Method, server and path, for error texts. */
export function requestName(
  { connection }: Pick<Transport, "connection">,
  { method, path }: { method: string; path: string },
): string {
  return `${method} ${connection.server.host}${pathOnly(path)}`;
}

/** Without the query, which is noise in an error text. */
export function pathOnly(path: string): string {
  const end = path.indexOf("?");
  return end < 0 ? path : path.slice(0, end);
}

/** Sends a request and answers with its head as soon as that is there, the body still to come. */
export function streamed(
  transport: Transport,
  request: WireRequest,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<{ status: number; headers: ResponseHeaders; body: Readable }> {
  return new Promise((resolve, reject) => {
    let exchange: Exchange | undefined = undefined;
    const timer = setTimeout(() => {
      body.destroy();
      reject(
        new DeadlineError(`${request.method} ${pathOnly(request.path)}: no answer in ${deadlineMs / 1000} s`),
      );
    }, deadlineMs);
    const abort = () => body.destroy(signal?.reason instanceof Error ? signal.reason : undefined);
    const body = new Readable({
      read: () => exchange?.resume(),
      destroy: (error, done) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        exchange?.cancel();
        done(error);
      },
    });
    // A failure before the head is the promise's; until someone reads the body, nobody else would catch it.
    body.on("error", reject);
    exchange = transport.send(request, {
      onHead: (status, headers) => {
        clearTimeout(timer);
        resolve({ status, headers, body });
      },
      onData: (chunk) => {
        if (!body.push(chunk)) exchange?.pause();
      },
      onEnd: () => body.push(null),
      onError: (error) => body.destroy(error),
    });
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted === true) abort();
  });
}
