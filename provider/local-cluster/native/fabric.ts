import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { addressAt, formatRange, overlaps, parseRange, subrange, type Ipv4Range } from "../ipv4-range";
import { isRunning, type ProcessIdentity } from "../process-identity";
import { withLock } from "../process-lock";
import { runCommand } from "../run-command";
import { makeProcessGroup, removeGroup } from "./control-groups";
import { hostRoutes, linkExists, type HostRoute } from "./host-network";
import type { Layout } from "./layout";
import { announceScript, runInNamespaces, startInNamespaces } from "./namespace-process";
import { readStateFile, writeStateFile } from "./state-file";

/**
 * The network that joins the nodes of one checkout's clusters with each other and with the host: a bridge in a network namespace of
 * its own, so that neither the host's firewall nor its forwarding settings touch what passes between clusters, and one interface on
 * the host that leads there.
 */
export interface Fabric {
  /** Process that holds the namespace. */
  holder: ProcessIdentity;
  range: Ipv4Range;
  /** The host's address in it. */
  hostAddress: string;
}

/** Prefix of a fabric's range. */
export const fabricPrefix = 20;
const bridge = "br0";
const loadBalancerOffset = 1024;
const loadBalancersPerCluster = 64;
const nodesPerCluster = 8;
const firstNodeOffset = 16;

/** Number of clusters that fit into a fabric. */
export const clusterSlots = (2 ** (32 - fabricPrefix) - loadBalancerOffset) / loadBalancersPerCluster;

/** Address of a node, both counted from 0. */
export function nodeAddress(range: Ipv4Range, slot: number, node: number): string {
  return addressAt(range, firstNodeOffset + slot * nodesPerCluster + node);
}

/** The addresses that a cluster's services of type LoadBalancer get. */
export function loadBalancerAddresses(range: Ipv4Range, slot: number): string[] {
  const first = loadBalancerOffset + slot * loadBalancersPerCluster;
  return Array.from({ length: loadBalancersPerCluster }, (_, index) => addressAt(range, first + index));
}

const fabricState = z.object({
  range: z.string(),
  holder: z.object({ pid: z.number(), startTime: z.string(), boot: z.string() }),
});

/** The fabric if it runs. */
export async function findFabric(layout: Layout): Promise<Fabric | undefined> {
  const state = await readState(layout);
  return state !== undefined && isRunning(state.holder) ? fabricOf(state.range, state.holder) : undefined;
}

/**
 * Finds the running fabric or makes it. `taken` are the ranges that clusters use inside: no route may lead to them.
 *
 * @throws if no range is free, or the one that existing clusters were made with is taken
 */
export async function ensureFabric(layout: Layout, taken: readonly Ipv4Range[]): Promise<Fabric> {
  return withLock(layout.networkLock, { purpose: "making the network of local clusters" }, async () => {
    const running = await findFabric(layout);
    if (running !== undefined) return running;
    await removeNamespace(layout);
    const before = await readState(layout);
    const range = chooseRange(await hostRoutes(), taken, before && parseRange(before.range));
    return makeFabric(layout, range);
  });
}

/** Removes the fabric with everything in it. */
export async function removeFabric(layout: Layout): Promise<void> {
  await withLock(layout.networkLock, { purpose: "removing the network of local clusters" }, async () => {
    await removeNamespace(layout);
    const files = [
      layout.fabricFile,
      ...["fabric.sh", "fabric.pid", "fabric.log"].map((name) => join(layout.folder, name)),
    ];
    for (const file of files) await rm(file, { force: true });
  });
}

/** Connects a node's namespace: it finds its end as `eth0`. */
export async function connectNode(fabric: Fabric, node: ProcessIdentity, port: string): Promise<void> {
  // The kernel takes a killed node's namespace apart at its leisure; until then its port is still there.
  await runInNamespaces(fabric.holder, ["--net"], ["ip", "link", "delete", port]).catch(() => undefined);
  const commands = [
    `link add ${port} type veth peer name eth0 netns ${node.pid}`,
    `link set ${port} master ${bridge} up`,
  ];
  await runInNamespaces(fabric.holder, ["--net"], ["ip", "-batch", "-"], {
    input: `${commands.join("\n")}\n`,
  });
}

