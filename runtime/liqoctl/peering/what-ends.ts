import { Label, LabelValue } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import { NamespaceMap, VirtualNode } from "../../api/offloading";
import type { Cluster } from "../cluster/cluster";
import { told } from "../info/told";
import type { Run } from "../run";

/** What a consumer has at a provider, and loses with the peering. */
export interface AtStake {
  virtualNodes: readonly string[];
  /** On the virtual nodes, and not ended by themselves. */
  pods: number;
  /** Of the consumer, with a namespace at the provider. */
  namespaces: readonly string[];
}

/** How many namespaces and nodes a sentence names. */
const NAMED = 5;

/** Reads at the consumer what ends with a peering; undefined, with a warning, where that cannot be read. */
export async function readAtStake(
  run: Run,
  { client }: Cluster,
  { namespace, providerId }: { namespace: string; providerId: string },
): Promise<AtStake | undefined> {
  return await told(run, `what runs at ${providerId}`, undefined, async () => {
    const [nodes, maps] = await Promise.all([
      client.list(VirtualNode, { namespace }, run.call),
      client.list(
        NamespaceMap,
        { namespace, labelSelector: `${Label.remoteClusterID}=${providerId}` },
        run.call,
      ),
    ]);
    const virtualNodes = nodes
      .filter(({ spec }) => spec.clusterID === providerId)
      .map(({ metadata }) => metadata.name)
      .sort();
    const pods = await Promise.all(
      virtualNodes.map((name) => client.list(Pod, { fieldSelector: `spec.nodeName=${name}` }, run.call)),
    );
    const running = pods
      .flat()
      .filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
    const namespaces = maps
      .filter(({ metadata }) => metadata.labels?.[Label.replicated] !== LabelValue.true)
      .flatMap(({ status }) => Object.keys(status?.currentMapping ?? {}))
      .sort();
    return { virtualNodes, pods: running.length, namespaces };
  });
}

/** One sentence on what ends, without a full stop; undefined where nothing does. */
export function sayAtStake(
  { virtualNodes, pods, namespaces }: AtStake,
  providerId: string,
): string | undefined {
  if (virtualNodes.length === 0 && namespaces.length === 0) return undefined;
  const parts: string[] = [];
  if (virtualNodes.length > 0)
    parts.push(
      `${counted(virtualNodes.length, "virtual node")} (${listed(virtualNodes)}) with ${counted(pods, "pod")}`,
    );
  if (namespaces.length > 0)
    parts.push(
      `what ${counted(namespaces.length, "offloaded namespace")} (${listed(namespaces)}) ${namespaces.length === 1 ? "has" : "have"} at ${providerId}`,
    );
  return `This removes ${parts.join(", and ")}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
