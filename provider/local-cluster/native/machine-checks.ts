import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { ClusterSpec } from "../cluster-spec";
import { findExecutable } from "../find-executable";
import { cacheFolder, stateFolder } from "../folders";
import { formatRange, overlaps, parseRange, type Ipv4Range } from "../ipv4-range";
import { CommandError, runCommand } from "../run-command";
import { kubernetesVersion } from "../toolchain/tool-catalogue";
import { hierarchies } from "./control-groups";
import type { HostRoute } from "./host-network";

/** What the machine offers, as the checks see it. */
export interface MachineFacts {
  platform: string;
  root: boolean;
  stateFolder: string;
  cacheFolder: string;
  availableMemoryMb: number;
  availableDiskMb: number;
  routes: readonly HostRoute[];
  /** This checkout's own network, if it has one. */
  fabric: Ipv4Range | undefined;
  /** How many more inotify instances this user may have. */
  freeInotifyInstances: number;
  /** Control group controllers that are mounted. */
  controllers: readonly string[];
  /** Whether tunnels can be made, in user space too. */
  tunnelDevice: boolean;
  /** One line for each kernel feature that did not work when tried. */
  kernelFaults: readonly string[];
}

const TUNNEL_DEVICE = "/dev/net/tun";
const memoryMbPerCluster = 700;
const memoryMbPerFurtherNode = 150;
const diskMbPerNode = 500;
/** API server 6, controller manager 5, two gateways. */
const inotifyPerCluster = 13;
/** Kubelet 6, containerd 1. */
const inotifyPerNode = 7;

/** One line for each reason why a cluster cannot be made here; none if it can. Pure. */
export function machineFaults(spec: ClusterSpec, facts: MachineFacts): string[] {
  const faults: string[] = [];
  if (facts.platform !== "linux") {
    return [`native clusters need Linux, this is ${facts.platform}; use the backend kind`];
  }
  if (!facts.root)
    faults.push("native clusters need root, to make network namespaces and mounts; run this with sudo");
  if (spec.kubernetesVersion !== kubernetesVersion) {
    faults.push(
      `kubernetesVersion is ${spec.kubernetesVersion}; native clusters run ${kubernetesVersion}: leave it out, or use the backend kind`,
    );
  }
  for (const [name, folder] of [
    ["PULUMI_LIQO_STATE", facts.stateFolder],
    ["PULUMI_LIQO_CACHE", facts.cacheFolder],
  ] as const) {
    const hidden = ["/run", "/proc", "/var/lib", "/var/log"].find((top) =>
      `${folder}/`.startsWith(`${top}/`),
    );
    if (hidden !== undefined) {
      faults.push(
        `${folder} is below ${hidden}, which nodes have for themselves; set ${name} to a folder elsewhere`,
      );
    }
  }
  const memory = memoryMbPerCluster + (spec.nodes - 1) * memoryMbPerFurtherNode;
  if (facts.availableMemoryMb < memory) {
    faults.push(
      `${facts.availableMemoryMb} MB of memory are available, the cluster ${spec.name} needs ${memory} MB`,
    );
  }
  const disk = diskMbPerNode * spec.nodes;
  if (facts.availableDiskMb < disk) {
    faults.push(
      `${facts.availableDiskMb} MB are free below ${facts.stateFolder}, the cluster ${spec.name} needs ${disk} MB; free some or set PULUMI_LIQO_STATE`,
    );
  }
  const inotify = inotifyPerCluster + inotifyPerNode * spec.nodes;
  if (facts.freeInotifyInstances < inotify) {
    faults.push(
      `the cluster ${spec.name} needs ${inotify} inotify instances, ${Math.max(0, facts.freeInotifyInstances)} are free; allow more (sysctl fs.inotify.max_user_instances=512), or remove other clusters`,
    );
  }
  for (const field of ["podCidr", "serviceCidr"] as const) {
    const range = parseRange(spec[field]);
    const route = facts.routes.find((candidate) => overlaps(candidate.range, range));
    if (facts.fabric !== undefined && overlaps(facts.fabric, range)) {
      faults.push(
        `${field} ${spec[field]} overlaps ${formatRange(facts.fabric)}, the network of the local clusters; choose another`,
      );
    } else if (route !== undefined) {
      faults.push(
        `${field} ${spec[field]} overlaps ${formatRange(route.range)}, which this machine reaches by ${route.device}; choose another`,
      );
    }
  }
  for (const controller of ["cpu", "memory", "pids"]) {
    if (!facts.controllers.includes(controller)) {
      faults.push(
        `the control group controller ${controller} is not available; boot the kernel with it enabled`,
      );
    }
  }
  if (!facts.tunnelDevice) {
    faults.push(
      "there is no /dev/net/tun, which gateways between clusters need; load the module (modprobe tun), or give this container the device (--device /dev/net/tun)",
    );
  }
  return [...faults, ...facts.kernelFaults];
}