/** The first candidate that no route and no cluster's range overlaps; a range used before comes first and alone. */
export function chooseRange(
  routes: readonly HostRoute[],
  taken: readonly Ipv4Range[],
  before?: Ipv4Range,
): Ipv4Range {
  if (before !== undefined) {
    const conflict = routes.find(({ range }) => overlaps(range, before));
    if (conflict === undefined) return before;
    throw new Error(
      `the network ${formatRange(before)} of the local clusters is now taken by ${conflict.device} (${formatRange(conflict.range)}); free it, or remove the clusters with "npm run clusters -- down --all" and make them again`,
    );
  }
  const candidates = ["172.30.0.0/16", "172.29.0.0/16", "10.213.0.0/16", "192.168.208.0/20"].flatMap(
    (text) => {
      const range = parseRange(text);
      return Array.from({ length: 2 ** (fabricPrefix - range.prefix) }, (_, index) =>
        subrange(range, fabricPrefix, index),
      );
    },
  );
  const free = candidates.find(
    (candidate) =>
      !routes.some(({ range }) => overlaps(range, candidate)) &&
      !taken.some((range) => overlaps(range, candidate)),
  );
  if (free === undefined) {
    throw new Error(
      "no /20 is free for the network of local clusters in 172.30.0.0/16, 172.29.0.0/16, 10.213.0.0/16 and 192.168.208.0/20; remove routes to one of them",
    );
  }
  return free;
}

async function makeFabric(layout: Layout, range: Ipv4Range): Promise<Fabric> {
  await mkdir(layout.folder, { recursive: true, mode: 0o700 });
  const script = join(layout.folder, "fabric.sh");
  const pidFile = join(layout.folder, "fabric.pid");
  await writeFile(
    script,
    `${announceScript(pidFile)}
ip link set lo up
ip link add ${bridge} type bridge forward_delay 0
ip link set ${bridge} up
exec sleep infinity
`,
  );
  const holder = await startInNamespaces({
    cgroupFolder: await makeProcessGroup(`${layout.cgroup}/fabric`),
    namespaces: ["--net"],
    script,
    pidFile,
    logFile: join(layout.folder, "fabric.log"),
  });
  const fabric = fabricOf(formatRange(range), holder);
  try {
    await untilBridge(fabric);
    await runCommand("ip", ["-batch", "-"], {
      input: `${[
        `link add ${layout.hostLink} type veth peer name host netns ${holder.pid}`,
        `address add ${fabric.hostAddress}/${range.prefix} dev ${layout.hostLink}`,
        `link set ${layout.hostLink} up`,
      ].join("\n")}\n`,
    });
    await runInNamespaces(holder, ["--net"], ["ip", "link", "set", "host", "master", bridge, "up"]);
    const state: z.input<typeof fabricState> = { range: formatRange(range), holder };
    await writeStateFile(layout.fabricFile, state);
    return fabric;
  } catch (error) {
    await removeNamespace(layout);
    throw error;
  }
}

async function untilBridge(fabric: Fabric): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await runInNamespaces(fabric.holder, ["--net"], ["ip", "link", "show", "dev", bridge, "up"]);
      return;
    } catch (error) {
      if (tries > 200) throw error;
      await sleep(10);
    }
  }
}

/** The namespace goes with the last process in it, and the host's interface with the namespace. */
async function removeNamespace(layout: Layout): Promise<void> {
  await removeGroup(`${layout.cgroup}/fabric`);
  for (const deadline = Date.now() + 10_000; await linkExists(layout.hostLink); await sleep(20)) {
    if (Date.now() > deadline) {
      throw new Error(
        `the interface ${layout.hostLink} stays although its clusters are gone; remove it with "ip link delete ${layout.hostLink}"`,
      );
    }
  }
}

function fabricOf(range: string, holder: ProcessIdentity): Fabric {
  const parsed = parseRange(range);
  return { holder, range: parsed, hostAddress: addressAt(parsed, 1) };
}

function readState(layout: Layout): Promise<z.output<typeof fabricState> | undefined> {
  return readStateFile(
    layout.fabricFile,
    fabricState,
    'remove the clusters with "npm run clusters -- down --all" and make them again',
  );
}
