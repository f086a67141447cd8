import type { BackendOptions } from "./backend-options";
import { clusterSpec, type ClusterSpecInput } from "./cluster-spec";
import { kindDown, kindGet, kindImportImages, kindList, kindUp, kindUsable } from "./kind/kind-backend";
import {
  nativeDown,
  nativeDownAll,
  nativeGet,
  nativeImportImages,
  nativeList,
  nativeUp,
} from "./native/native-backend";
import type { ClusterSummary, RunningCluster } from "./running-cluster";

/** Real Kubernetes clusters on this machine: made, found and removed by name, whatever runs them. */

/**
 * Makes a cluster, takes up one whose processes ended (after a reboot, say), or finds the one that runs. Its nodes are Ready.
 *
 * @throws if the specification or the machine does not allow it, before anything is changed; or if a cluster of this name
 * exists with another specification
 */
export async function upCluster(
  input: ClusterSpecInput,
  options: BackendOptions = {},
): Promise<RunningCluster> {
  const spec = clusterSpec.parse(input);
  const backend =
    (await backendOf(spec.name)) ?? (spec.backend === "auto" ? await bestBackend() : spec.backend);
  if (spec.backend !== "auto" && spec.backend !== backend) {
    throw new Error(
      `a local cluster named ${spec.name} runs on ${backend}, not on ${spec.backend}; remove it with "npm run clusters -- down ${spec.name}"`,
    );
  }
  return backend === "kind" ? kindUp(spec, options) : nativeUp(spec, options);
}

/** Removes a cluster and everything that it made, also what a killed one left. False if there was none. */
export async function downCluster(name: string, options: BackendOptions = {}): Promise<boolean> {
  const kind = await kindDown(name);
  const native = await nativeDown(name, options);
  return kind || native;
}

/** Removes all clusters of this checkout, whatever state they are in; returns their names. */
export async function downAllClusters(options: BackendOptions = {}): Promise<string[]> {
  const kind = (await kindList()).map(({ spec }) => spec.name);
  await Promise.all(kind.map(kindDown));
  return [...kind, ...(await nativeDownAll(options))];
}

/** Starts again every cluster of this checkout that does not run, with its keys and data. */
export async function resumeClusters(options: BackendOptions = {}): Promise<RunningCluster[]> {
  const stopped = (await nativeList()).filter(({ running }) => !running);
  // Their nodes still hold the images that they were given.
  return Promise.all(stopped.map(({ spec }) => nativeUp({ ...spec, images: [] }, options)));
}

/** A running cluster; undefined if there is none of this name, or it does not run. */
export async function getCluster(name: string): Promise<RunningCluster | undefined> {
  return (await nativeGet(name)) ?? (await kindGet(name));
}

/** The clusters of this checkout, running or not. */
export async function listClusters(): Promise<ClusterSummary[]> {
  const [native, kind] = await Promise.all([nativeList(), kindList()]);
  const summary =
    (backend: "kind" | "native") =>
    ({ spec, running }: (typeof native)[number]): ClusterSummary => ({
      name: spec.name,
      backend,
      running,
      nodes: spec.nodes,
      podCidr: spec.podCidr,
      serviceCidr: spec.serviceCidr,
    });
  return [...native.map(summary("native")), ...kind.map(summary("kind"))];
}

/** Loads image archives into every node of a running cluster. */
export async function importImages(name: string, archives: readonly string[]): Promise<void> {
  const backend = await backendOf(name);
  if (backend === undefined) throw new Error(`there is no local cluster named ${name}`);
  await (backend === "kind" ? kindImportImages(name, archives) : nativeImportImages(name, archives));
}

async function backendOf(name: string): Promise<"kind" | "native" | undefined> {
  return (await listClusters()).find((cluster) => cluster.name === name)?.backend;
}

async function bestBackend(): Promise<"kind" | "native"> {
  return (await kindUsable()) ? "kind" : "native";
}
