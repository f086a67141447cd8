import { Pod } from "../../api/kubernetes";
import { keyOfRef, type KubeClient, type Logger } from "../../kube";
import type { HostedNode } from "../hosting/hosted-node";
import { reflectionSelector } from "../reflection/reflected-metadata";
import type { KubeletRoute, MetricsPath } from "./kubelet-route";
import type { KubeletBackend, PodLocation } from "./kubelet-server";
import { type MeasuredPod, mergeMetrics, parsePodMetrics, statsSummary } from "./node-metrics";

type NodeRoute = Extract<KubeletRoute, { about: "node" }>;

interface Parts {
  nodes: () => readonly HostedNode[];
  localClient: KubeClient;
  consumerId: string;
  log: Logger;
}

/** What the kubelet endpoint knows of the virtual nodes that are hosted here. All of them answer at one address, so answers about nodes are about all. */
export class NodeReports implements KubeletBackend {
  private readonly startTime = new Date().toISOString();

  constructor(private readonly parts: Parts) {}

  locate(namespace: string, pod: string): PodLocation | undefined {
    for (const node of this.parts.nodes()) {
      if (node.localPod(keyOfRef({ namespace, name: pod })) === undefined) continue;
      const { peer, access } = node.provider;
      const remoteNamespace = peer.remoteNamespaceOf(namespace);
      if (access.client === undefined || remoteNamespace === undefined) return undefined;
      return { node: node.nodeName, client: access.client, remoteNamespace };
    }
    return undefined;
  }

  async report(route: NodeRoute): Promise<{ contentType: string; body: string }> {
    switch (route.what) {
      case "pods":
        return json(podList(await this.pods()));
      case "runningpods":
        return json(podList((await this.pods()).filter(({ status }) => status?.phase === "Running")));
      case "summary":
        return json(await this.summary());
      case "metrics":
        return { contentType: "text/plain; version=0.0.4", body: await this.metrics(route.path) };
    }
  }

  /** Read afresh: the cache holds only what the reflection needs of them. */
  private async pods(): Promise<Pod[]> {
    const lists = await Promise.all(
      this.parts
        .nodes()
        .map(({ nodeName }) =>
          this.parts.localClient.list(Pod, { fieldSelector: `spec.nodeName=${nodeName}` }),
        ),
    );
    return lists.flat();
  }

  private async summary(): Promise<object> {
    const nodes = this.parts.nodes();
    const measured = (await Promise.all(nodes.map((node) => this.measure(node)))).flat();
    return statsSummary(nodes.map(({ nodeName }) => nodeName).join(","), this.startTime, measured);
  }

  /** A provider without metrics, or one that is away, measures nothing. */
  private async measure(node: HostedNode): Promise<MeasuredPod[]> {
    const { peer, access } = node.provider;
    const { client } = access;
    if (client === undefined) return [];
    const selector = encodeURIComponent(reflectionSelector(peer.pair));
    const measured = await Promise.all(
      peer.namespaces.map(async ({ local: namespace, remote }) => {
        const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${remote}/pods?labelSelector=${selector}`;
        const body = await this.read(client, path);
        return (parsePodMetrics(body) ?? []).flatMap((metrics): MeasuredPod[] => {
          const { name } = metrics.metadata;
          const pod = node.localPod(keyOfRef({ namespace, name }));
          if (pod === undefined) return [];
          return [
            { name, namespace, uid: pod.metadata.uid ?? "", startTime: pod.status?.startTime, metrics },
          ];
        });
      }),
    );
    return measured.flat();
  }

  private async metrics(path: MetricsPath): Promise<string> {
    const peers = new Set(this.parts.nodes().map(({ provider }) => provider.peer));
    const texts = await Promise.all(
      [...peers].map(async ({ client }) => {
        if (client === undefined) return "";
        return await this.read(
          client,
          `/apis/metrics.liqo.io/v1beta1/scrape/${this.parts.consumerId}/${path}`,
        );
      }),
    );
    return mergeMetrics(texts.filter((text) => text !== ""));
  }

  private async read(client: KubeClient, path: string): Promise<string> {
    try {
      const { status, body } = await client.raw({ path });
      return status === 200 ? body.toString("utf8") : "";
    } catch (error) {
      this.parts.log.debug("no metrics of the provider", { path, error });
      return "";
    }
  }
}

function json(value: object): { contentType: string; body: string } {
  return { contentType: "application/json", body: JSON.stringify(value) };
}

function podList(items: Pod[]): object {
  return { kind: "PodList", apiVersion: "v1", metadata: {}, items };
}
