import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A mounted hierarchy of control groups. */
export interface Hierarchy {
  mountPoint: string;
  version: 1 | 2;
  /** Version 1: the controllers or `name=systemd`. Version 2: empty. */
  controllers: string[];
}

/** The hierarchies in the text of /proc/self/mountinfo, each once. */
export function parseHierarchies(mountInfo: string): Hierarchy[] {
  const found = new Map<string, Hierarchy>();
  for (const line of mountInfo.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const mountPoint = left.split(" ")[4];
    const [type, , options = ""] = right.split(" ");
    if (mountPoint === undefined) continue;
    if (type === "cgroup2") found.set(mountPoint, { mountPoint, version: 2, controllers: [] });
    if (type === "cgroup") {
      const controllers = options.split(",").filter((option) => option !== "rw" && option !== "xattr");
      found.set(mountPoint, { mountPoint, version: 1, controllers });
    }
  }
  return [...found.values()];
}

export async function hierarchies(): Promise<Hierarchy[]> {
  return parseHierarchies(await readFile("/proc/self/mountinfo", "utf8"));
}

/** The hierarchy by which processes are found again: version 2 if mounted, since it kills a whole group at once. */
export function trackingHierarchy(all: readonly Hierarchy[]): Hierarchy {
  const found =
    all.find(({ version }) => version === 2) ??
    all.find(({ controllers }) => controllers.includes("name=systemd")) ??
    all.find(({ controllers }) => controllers.includes("pids"));
  if (found === undefined)
    throw new Error("no control group hierarchy is mounted below /sys/fs/cgroup; mount cgroup2 there");
  return found;
}

/** Folder of a group in the tracking hierarchy, made if absent; processes are put into its `cgroup.procs`. */
export async function makeProcessGroup(group: string): Promise<string> {
  const folder = join(trackingHierarchy(await hierarchies()).mountPoint, group);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Makes a group that the kubelet may use as its root, in every hierarchy. */
export async function makePodGroup(group: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    const parts = group.split("/");
    const folderAt = (depth: number) => join(hierarchy.mountPoint, ...parts.slice(0, depth));
    for (let depth = 1; depth <= parts.length; depth++) {
      const folder = folderAt(depth);
      await mkdir(folder, { recursive: true });
      if (hierarchy.controllers.includes("cpuset")) await inheritCpuset(folder);
      if (hierarchy.version === 2) await delegateControllers(dirname(folder));
    }
    for (let depth = 1; depth < parts.length; depth++)
      await weigh(folderAt(depth), await groupsBelow(folderAt(depth), parts.length - depth));
  }
}

/**
 * Groups share the processors by weight, and one that holds the pods of many nodes would weigh no more than a single thread outside: on a busy
 * machine its pods miss their probes and are restarted, which makes the load worse. So it weighs as much as its nodes do on machines of their own.
 */
async function weigh(folder: string, nodes: number): Promise<void> {
  const { shares, weight } = podGroupWeight(nodes, availableParallelism());
  for (const [file, value] of [
    ["cpu.shares", shares],
    ["cpu.weight", weight],
  ] as const) {
    if (existsSync(join(folder, file))) await writeFile(join(folder, file), String(value));
  }
}

/** What a group of so many nodes weighs, in version 1 and in version 2: for each of its processors as much as one thread by default. */
export function podGroupWeight(nodes: number, processors: number): { shares: number; weight: number } {
  const threads = Math.max(1, nodes * processors);
  return { shares: Math.min(262_144, threads * 1024), weight: Math.min(10_000, threads * 100) };
}

async function groupsBelow(folder: string, levels: number): Promise<number> {
  if (levels === 0) return 1;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const below = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => groupsBelow(join(folder, entry.name), levels - 1)),
  );
  return below.reduce((sum, count) => sum + count, 0);
}

/** A new cpuset group is empty and takes no process until it has processors and memory nodes. */
async function inheritCpuset(folder: string): Promise<void> {
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    const present = (await readFile(join(folder, file), "utf8")).trim();
    if (present === "")
      await writeFile(join(folder, file), await readFile(join(dirname(folder), file), "utf8"));
  }
}

/** Lets child groups use what the group itself has. */
async function delegateControllers(folder: string): Promise<void> {
  const available = (await readFile(join(folder, "cgroup.controllers"), "utf8")).trim().split(" ");
  const wanted = available.filter((name) =>
    ["cpu", "cpuset", "memory", "pids", "io", "hugetlb"].includes(name),
  );
  if (wanted.length > 0)
    await writeFile(join(folder, "cgroup.subtree_control"), wanted.map((name) => `+${name}`).join(" "));
}

/**
 * Kills every process in a group and the groups below it, in every hierarchy, and removes the groups.
 *
 * @throws naming a process that cannot be killed
 */
export async function removeGroup(group: string): Promise<void> {
  const folders = (await hierarchies())
    .map(({ mountPoint }) => join(mountPoint, group))
    .filter((path) => existsSync(path));
  for (const folder of folders) await killAll(folder);
  for (const folder of folders) await removeTree(folder);
}

async function killAll(folder: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const kill = join(folder, "cgroup.kill");
    if (existsSync(kill)) await writeFile(kill, "1");
    const pids = await processesIn(folder);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // it is gone
      }
    }
    if (Date.now() > deadline)
      throw new Error(`process ${pids.join(", ")} in ${folder} does not end after SIGKILL`);
    await sleep(20);
  }
}

/** Names of the groups directly below a group, in any hierarchy. */
export async function childGroups(group: string): Promise<string[]> {
  const names = new Set<string>();
  for (const { mountPoint } of await hierarchies()) {
    const entries = await readdir(join(mountPoint, group), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isDirectory()) names.add(entry.name);
  }
  return [...names];
}

/** Numbers of the processes in a group and below; none if it does not exist. */
export async function processesIn(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const path of await treeOf(folder)) {
    // Zero is a process of another namespace.
    const text = await readFile(join(path, "cgroup.procs"), "utf8").catch(() => "");
    found.push(
      ...text
        .split("\n")
        .map(Number)
        .filter((pid) => pid > 0),
    );
  }
  return found;
}

/** A group and all below it, deepest first. */
async function treeOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map((entry) => treeOf(join(folder, entry.name))),
  );
  return [...below.flat(), folder];
}

async function removeTree(folder: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (const path of await treeOf(folder)) {
    for (;;) {
      try {
        await rmdir(path);
        break;
      } catch (error) {
        const code = error instanceof Error && "code" in error ? error.code : undefined;
        if (code === "ENOENT") break;
        // The kernel lets go of a group a moment after its last process.
        if (code !== "EBUSY" || Date.now() > deadline) throw error;
        await sleep(20);
      }
    }
  }
}
