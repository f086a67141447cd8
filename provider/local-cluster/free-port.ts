import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range from which the kernel takes ports for outgoing connections, so that none of those comes in between. */
const FIRST = 15_000;
const LAST = 29_999;
const TRIES = 1_000;

/** Ports that this process was given already: they may not be bound yet. */
const given = new Set<number>();

/** Free TCP ports of the loopback address, all different, none given twice by one process. Another process may still take one first. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let attempt = 0; attempt < TRIES && ports.length < count; attempt++) {
    const port = randomInt(FIRST, LAST + 1);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) ports.push(port);
  }
  if (ports.length < count)
    throw new Error(`no ${count} free TCP ports between ${FIRST} and ${LAST} on 127.0.0.1`);
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
