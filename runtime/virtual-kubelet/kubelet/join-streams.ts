import type { Duplex } from "node:stream";

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
