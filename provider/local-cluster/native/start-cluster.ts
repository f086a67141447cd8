import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { ClusterSpec } from "../cluster-spec";
import { auditPolicy } from "../control-plane-flags";
import { writeControlPlanePki } from "../control-plane-pki";
import { addressAt, parseRange } from "../ipv4-range";
import type { ToolPaths } from "../toolchain";
import { addonUsers, corefile } from "./addons";
import { pullProxyPort } from "./agent/pull-proxy-port";
import { auditLogFile, clusterDns, clusterGroup, planNodes } from "./cluster-plan";
import { writeClusterState, type NativeClusterState } from "./cluster-state";
import { makePodGroup, makeProcessGroup } from "./control-groups";
import { connectNode, fabricPrefix, type Fabric } from "./fabric";
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
