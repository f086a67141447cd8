import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { clusterSpec } from "../cluster-spec";
import { isRunning } from "../process-identity";
import type { ClusterLayout, Layout } from "./layout";
import { readStateFile, writeStateFile } from "./state-file";

const identity = z.object({ pid: z.number(), startTime: z.string(), boot: z.string() });

const nativeClusterState = z.object({
  spec: clusterSpec,
  /** Place in the fabric's address plan. */
  slot: z.number(),
  apiServerUrl: z.string(),
  nodes: z.array(z.object({ name: z.string(), address: z.string(), init: identity.optional() })),
});

/** What is remembered of a native cluster from its first start to its removal. */
export type NativeClusterState = z.output<typeof nativeClusterState>;

export function readClusterState(layout: ClusterLayout): Promise<NativeClusterState | undefined> {
  return readStateFile(
    layout.stateFile,
    nativeClusterState,
    `remove the cluster with "npm run clusters -- down ${layout.name}"`,
  );
}

export async function writeClusterState(layout: ClusterLayout, state: NativeClusterState): Promise<void> {
  await writeStateFile(layout.stateFile, state);
}

/** Names of the clusters that this checkout has folders of, running or not. */
export async function clusterNames(layout: Layout): Promise<string[]> {
  const entries = await readdir(join(layout.folder, "clusters"), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** Whether all nodes of a cluster run: it has none before its first start. */
export function nodesRun(state: NativeClusterState): boolean {
  return state.nodes.length > 0 && state.nodes.every(({ init }) => init !== undefined && isRunning(init));
}
