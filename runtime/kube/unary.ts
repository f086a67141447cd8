import { AnswerLimitError } from "./answer-limits";
import { ConnectionError } from "./dial";
import type { Exchange, ResponseHeaders, WireRequest } from "./exchange";
import { HeldBytes } from "./held-bytes";
import type { Transport } from "./transport";

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
