import { ConnectionError } from "./dial";
import type { Exchange, ResponseHeaders, WireRequest } from "./exchange";
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
    signal?: AbortSignal;
  },
): Promise<Answer> {
  const { signal, deadlineMs, allowedMs } = limits;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortReason(signal));
    let status = 0;
    let headers: ResponseHeaders = {};
    const chunks: Buffer[] = [];
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const giveUp = (error: Error) => {
      settle();
      exchange?.cancel();
      reject(error);
    };
    const onAbort = () => giveUp(signal === undefined ? new Error("aborted") : abortReason(signal));
    const timer = setTimeout(() => {
      const where = `${request.method} ${transport.connection.server.host}${pathOnly(request.path)}`;
      giveUp(new DeadlineError(`${where}: no answer in ${allowedMs / 1000} s`));
    }, deadlineMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    const exchange: Exchange | undefined = transport.send(request, {
      onHead: (code, values) => {
        status = code;
        headers = values;
      },
      onData: (chunk) => chunks.push(chunk),
      onEnd: () => {
        settle();
        const [only] = chunks;
        resolve({
          status,
          headers,
          body: only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks),
        });
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

/** Without the query, which is noise in an error text. */
export function pathOnly(path: string): string {
  const end = path.indexOf("?");
  return end < 0 ? path : path.slice(0, end);
}
