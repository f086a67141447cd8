import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";

import { messageOf } from "../kube";
import { runCommand } from "../networking/kernel/command";

const CGROUP_CPU_LIMIT = "/sys/fs/cgroup/cpu.max";

/**
 * Starts WireGuard outside of the kernel; returns what went wrong, nothing where the interface is there. It leaves its parent then, and lives on when
 * the gateway's process is replaced. `GOMAXPROCS` of the gateway's environment counts, if set.
 */
export async function startWireGuardGo(name: string): Promise<string | undefined> {
  try {
    const environment = { GOMAXPROCS: String(await processorsOfWireGuardGo()) };
    const { status, stderr } = await runCommand("setsid", ["wireguard-go", name], { environment });
    return status === 0 ? undefined : stderr.trim().split("\n").at(-1) || `status ${status}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function processorsOfWireGuardGo(): Promise<number> {
  const given = Number(process.env["GOMAXPROCS"]);
  if (Number.isInteger(given) && given > 0) return given;
  // Missing without cgroup v2, and then there is no limit that we know of.
  const limit = await readFile(CGROUP_CPU_LIMIT, "utf8").catch(() => "max");
  return processorsForTunnel(availableParallelism(), limit);
}

/**
 * How many processors wireguard-go uses at once: half of those that there are, and no more than its limit lets it. The other half carries the same packets
 * through the node and the overlay; and with one of two, threads wake each other less: a fifth to a third more throughput (docs/user/network.md).
 *
 * @param limit what cgroup v2 has in `cpu.max`: microseconds, or `max`, and the period
 */
export function processorsForTunnel(processors: number, limit: string): number {
  const half = Math.floor(processors / 2);
  const [quota, period] = limit.trim().split(/\s+/).map(Number);
  const allowed = quota && period ? Math.ceil(quota / period) : half;
  return Math.max(1, Math.min(half, allowed));
}
