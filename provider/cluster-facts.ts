import { ConfigMap, controlPlaneNodeLabels, DaemonSet, Label, LabelValue, Node, Pod } from "../runtime/api";
import type { KubeClient } from "../runtime/kube";
import type { AddressedPod, ClusterFacts, CniAgent } from "../runtime/plan/networking/network-hints";
import { lookMs } from "./core/cluster-access";

/** So many pods tell which networks there are; a large cluster is not read as a whole for a hint. */
const PODS = 500;

/** By the label that their charts and manifests put on the agents. */
const AGENTS = new Map<string, CniAgent["kind"]>([
  ["calico-node", "calico"],
  ["cilium", "cilium"],
]);

/** Looks at what a cluster's networks are like, and whether its nodes tell where the API server is. */
export async function clusterFacts(
  client: KubeClient,
  signal: AbortSignal,
): Promise<ClusterFacts & { hasControlPlaneNode: boolean }> {
  const limits = { signal, deadlineMs: lookMs };
  const [pods, agents, hasControlPlaneNode] = await Promise.all([
    addressedPods(client, limits),
    cniAgents(client, limits),
    controlPlaneNodeIn(client, limits),
  ]);
  return { pods, agents, hasControlPlaneNode };
}

async function controlPlaneNodeIn(client: KubeClient, limits: Limits): Promise<boolean> {
  const nodes = await Promise.all(
    controlPlaneNodeLabels.map((labelSelector) => client.list(Node, { labelSelector }, limits)),
  );
  return nodes.flat().length > 0;
}

interface Limits {
  signal: AbortSignal;
  deadlineMs: number;
}

async function addressedPods(client: KubeClient, limits: Limits): Promise<AddressedPod[]> {
  const labelSelector = `${Label.nodeType}=${LabelValue.virtualNode}`;
  const virtual = new Set(
    (await client.list(Node, { labelSelector }, limits)).map(({ metadata }) => metadata.name),
  );
  const running = { fieldSelector: "status.phase=Running" };
  for await (const { items } of client.listPages(Pod, running, { ...limits, pageSize: PODS })) {
    return items
      .filter(({ spec }) => spec?.hostNetwork !== true && !virtual.has(spec?.nodeName ?? ""))
      .map(({ metadata: { namespace = "", name }, status }) => ({
        namespace,
        name,
        addresses: (status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []),
      }));
  }
  return [];
}

async function cniAgents(client: KubeClient, limits: Limits): Promise<CniAgent[]> {
  const labelSelector = `k8s-app in (${[...AGENTS.keys()].join(", ")})`;
  const found = await client.list(DaemonSet, { labelSelector }, limits);
  return await Promise.all(
    found.flatMap((daemonSet) => {
      const { name, namespace = "", labels } = daemonSet.metadata;
      const kind = AGENTS.get(labels?.["k8s-app"] ?? "");
      return kind === undefined ? [] : [agentOf(client, limits, { kind, name, namespace, daemonSet })];
    }),
  );
}

async function agentOf(
  client: KubeClient,
  limits: Limits,
  {
    kind,
    name,
    namespace,
    daemonSet,
  }: Pick<CniAgent, "kind" | "name" | "namespace"> & {
    daemonSet: DaemonSet;
  },
): Promise<CniAgent> {
  const pod = daemonSet.spec?.template.spec;
  const entries = (pod?.containers ?? [])
    .flatMap(({ env = [] }) => env)
    .flatMap(({ name: key, value }): [string, string][] => (value === undefined ? [] : [[key, value]]));
  const required = pod?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  const config =
    kind === "cilium" ? await client.get(ConfigMap, { name: "cilium-config", namespace }, limits) : undefined;
  return {
    kind,
    name,
    namespace,
    env: Object.fromEntries(entries),
    avoidsVirtualNodes:
      terms.length > 0 &&
      terms.every(({ matchExpressions = [] }) =>
        matchExpressions.some(
          ({ key, operator, values = [] }) =>
            key === Label.nodeType &&
            (operator === "DoesNotExist" ||
              (operator === "NotIn" && values.includes(LabelValue.virtualNode))),
        ),
      ),
    ...(config?.data !== undefined && { config: config.data }),
  };
}
