import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { waitForApiServer, type ProbeTarget } from "../api-server-probe";
import type { ClusterSpec } from "../cluster-spec";
import { auditPolicy } from "../control-plane-flags";
import { writeControlPlanePki } from "../control-plane-pki";
import { addressAt, formatRange, parseRange, subrange, type Ipv4Range } from "../ipv4-range";
import type { ToolPaths } from "../toolchain";
import { addonUsers, applyAddons, corefile } from "./addons";
import { pullProxyPort } from "./agent/pull-proxy-port";
import { ApiConnection } from "./api-connection";
import { writeClusterState, type NativeClusterState } from "./cluster-state";
import { makePodGroup, makeProcessGroup } from "./control-groups";
import { connectNode, fabricPrefix, nodeAddress, type Fabric } from "./fabric";
import type { ClusterLayout, Layout } from "./layout";
import { canHoldOverlay } from "./machine-checks";
import { quote, startDetached, startInNamespaces } from "./namespace-process";
import { writeNodeFiles, type NodePlan } from "./node-files";
import { nodeScript } from "./node-script";

export interface StartContext {
  layout: Layout;
  fabric: Fabric;
  tools: ToolPaths;
  /** Archives to import, the pause image first. */
  images: string[];
  signal?: AbortSignal;
  progress: (line: string) => void;
}

const readyTimeoutMs = 120_000;

/** Where things are in a cluster's address plan. */
export function planNodes(spec: ClusterSpec, slot: number, fabric: Ipv4Range, layout: Layout): NodePlan[] {
  const pods = parseRange(spec.podCidr);
  // A /24 a node, or what is left of a small range.
  const prefix = Math.max(24, pods.prefix + Math.ceil(Math.log2(spec.nodes)));
  return Array.from({ length: spec.nodes }, (_, index) => {
    const name = `${spec.name}-${index + 1}`;
    return {
      name,
      address: nodeAddress(fabric, slot, index),
      podRange: subrange(pods, prefix, index),
      layout: layout.cluster(spec.name).node(name),
      podGroup: `${clusterGroup(layout, spec.name)}/${name}`,
    };
  });
}

/** Control group of everything that belongs to a cluster. */
export function clusterGroup(layout: Layout, name: string): string {
  return `${layout.cgroup}/clusters/${name}`;
}

/**
 * Starts the processes of a cluster whose folder may hold the keys and the data of an earlier run: they are taken up again.
 * What serves requests comes up by itself; `completeCluster` does the rest.
 */
