import { Label, Node, Pod } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { table } from "./table";

export interface Result {
  /** The clusters, each as its administrator sees it. */
  rome: KubeClient;
  milan: KubeClient;
  /** Namespace of the application at rome, and its twin at milan. */
  namespace: string;
  remoteNamespace: string;
  /** Namespace of rome's with a pod that asks the application. */
  visitors: string;
}

/** What came of it, from both sides, in a few lines. */
export async function describeResult(result: Result): Promise<string> {
  const { rome, milan, namespace, remoteNamespace, visitors } = result;
  const [nodes, pods, remotePods, [visitor]] = await Promise.all([
    rome.list(Node),
    rome.list(Pod, { namespace }),
    milan.list(Pod, { namespace: remoteNamespace }),
    rome.list(Pod, { namespace: visitors }),
  ]);
  const [first] = pods;
  return [
    `Nodes of rome, the consumer:\n${indent(nodeTable(nodes))}`,
    `Pods in its namespace ${namespace}:\n${indent(podTable(pods))}`,
    `The same pods in namespace ${remoteNamespace} of milan, the provider:\n${indent(podTable(remotePods))}`,
    ...(first === undefined
      ? []
      : [`The last line of ${first.metadata.name}, read at rome:\n${indent(await lastLine(rome, first))}`]),
    ...(visitor === undefined
      ? []
      : [
          `What pod ${visitor.metadata.name} of rome was answered, through the Service:\n${indent(await lastLine(rome, visitor))}`,
        ]),
  ].join("\n\n");
}

function nodeTable(nodes: readonly Node[]): string {
  return table([
    ["NAME", "STATUS", "KIND", "CPU", "MEMORY", "PODS"],
    ...nodes.map(({ metadata, status }) => [
      metadata.name,
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")
        ? "Ready"
        : "NotReady",
      metadata.labels?.[Label.nodeType] ?? "node",
      status?.allocatable?.["cpu"] ?? "",
      status?.allocatable?.["memory"] ?? "",
      status?.allocatable?.["pods"] ?? "",
    ]),
  ]);
}

function podTable(pods: readonly Pod[]): string {
  return table([
    ["NAME", "STATUS", "NODE", "IP"],
    ...pods.map(({ metadata, spec, status }) => [
      metadata.name,
      status?.phase ?? "",
      spec.nodeName ?? "",
      status?.podIP ?? "",
    ]),
  ]);
}

/** The log goes the way that `kubectl logs` takes: API server, virtual kubelet, API server of the provider. */
async function lastLine(client: KubeClient, pod: Pod): Promise<string> {
  const { name, namespace = "" } = pod.metadata;
  const deadline = Date.now() + 30_000;
  for (;;) {
    const { status, body } = await client.raw({
      path: `/api/v1/namespaces/${namespace}/pods/${name}/log?tailLines=1`,
    });
    const text = body.toString("utf8").trim();
    if (status !== 200)
      throw new Error(`the log of pod ${namespace}/${name} cannot be read: ${status} ${text}`);
    if (text !== "" || Date.now() > deadline) return text;
    await new Promise((resolve) => setTimeout(resolve, 500)); // the container has only just begun
  }
}

function indent(text: string): string {
  return text.replace(/^/gm, "  ");
}
