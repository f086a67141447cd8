import { setTimeout as sleep } from "node:timers/promises";

import { Agent, request } from "undici";

export interface ProbeTarget {
  url: string;
  /** PEM. */
  ca: string;
  certificate: string;
  privateKey: string;
}

export interface ProbeOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  /** Called between tries; may throw to give up at once. */
  onTry?: () => void;
}

/**
 * Waits until the API server says that it is ready.
 *
 * @throws naming what it last answered when the time is over
 */
export async function waitForApiServer(target: ProbeTarget, options: ProbeOptions): Promise<void> {
  const agent = new Agent({
    connect: { ca: target.ca, cert: target.certificate, key: target.privateKey, timeout: 2_000 },
  });
  const deadline = performance.now() + options.timeoutMs;
  let last = "no answer";
  try {
    while (performance.now() < deadline) {
      options.signal?.throwIfAborted();
      options.onTry?.();
      try {
        const response = await request(`${target.url}/readyz`, { dispatcher: agent, headersTimeout: 5_000 });
        const body = await response.body.text();
        if (response.statusCode === 200) return;
        last = `${response.statusCode}: ${
          body
            .split("\n")
            .filter((line) => line.startsWith("[-]"))
            .join(", ") || body.slice(0, 200)
        }`;
      } catch (error) {
        last = error instanceof Error ? error.message : String(error);
      }
      await sleep(50);
    }
  } finally {
    await agent.destroy();
  }
  throw new Error(
    `the API server at ${target.url} was not ready after ${options.timeoutMs / 1000} s; last: ${last}`,
  );
}
