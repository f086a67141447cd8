import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { controlPlaneNodeLabels } from "../../../runtime/api";
import { waitForApiServer, type ProbeTarget } from "../api-server-probe";
import { formatRange } from "../ipv4-range";
import { applyAddons } from "./addons";
import { ApiConnection } from "./api-connection";
import { clusterDns, planNodes } from "./cluster-plan";
import type { NativeClusterState } from "./cluster-state";
import type { Fabric } from "./fabric";
import type { ClusterLayout, Layout } from "./layout";
import type { NodePlan } from "./node-files";

export interface CompletionContext {
  layout: Layout;
  fabric: Fabric;
  /** When the nodes were started: what they reported before does not count. Milliseconds since the epoch; 0 by default. */
  startedAt?: number;
  signal?: AbortSignal;
  progress: (line: string) => void;
}

const readyTimeoutMs = 120_000;

/**
 * Waits for the API server, applies the add-ons and waits until every node is Ready. Changes nothing in a cluster that is complete.
 *
 * @throws naming what is not ready and the folder of the logs
 */
export async function completeCluster(state: NativeClusterState, context: CompletionContext): Promise<void> {
  const { spec } = state;
  const cluster = context.layout.cluster(spec.name);
  const nodes = planNodes(spec, state.slot, context.fabric.range, context.layout);
  const target = await readAdministrator(cluster, state.apiServerUrl);
  const api = new ApiConnection(target);
  try {
    await waitForApiServer(target, {
      timeoutMs: readyTimeoutMs,
      ...(context.signal && { signal: context.signal }),
    });
    await writeFile(cluster.apiReadyFile, "");
    context.progress(`${spec.name}: API server ready at ${state.apiServerUrl}`);
    await Promise.all([
      applyAddons(api, { clusterDns: clusterDns(spec), dnsAddress: nodes[0]?.address ?? "" }),
      untilNodesReady(api, nodes, context),
    ]);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `the cluster ${spec.name} did not become ready: ${reason}; its logs are in ${cluster.logs}`,
      {
        cause,
      },
    );
  } finally {
    await api.close();
  }
}

async function readAdministrator(cluster: ClusterLayout, url: string): Promise<ProbeTarget> {
  const [ca = "", certificate = "", privateKey = ""] = await Promise.all(
    ["ca.crt", "admin.crt", "admin.key"].map((name) => readFile(join(cluster.pki, name), "utf8")),
  );
  return { url, ca, certificate, privateKey };
}

const nodeList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).optional() }),
      spec: z.object({ podCIDR: z.string().optional() }).optional(),
      status: z
        .object({
          conditions: z
            .array(
              z.object({
                type: z.string(),
                status: z.string(),
                message: z.string().optional(),
                lastHeartbeatTime: z.string(),
              }),
            )
            .optional(),
        })
        .optional(),
    }),
  ),
});

async function untilNodesReady(
  api: ApiConnection,
  nodes: readonly NodePlan[],
  context: CompletionContext,
): Promise<void> {
  let waitingFor = "";
  for (const deadline = Date.now() + readyTimeoutMs; Date.now() < deadline; await sleep(100)) {
    context.signal?.throwIfAborted();
    const { items } = nodeList.parse(await api.get("/api/v1/nodes"));
    const missing = [];
    for (const node of nodes) {
      const found = items.find(({ metadata }) => metadata.name === node.name);
      const ready = found?.status?.conditions?.find(({ type }) => type === "Ready");
      // Heartbeats are told in whole seconds.
      const current =
        ready !== undefined && Date.parse(ready.lastHeartbeatTime) + 999 >= (context.startedAt ?? 0);
      if (!current) missing.push(`${node.name} (not registered)`);
      else if (ready.status !== "True") missing.push(`${node.name} (${ready.message ?? "not Ready"})`);
      if (found === undefined) continue;
      const labels: Record<string, string> = node === nodes[0] ? { [controlPlaneNodeLabels[0]]: "" } : {};
      const labelled = Object.keys(labels).every((label) => found.metadata.labels?.[label] !== undefined);
      if (found.spec?.podCIDR === undefined || !labelled) await publishNode(api, node, labels);
    }
    if (missing.length === 0) return;
    waitingFor = missing.join(", ");
  }
  throw new Error(`not Ready after ${readyTimeoutMs / 1000} s: ${waitingFor}`);
}

/**
 * The node object names its pod range, as in clusters whose controller manager gives the ranges out, and the first one's that it runs the control
 * plane, which a kubelet may not say of its own node.
 */
async function publishNode(
  api: ApiConnection,
  node: NodePlan,
  labels: Record<string, string>,
): Promise<void> {
  const podCIDR = formatRange(node.podRange);
  await api.apply(`/api/v1/nodes/${node.name}`, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: node.name, labels },
    spec: { podCIDR, podCIDRs: [podCIDR] },
  });
}