export async function startProcesses(
  spec: ClusterSpec,
  slot: number,
  context: StartContext,
): Promise<NativeClusterState> {
  const { layout, fabric } = context;
  const cluster = layout.cluster(spec.name);
  const nodes = planNodes(spec, slot, fabric.range, layout);
  const [first] = nodes;
  if (first === undefined) throw new Error(`the cluster ${spec.name} has no nodes`);
  const state: NativeClusterState = {
    spec,
    slot,
    apiServerUrl: `https://${first.address}:6443`,
    nodes: nodes.map(({ name, address }) => ({ name, address })),
  };
  await writeClusterState(cluster, state);
  for (const folder of [cluster.logs, cluster.volumes, cluster.etcd]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  await rm(cluster.apiReadyFile, { force: true });
  await ensurePki(spec, nodes, cluster, state.apiServerUrl);
  await writeStartFiles(spec, slot, nodes, context);
  await startNodes(nodes, state, context);
  await startAgent(cluster, layout);
  return state;
}

/**
 * Waits for the API server, applies the add-ons and waits until every node is Ready. Changes nothing in a cluster that is complete.
 *
 * @throws naming what is not ready and the folder of the logs
 */
export async function completeCluster(
  state: NativeClusterState,
  context: Pick<StartContext, "layout" | "fabric" | "signal" | "progress">,
): Promise<void> {
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

function clusterDns(spec: ClusterSpec): string {
  return addressAt(parseRange(spec.serviceCidr), 10);
}

/** Keys made by the first start stay valid for the same addresses. */
async function ensurePki(
  spec: ClusterSpec,
  nodes: readonly NodePlan[],
  cluster: ClusterLayout,
  server: string,
): Promise<void> {
  // Written last, so that keys half written are made anew.
  const complete = join(cluster.pki, "complete");
  if ((await readFile(complete, "utf8").catch(() => "")) === server) return;
  const kubelets = Object.fromEntries(
    nodes.map(({ name, address }) => [
      name,
      {
        commonName: `system:node:${name}`,
        organizations: ["system:nodes"],
        addresses: [address],
        dnsNames: [name],
      },
    ]),
  );
  await writeControlPlanePki({
    folder: cluster.pki,
    clusterName: spec.name,
    server,
    addresses: [nodes[0]?.address ?? "127.0.0.1", "127.0.0.1", addressAt(parseRange(spec.serviceCidr), 1)],
    dnsNames: [
      "localhost",
      "kubernetes",
      "kubernetes.default",
      "kubernetes.default.svc",
      "kubernetes.default.svc.cluster.local",
    ],
    users: { ...kubelets, ...addonUsers },
  });
  await writeFile(complete, server);
}

async function readAdministrator(cluster: ClusterLayout, url: string): Promise<ProbeTarget> {
  const [ca = "", certificate = "", privateKey = ""] = await Promise.all(
    ["ca.crt", "admin.crt", "admin.key"].map((name) => readFile(join(cluster.pki, name), "utf8")),
  );
  return { url, ca, certificate, privateKey };
}

async function writeStartFiles(
  spec: ClusterSpec,
  slot: number,
  nodes: readonly NodePlan[],
  context: StartContext,
): Promise<void> {
  const { layout, fabric, tools } = context;
  const cluster = layout.cluster(spec.name);
  const files = {
    corefile: join(cluster.folder, "Corefile"),
    auditPolicy: join(cluster.folder, "audit-policy.yaml"),
  };
  const dnsAddress = nodes[0]?.address ?? "";
  await writeFile(files.corefile, corefile(dnsAddress, join(cluster.pki, "coredns.kubeconfig"), undefined));
  await writeFile(files.auditPolicy, auditPolicy);
  const settings = {
    cluster,
    tools,
    clusterDns: clusterDns(spec),
    podCidr: spec.podCidr,
    serviceCidr: spec.serviceCidr,
    overlay: await canHoldOverlay(cluster.folder),
    hostAddress: fabric.hostAddress,
    fabricPrefix,
    images: context.images,
    proxyUrl: `http://${fabric.hostAddress}:${pullProxyPort(slot)}`,
  };
  for (const [index, node] of nodes.entries()) {
    await writeNodeFiles(node, settings);
    const script = nodeScript(node, {
      ...settings,
      peers: nodes.filter((peer) => peer !== node),
      ...(index === 0 && {
        controlPlane: {
          corefile: files.corefile,
          ...(spec.auditLog && { audit: { policyFile: files.auditPolicy, logFile: auditLogFile(cluster) } }),
        },
      }),
    });
    await writeFile(node.layout.file("init.sh"), script, { mode: 0o700 });
  }
}

export function auditLogFile(cluster: ClusterLayout): string {
  return join(cluster.logs, "audit.log");
}

async function startNodes(
  nodes: readonly NodePlan[],
  state: NativeClusterState,
  context: StartContext,
): Promise<void> {
  const { layout, fabric } = context;
  const cluster = layout.cluster(state.spec.name);
  const cgroupFolder = await makeProcessGroup(`${clusterGroup(layout, state.spec.name)}/processes`);
  for (const [index, node] of nodes.entries()) {
    await makePodGroup(node.podGroup);
    const init = await startInNamespaces({
      cgroupFolder,
      namespaces: [
        "--mount",
        "--net",
        "--uts",
        "--pid",
        "--fork",
        "--kill-child=KILL",
        "--propagation",
        "private",
      ],
      script: node.layout.file("init.sh"),
      pidFile: node.layout.file("init.pid"),
      logFile: join(cluster.logs, `${node.name}-init.log`),
    });
    state.nodes[index] = { name: node.name, address: node.address, init };
    await writeClusterState(cluster, state);
    await connectNode(fabric, init, `v${state.slot}-${index}`);
  }
}

/** The agent starts when the API server is ready, and again whenever it ends. */
async function startAgent(cluster: ClusterLayout, layout: Layout): Promise<void> {
  const script = `until [ -e ${quote(cluster.apiReadyFile)} ]; do sleep 0.2; done
while :; do "$@"; sleep 1; done`;
  startDetached({
    cgroupFolder: await makeProcessGroup(`${clusterGroup(layout, cluster.name)}/processes`),
    command: [
      "/bin/sh",
      "-c",
      script,
      "agent",
      process.execPath,
      require.resolve("./agent/agent-main"),
      cluster.name,
    ],
    logFile: join(cluster.logs, "agent.log"),
  });
}

const nodeList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ podCIDR: z.string().optional() }).optional(),
      status: z
        .object({
          conditions: z
            .array(z.object({ type: z.string(), status: z.string(), message: z.string().optional() }))
            .optional(),
        })
        .optional(),
    }),
  ),
});

async function untilNodesReady(
  api: ApiConnection,
  nodes: readonly NodePlan[],
  context: Pick<StartContext, "signal">,
): Promise<void> {
  let waitingFor = "";
  for (const deadline = Date.now() + readyTimeoutMs; Date.now() < deadline; await sleep(100)) {
    context.signal?.throwIfAborted();
    const { items } = nodeList.parse(await api.get("/api/v1/nodes"));
    const missing = [];
    for (const node of nodes) {
      const found = items.find(({ metadata }) => metadata.name === node.name);
      const ready = found?.status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status !== "True") missing.push(`${node.name} (${ready?.message ?? "not registered"})`);
      if (found !== undefined && found.spec?.podCIDR === undefined) await publishPodRange(api, node);
    }
    if (missing.length === 0) return;
    waitingFor = missing.join(", ");
  }
  throw new Error(`not Ready after ${readyTimeoutMs / 1000} s: ${waitingFor}`);
}

/** The node object names its pod range, as in clusters whose controller manager gives the ranges out. */
async function publishPodRange(api: ApiConnection, node: NodePlan): Promise<void> {
  const podCIDR = formatRange(node.podRange);
  await api.apply(`/api/v1/nodes/${node.name}`, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: node.name },
    spec: { podCIDR, podCIDRs: [podCIDR] },
  });
}