/** Looks at the machine without changing it: what must be tried is tried in a throw-away network namespace. */
export async function machineFacts(context: {
  routes: readonly HostRoute[];
  fabric: Ipv4Range | undefined;
}): Promise<MachineFacts> {
  const linux = process.platform === "linux";
  const root = process.getuid?.() === 0;
  return {
    ...context,
    platform: process.platform,
    root,
    stateFolder: stateFolder(),
    cacheFolder: cacheFolder(),
    availableMemoryMb: linux ? availableMemoryMb(readFileSync("/proc/meminfo", "utf8")) : 0,
    availableDiskMb: await freeDiskMb(stateFolder()),
    freeInotifyInstances: linux ? freeInotifyInstances() : 0,
    controllers: linux ? await controllers() : [],
    tunnelDevice: !linux || isCharacterDevice(TUNNEL_DEVICE),
    kernelFaults: linux && root ? await tryKernel() : [],
  };
}

function isCharacterDevice(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isCharacterDevice() ?? false;
}

/** Kernel features, each with a command that works only with it, run in namespaces of its own. */
const trials: { feature: string; script: string; program?: string; device?: string }[] = [
  { feature: "network, mount and process namespaces (CONFIG_NET_NS, CONFIG_PID_NS)", script: "true" },
  { feature: "bridges (CONFIG_BRIDGE)", script: "ip link add br0 type bridge", program: "ip" },
  { feature: "veth pairs (CONFIG_VETH)", script: "ip link add v0 type veth peer name v1", program: "ip" },
  {
    feature: "tunnels (CONFIG_TUN)",
    script: "ip tuntap add t0 mode tun",
    program: "ip",
    device: TUNNEL_DEVICE,
  },
  {
    feature: "nftables with NAT (CONFIG_NF_TABLES, CONFIG_NFT_MASQ)",
    program: "nft",
    script:
      "printf 'table ip t {\\n chain c {\\n type nat hook postrouting priority srcnat;\\n masquerade\\n }\\n}\\n' | nft -f -",
  },
];

async function tryKernel(): Promise<string[]> {
  const faults: string[] = [];
  if (!/\boverlay$/m.test(readFileSync("/proc/filesystems", "utf8")) && !existsSync("/lib/modules")) {
    faults.push("the kernel has no overlay file system (CONFIG_OVERLAY_FS); boot one that has");
  }
  for (const { feature, script, program, device } of trials) {
    if (program !== undefined && findExecutable(program) === undefined) continue; // tried again once it is installed
    if (device !== undefined && !isCharacterDevice(device)) continue; // has a line of its own
    try {
      await runCommand("unshare", ["--net", "--mount", "--pid", "--fork", "sh", "-ec", script], {
        timeoutMs: 10_000,
      });
    } catch (error) {
      const reason = error instanceof CommandError ? error.stderr.trim().split("\n")[0] : String(error);
      faults.push(`the kernel does not do ${feature}: ${reason ?? ""}`);
    }
  }
  return faults;
}

async function controllers(): Promise<string[]> {
  const mounted = await hierarchies();
  return mounted.flatMap(({ mountPoint, version, controllers: names }) =>
    version === 1 ? names : readFileSync(`${mountPoint}/cgroup.controllers`, "utf8").trim().split(" "),
  );
}

function availableMemoryMb(memInfo: string): number {
  return Math.floor(Number(/^MemAvailable:\s+(\d+) kB/m.exec(memInfo)?.[1] ?? 0) / 1024);
}

/** The kernel counts them by user; those of processes that are not seen from here stay uncounted. */
function freeInotifyInstances(): number {
  const allowed = Number(readFileSync("/proc/sys/fs/inotify/max_user_instances", "utf8"));
  const ours = readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && ownerOf(`/proc/${name}`) === process.getuid?.(),
  );
  return allowed - ours.reduce((count, pid) => count + inotifyInstances(`/proc/${pid}/fd`), 0);
}

function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

function inotifyInstances(folder: string): number {
  try {
    return readdirSync(folder).filter((name) => readlinkSync(join(folder, name)) === "anon_inode:inotify")
      .length;
  } catch {
    return 0; // the process ended, or a file was closed, meanwhile
  }
}

async function freeDiskMb(folder: string): Promise<number> {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  return Math.floor((bavail * bsize) / 1024 / 1024);
}

const overlayMagic = 0x794c7630;

/** Whether a folder can be the upper layer of an overlay: not if it lies on an overlay itself, as in a container. */
export async function canHoldOverlay(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  return (await statfs(folder)).type !== overlayMagic;
}
