import { Readable } from "node:stream";

import type { Exchange, ResponseHeaders, WireRequest } from "./exchange";
import type { Transport } from "./transport";
import { DeadlineError, pathOnly } from "./unary";

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
