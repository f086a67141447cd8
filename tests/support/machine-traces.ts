/** What local clusters may leave on the machine. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

import { hierarchies } from "../../provider/local-cluster/native/control-groups";
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
