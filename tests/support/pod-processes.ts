import { readdirSync, readFileSync } from "node:fs";

/** Ends what runs in a pod as a crash would; returns how many processes that were. */
export function killProcessesOf(pod: string): number {
  let count = 0;
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${id}/environ`, "utf8").split("\0");
      if (!environment.includes(`POD_NAME=${pod}`)) continue;
      process.kill(Number(id), "SIGKILL");
      count += 1;
    } catch {
      // It has ended by itself.
    }
  }
  return count;
}
