/** What local clusters may leave on the machine. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

import { hierarchies, processesIn } from "../../provider/local-cluster/native/control-groups";
import { runCommand } from "../../provider/local-cluster/run-command";

export interface Traces {
  links: string[];
  routes: string[];
  mounts: string[];
  groups: string[];
  firewall: string;
}

/** What clusters may leave on the host; other checkouts' clusters, which may come and go meanwhile, are left out. */
export async function tracesOfMachine(...prefixes: string[]): Promise<Traces> {
  const ours = (text: string) =>
    !/pliqo-|pulumi-liqo-/.test(text) || prefixes.some((prefix) => text.includes(`liqo-${prefix}`));
  const links = await runCommand("ip", ["-o", "link"]);
  const routes = await runCommand("ip", ["-4", "route", "show", "table", "all"]);
  const mounts = readFileSync("/proc/self/mountinfo", "utf8");
  const groups = (await hierarchies()).flatMap(({ mountPoint }) =>
    readdirSync(mountPoint).map((name) => `${mountPoint}/${name}`),
  );
  return {
    links: links
      .split("\n")
      .map((line) => line.split(": ")[1] ?? "")
      .filter(ours)
      .sort(),
    routes: routes.split("\n").filter(ours).sort(),
    mounts: mounts
      .split("\n")
      .map((line) => line.split(" ")[4] ?? "")
      .filter(ours)
      .sort(),
    groups: groups.filter(ours).sort(),
    firewall: await runCommand("nft", ["list", "ruleset"]),
  };
}

/** Kernel namespaces of a process, as the links in /proc name them; none once it has ended. */
export function namespacesOf(pid: number): string[] {
  return ["net", "mnt", "pid", "uts"].flatMap((type) => {
    try {
      return [readlinkSync(`/proc/${pid}/ns/${type}`)];
    } catch {
      return []; // it has ended
    }
  });
}

/** SIGKILL to every process of a control group and the groups below, as when a machine goes away. */
export async function killProcessesIn(folder: string): Promise<void> {
  for (const pid of await processesIn(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // Probes of containers come and go, and a parent may take its children along.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}
