import type { Duplex } from "node:stream";

/** How long what was sent last may take to leave after the other side is gone, in milliseconds. */
const LINGER_MS = 5_000;

/**
 * Passes bytes between two connections in both directions until one is gone, then lets the other go. Neither side is read faster than the other
 * takes it.
 *
 * @returns when both are closed
 */
export async function joinStreams(near: Duplex, far: Duplex): Promise<void> {
  const closed = Promise.all([leave(near, far), leave(far, near)]);
  near.pipe(far);
  far.pipe(near);
  await closed;
}

/** Resolves when `stream` is closed; `other` then gets a moment to send its rest. */
function leave(stream: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    stream.on("error", () => other.destroy());
    stream.once("close", () => {
      resolve();
      if (other.destroyed) return;
      other.end();
      const timer = setTimeout(() => other.destroy(), LINGER_MS);
      other.once("close", () => clearTimeout(timer));
    });
    if (stream.destroyed) stream.emit("close");
  });
}
