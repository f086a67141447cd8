import { randomInt } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Below the range from which the kernel takes ports for outgoing connections, so that none of those comes in between. */
const FIRST = 15_000;
const LAST = 29_999;
const TRIES = 1_000;

/** How long a port belongs to the process that was given it: by then its program listens, and the port is no longer free. */
const CLAIM_MS = 5 * 60_000;

/**
 * Free TCP ports of the loopback address, all different. Other processes that ask here are not given the same ones, though nothing listens yet:
 * each port given is claimed by a file.
 */
export async function freePorts(count: number): Promise<number[]> {
  const claims = claimsFolder();
  const ports: number[] = [];
  for (let attempt = 0; attempt < TRIES && ports.length < count; attempt++) {
    const port = randomInt(FIRST, LAST + 1);
    if (claim(claims, port) && (await isFree(port))) ports.push(port);
  }
  if (ports.length < count)
    throw new Error(`no ${count} free TCP ports between ${FIRST} and ${LAST} on 127.0.0.1`);
  return ports;
}

/** The folder of this user's claims, without those that are over. */
function claimsFolder(): string {
  const folder = join(tmpdir(), `pulumi-liqo-ports-${process.getuid?.() ?? ""}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > CLAIM_MS) rmSync(file, { force: true });
  }
  return folder;
}

function claim(folder: string, port: number): boolean {
  try {
    writeFileSync(join(folder, String(port)), "", { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
