import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

import { ConnectionError, DeadlineError } from "../../kube";

/** How long the last bytes may make no progress after the other side is gone, in milliseconds. */
const LINGER_MS = 5_000;
/** How long a side that has received everything may take to close, in milliseconds. */
const LEAVE_MS = 1_000;
/** How much is held for a side that is slower than the other, in bytes. */
const BACKLOG = { most: 4 * 1024 * 1024, resume: 1024 * 1024 };

/**
 * Passes bytes between two connections in both directions until one is gone, then lets the other go.
 *
 * Neither side is read much faster than the other accepts bytes. A backlog is allowed: a side that is done closes its connection, and bytes that were
 * not read by the time of the next write to it would be lost.
 *
 * @returns when both are closed
 */
export async function joinStreams(near: Duplex, far: Duplex): Promise<void> {
  const closed = Promise.all([whenGone(near, far), whenGone(far, near)]);
  pump(near, far);
  pump(far, near);
  await closed;
}

function pump(from: Duplex, to: Duplex): void {
  from.on("data", (chunk: Buffer) => {
    if (to.destroyed || to.writableEnded) return;
    to.write(chunk, () => {
      if (from.isPaused() && to.writableLength <= BACKLOG.resume) from.resume();
    });
    if (to.writableLength > BACKLOG.most) from.pause();
  });
  from.once("end", () => to.end());
}

/** Resolves when `stream` is closed; `other` then gets time to send its rest, as long as it makes progress. */
function whenGone(stream: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    // The close that follows says all that there is to do.
    stream.on("error", () => undefined);
    const gone = () => {
      resolve();
      if (other.destroyed) return;
      // It may be held back for us, and would never notice its own end.
      other.resume();
      if (!other.writableEnded) other.end();
      lingerFor(other, other.writableLength);
    };
    if (stream.destroyed) gone();
    else stream.once("close", gone);
  });
}

function lingerFor(stream: Duplex, left: number): void {
  const timer = setTimeout(
    () => {
      if (stream.writableLength < left) lingerFor(stream, stream.writableLength);
      else stream.destroy();
    },
    left === 0 ? LEAVE_MS : LINGER_MS,
  );
  stream.once("close", () => clearTimeout(timer));
}

const REASONS: Record<number, string> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** An answer that is not what was asked for. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly code: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** What an error on the way to the provider means to the client. */
  static from(error: unknown, what: string): Refusal {
    if (error instanceof Refusal) return error;
    const cause = error instanceof Error ? error.message : String(error);
    const message = `${what}: ${cause}`;
    if (error instanceof DeadlineError) return new Refusal(504, message, { cause: error });
    return new Refusal(error instanceof ConnectionError ? 503 : 500, message, { cause: error });
  }

  /** As a Kubernetes `Status`, which the API server hands on to its client. */
  status(): string {
    return JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: REASONS[this.code] ?? "",
      code: this.code,
    });
  }
}

/** A session is created, and rights are given for creating it; only WebSockets demand that it looks like a reading. */
export function methodOf({ headers }: IncomingMessage): string {
  return headers.upgrade?.toLowerCase() === "websocket" ? "GET" : "POST";
}

/** The headers that make up the upgrade; the client's credentials are not among them. */
export function upgradeHeaders({ headersDistinct }: IncomingMessage): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(headersDistinct)) {
    const isPart = /^(connection|upgrade|x-stream-protocol-version|sec-websocket-.*)$/.test(name);
    if (isPart && values !== undefined) headers[name] = values;
  }
  return headers;
}

export function switchingHead(headers: Record<string, string | string[] | undefined>): string {
  let head = "HTTP/1.1 101 Switching Protocols\r\n";
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) head += `${name}: ${one}\r\n`;
  }
  return `${head}\r\n`;
}

/** Answers on a bare connection, as where an upgrade was asked for, and ends it. */
export function refuseUpgrade(
  socket: Duplex,
  code: number,
  contentType: string,
  body: string | Buffer,
): void {
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "Error"}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.end(body);
}
