import { existsSync } from "node:fs";
import { readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { buildPauseImage } from "../../../runtime/image/small-images";
import type { ClusterSpec } from "../cluster-spec";
import { cacheFolder } from "../folders";
import { parseRange } from "../ipv4-range";
import { isRunning, killProcess } from "../process-identity";
import { withLock } from "../process-lock";
import type { BackendOptions } from "../backend-options";
import type { RunningCluster } from "../running-cluster";
import { ensureSystemPackages, missingPackages } from "../system-packages";
import { ensureTools } from "../toolchain";
import { auditLogFile, clusterGroup } from "./cluster-plan";
import {
  clusterNames,
  nodesRun,
  readClusterState,
  writeClusterState,
  type NativeClusterState,
} from "./cluster-state";
import { completeCluster } from "./complete-cluster";
import { childGroups, removeGroup } from "./control-groups";
import { clusterSlots, ensureFabric, findFabric, removeFabric, type Fabric } from "./fabric";
import { hostRoutes } from "./host-network";
import { nativeLayout, type Layout } from "./layout";
import { machineFacts, machineFaults } from "./machine-checks";
import { runInNamespaces } from "./namespace-process";
import { startProcesses } from "./start-cluster";

/** Options of nsenter for all that a node has of its own. */
const allNamespaces = ["--mount", "--net", "--uts", "--pid"];

/**
 * Makes a cluster, takes up one whose processes ended, or finds the one that runs. Nothing is changed if a check fails.
 *
 * @throws one line a fault; naming the fields if a cluster of this name exists with another specification
 */
export async function nativeUp(spec: ClusterSpec, options: BackendOptions = {}): Promise<RunningCluster> {
  const layout = nativeLayout();
  const cluster = layout.cluster(spec.name);
  return withLock(cluster.lock, lockOptions(`starting the cluster ${spec.name}`, options), async () => {
    const before = await readClusterState(cluster);
    if (before !== undefined) assertSameSpec(before.spec, spec);
    const progress = options.progress ?? (() => undefined);
    const running = await findFabric(layout);
    if (before !== undefined && running !== undefined && nodesRun(before)) {
      await completeCluster(before, { ...options, layout, fabric: running, progress: () => undefined });
      await importImages(layout, before, spec.images);
      return describe(layout, before);
    }
    const fabric = await prepare(spec, layout, options);
    const context = {
      ...options,
      layout,
      fabric,
      tools: await ensureTools(["kubernetes", "etcd", "coredns"], options),
      images: [(await buildPauseImage(join(cacheFolder(), "images"))).file, ...spec.images],
      progress,
    };
    await endProcesses(layout, spec.name);
    const startedAt = Date.now();
    try {
      const state = await startProcesses(spec, before?.slot ?? (await takeSlot(layout, spec)), context);
      await completeCluster(state, { ...context, startedAt });
      return await describe(layout, state);
    } catch (error) {
      // The folder stays, for its logs and for the next try.
      await endProcesses(layout, spec.name);
      throw error;
    }
  });
}

/** Removes a cluster and all that it made; also what is left of one that was killed. False if there was none. */
export async function nativeDown(name: string, options: BackendOptions = {}): Promise<boolean> {
  const layout = nativeLayout();
  const existed = (await remainingNames(layout)).includes(name);
  if (existed) await removeCluster(layout, name, options);
  await removeIfUnused(layout, options);
  return existed;
}

/** Removes every cluster of this checkout, also those whose folder or processes are all that is left. */
export async function nativeDownAll(options: BackendOptions = {}): Promise<string[]> {
  const layout = nativeLayout();
  const names = await remainingNames(layout);
  await Promise.all(names.map((name) => removeCluster(layout, name, options)));
  await removeIfUnused(layout, options);
  return names;
}

async function removeCluster(layout: Layout, name: string, options: BackendOptions): Promise<void> {
  const cluster = layout.cluster(name);
  await withLock(cluster.lock, lockOptions(`removing the cluster ${name}`, options), async () => {
    await endProcesses(layout, name);
    await rm(cluster.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
}

/** The last cluster takes the network and the folders with it. */
async function removeIfUnused(layout: Layout, options: BackendOptions): Promise<void> {
  if (process.platform !== "linux") return;
  if ((await remainingNames(layout)).length > 0) return;
  await withLock(join(layout.folder, "lock"), lockOptions("removing the network", options), async () => {
    if ((await remainingNames(layout)).length > 0) return;
    await removeFabric(layout);
    await removeGroup(layout.cgroup);
  });
  // Fails, as it should, while another process holds a lock in it.
  for (const folder of [join(layout.folder, "clusters"), layout.folder])
    await rmdir(folder).catch(() => undefined);
}

/** Clusters that have a folder, and those that only have processes because their folder was deleted. */
async function remainingNames(layout: Layout): Promise<string[]> {
  const groups = process.platform === "linux" ? await childGroups(`${layout.cgroup}/clusters`) : [];
  return [...new Set([...(await clusterNames(layout)), ...groups])].sort();
}

/** The specifications of this checkout's clusters, whether their processes run or not. */
export async function nativeList(): Promise<{ spec: ClusterSpec; running: boolean }[]> {
  const layout = nativeLayout();
  // One that cannot be read does not hide the others; whoever names it is told.
  const states = await Promise.all(
    (await clusterNames(layout)).map((name) => readClusterState(layout.cluster(name)).catch(() => undefined)),
  );
  return states.flatMap((state) =>
    state === undefined ? [] : [{ spec: state.spec, running: nodesRun(state) }],
  );
}

/** A cluster whose processes run; undefined if there is none of this name or they ended. */
export async function nativeGet(name: string): Promise<RunningCluster | undefined> {
  const layout = nativeLayout();
  const state = await readClusterState(layout.cluster(name));
  return state !== undefined && nodesRun(state) ? describe(layout, state) : undefined;
}

/** Runs a command on a node, in all its namespaces. */
export async function runOnNode(cluster: string, node: string, command: string[]): Promise<string> {
  const state = await readClusterState(nativeLayout().cluster(cluster));
  const found = state?.nodes.find(({ name }) => name === node);
  if (found?.init === undefined) throw new Error(`the cluster ${cluster} has no running node ${node}`);
  return runInNamespaces(found.init, allNamespaces, command);
}

/** Loads image archives into every node of a running cluster. */
export async function nativeImportImages(name: string, images: readonly string[]): Promise<void> {
  const layout = nativeLayout();
  const state = await readClusterState(layout.cluster(name));
  if (state === undefined || !nodesRun(state)) throw new Error(`the cluster ${name} does not run`);
  assertExist(images);
  await importImages(layout, state, images);
}

/** Kills what is left of a cluster and waits until the kernel has taken its namespaces apart. */
async function endProcesses(layout: Layout, name: string): Promise<void> {
  const state = await readClusterState(layout.cluster(name)).catch(() => undefined);
  await removeGroup(clusterGroup(layout, name));
  const inits = state?.nodes.flatMap(({ init }) => init ?? []) ?? [];
  for (const init of inits) killProcess(init);
  // A group is empty before the first process of its namespaces has reaped the others.
  for (const deadline = Date.now() + 20_000; inits.some(isRunning); await sleep(20)) {
    if (Date.now() > deadline) throw new Error(`the nodes of the cluster ${name} do not end after SIGKILL`);
  }
}

/** All checks, then the packages and the network that clusters share. */
async function prepare(spec: ClusterSpec, layout: Layout, options: BackendOptions): Promise<Fabric> {
  const absent = spec.images.find((path) => !existsSync(path));
  if (absent !== undefined)
    throw new Error(`images: ${absent} does not exist; build it first, or leave it out`);
  await assertMachineFits(spec, layout);
  if (missingPackages().length > 0) {
    await ensureSystemPackages(options.progress);
    await assertMachineFits(spec, layout); // what could not be tried without them
  }
  const taken = [parseRange(spec.podCidr), parseRange(spec.serviceCidr)];
  return withLock(join(layout.folder, "lock"), lockOptions("making the network", options), async () =>
    ensureFabric(layout, taken),
  );
}

async function assertMachineFits(spec: ClusterSpec, layout: Layout): Promise<void> {
  const fabric = await findFabric(layout);
  const routes = process.platform === "linux" ? await hostRoutes() : [];
  const faults = machineFaults(spec, await machineFacts({ routes, fabric: fabric?.range }));
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

/** The first free place in the address plan; the cluster's folder marks it as taken. */
async function takeSlot(layout: Layout, spec: ClusterSpec): Promise<number> {
  return withLock(join(layout.folder, "lock"), { purpose: "giving out addresses" }, async () => {
    const states = await Promise.all(
      (await clusterNames(layout)).map((name) => readClusterState(layout.cluster(name))),
    );
    const used = new Set(states.map((state) => state?.slot));
    const slot = Array.from({ length: clusterSlots }, (_, index) => index).find((index) => !used.has(index));
    if (slot === undefined) throw new Error(`there are ${clusterSlots} local clusters already; remove some`);
    await writeClusterState(layout.cluster(spec.name), { spec, slot, apiServerUrl: "", nodes: [] });
    return slot;
  });
}

function assertSameSpec(before: ClusterSpec, wanted: ClusterSpec): void {
  const fields = ["nodes", "podCidr", "serviceCidr", "kubernetesVersion", "auditLog"] as const;
  const changed = fields.filter((field) => before[field] !== wanted[field]);
  if (changed.length === 0) return;
  const list = changed
    .map((field) => `${field} ${String(before[field])} instead of ${String(wanted[field])}`)
    .join(", ");
  throw new Error(
    `a local cluster named ${before.name} exists with ${list}; remove it with "npm run clusters -- down ${before.name}" or use another name`,
  );
}

function assertExist(images: readonly string[]): void {
  const absent = images.find((path) => !existsSync(path));
  if (absent !== undefined)
    throw new Error(`images: ${absent} does not exist; build it first, or leave it out`);
}

async function importImages(
  layout: Layout,
  state: NativeClusterState,
  images: readonly string[],
): Promise<void> {
  if (images.length === 0) return;
  for (const { name, init } of state.nodes) {
    if (init === undefined) continue;
    const script = layout.cluster(state.spec.name).node(name).file("import-images.sh");
    await runInNamespaces(init, allNamespaces, ["/bin/sh", script, ...images]);
  }
}

async function describe(layout: Layout, state: NativeClusterState): Promise<RunningCluster> {
  const cluster = layout.cluster(state.spec.name);
  return {
    name: state.spec.name,
    backend: "native",
    kubeconfig: await readFile(join(cluster.pki, "admin.kubeconfig"), "utf8"),
    apiServerUrl: state.apiServerUrl,
    peerApiServerUrl: state.apiServerUrl,
    nodeNames: state.nodes.map(({ name }) => name),
    podCidr: state.spec.podCidr,
    serviceCidr: state.spec.serviceCidr,
    folder: cluster.folder,
    ...(state.spec.auditLog && { auditLogPath: auditLogFile(cluster) }),
  };
}

function lockOptions(purpose: string, options: BackendOptions) {
  return {
    purpose,
    onWait: (holder: { pid: number; purpose: string }) => {
      if (holder.pid !== process.pid)
        options.progress?.(`waiting for process ${holder.pid}: ${holder.purpose}`);
    },
    ...(options.signal && { signal: options.signal }),
  };
}
