import { Command } from "commander";

import { ForeignCluster } from "../../api/core";
import { Annotation, Label, LabelValue, Name } from "../../api/keys";
import { Namespace, Pod } from "../../api/kubernetes";
import { NamespaceMap, VirtualNode } from "../../api/offloading";
import { type Cluster, withCluster } from "../cluster/cluster";
import { type Pair, type PairFlags, presentSides, withPair } from "../cluster/pair";
import { findTenantNamespace } from "../cluster/tenant-namespace";
import { CommandError } from "../failure";
import { liqoNamespaceOption, remoteOptions, switchOption, timeoutOption } from "../options";
import { unauthenticate } from "../peering/authenticate";
import { networkEnds, reset } from "../peering/network";
import { removeSlices } from "../peering/slice";
import { removeVirtualNodes } from "../peering/virtual-nodes";
import { type CommandContext, confirm, confirmOnTerminal, type Run, runs, readOrWarn } from "../run";
import { waitUntilGone } from "../wait";

interface UnpeerFlags extends PairFlags {
  wait: boolean;
  deleteNamespaces: boolean;
}

export function unpeerCommand(context: CommandContext): Command {
  const command = new Command("unpeer").description(
    "end the peering in which the local cluster uses the remote one; the opposite direction stays",
  );
  for (const option of [
    liqoNamespaceOption(),
    ...remoteOptions(),
    timeoutOption("2m"),
    switchOption("wait", "wait until all of it is gone", true),
    switchOption("delete-namespaces", "delete the tenant namespaces as well", false),
  ])
    command.addOption(option);
  return command.action(
    runs<UnpeerFlags>(context, (run, flags) => withPair(run, flags, (pair) => unpeer(run, flags, pair))),
  );
}

async function unpeer(run: Run, flags: UnpeerFlags, pair: Pair): Promise<void> {
  const { consumer, consumerId, providerId } = pair;
  const foreignCluster = await consumer.client.get(ForeignCluster, { name: providerId }, run.call);
  const bothWays = foreignCluster?.status?.role === "ConsumerAndProvider";
  if (bothWays && flags.deleteNamespaces) {
    throw new CommandError(
      `--delete-namespaces: ${providerId} uses ${consumerId} as well, and needs the tenant namespaces`,
      `unpeer that direction too, and delete the namespaces with the last one`,
    );
  }
  const sides = await presentSides(run, pair);
  const { wait } = flags;
  const asked = { namespace: sides.consumer.tenantNamespace, providerId };
  const atStake = await readAtStake(run, consumer, asked);
  const ends =
    atStake === undefined
      ? `This ends the peering of ${consumerId} with ${providerId}`
      : sayAtStake(atStake, providerId);
  if (ends !== undefined) await confirmOnTerminal(run, ends);
  await removeSlices(run, consumer, { side: sides.consumer, providerId, wait });
  await removeVirtualNodes(run, consumer, { namespace: sides.consumer.tenantNamespace, providerId, wait });
  await unauthenticate(run, pair, sides);
  if (!bothWays) await reset(run, networkEnds(pair, sides, "Provider"));
  if (flags.deleteNamespaces) {
    await deleteTenantNamespace(run, consumer, providerId, wait);
    await deleteTenantNamespace(run, pair.provider, consumerId, wait);
  }
  run.progress.info("global", `${consumerId} is not peered with ${providerId} any more`);
}

async function deleteTenantNamespace(run: Run, cluster: Cluster, peer: string, wait: boolean): Promise<void> {
  await run.progress.step(
    cluster.scope,
    `delete the tenant namespace for ${peer}`,
    async (waiting) => {
      const name = await findTenantNamespace(run, cluster, peer);
      if (name === undefined) return undefined;
      await cluster.client.delete(Namespace, { name }, run.call);
      if (wait) await untilNamespaceGone(run, cluster, name, waiting);
      return name;
    },
    (name) =>
      name === undefined ? `no tenant namespace for ${peer} is there` : `tenant namespace ${name} deleted`,
  );
}

/** For a peer that is gone for good: this side alone is cleaned up (control plane reference 11.6, 17.9). */
export function forceCommand(context: CommandContext): Command {
  const unpeerByForce = new Command("unpeer")
    .description("end the peering with a cluster that is gone for good, without asking it")
    .argument("<cluster-id>", "ID of the cluster that is gone")
    .addOption(timeoutOption("10m"))
    .action(
      runs(context, (run, flags, [peer = ""]) =>
        withCluster(run, flags, Name.liqoNamespace, (cluster) => forceUnpeer(run, cluster, peer)),
      ),
    );
  return new Command("force").description("do without the other cluster").addCommand(unpeerByForce);
}

async function forceUnpeer(run: Run, cluster: Cluster, peer: string): Promise<void> {
  const { client } = cluster;
  const found = await client.get(ForeignCluster, { name: peer }, run.call);
  if (found === undefined)
    throw new CommandError(`${client.server} has no peer ${peer}`, 'see its peers with "liqoctl info"');
  const reachable = found.status?.conditions?.some(
    ({ type, status }) => type === "APIServerStatus" && status === "Established",
  );
  if (reachable === true)
    throw new CommandError(
      `the API server of ${peer} answers`,
      'end the peering properly with "liqoctl unpeer"',
    );
  await confirm(run, `Everything of the peering with ${peer} is removed here, and nothing there`);
  await client.patch(
    ForeignCluster,
    found.metadata,
    { metadata: { annotations: { [Annotation.permanentlyUnreachable]: "true" } } },
    { type: "merge", ...run.call },
  );
  await run.progress.step(
    undefined,
    `remove the tenant namespace for ${peer}`,
    async (waiting) => {
      const name = await findTenantNamespace(run, cluster, peer);
      if (name === undefined) return;
      await client.delete(Namespace, { name }, run.call);
      await untilNamespaceGone(run, cluster, name, waiting);
    },
    () => `everything of the peering with ${peer} is removed here`,
  );
}

async function untilNamespaceGone(
  run: Run,
  { client }: Cluster,
  name: string,
  waiting: (seen: string) => void,
): Promise<void> {
  const next = `see what is left in it, and which finalizers hold that: kubectl describe namespace ${name}`;
  await waitUntilGone(run, { waiting, next }, async () =>
    (await client.get(Namespace, { name }, run.call)) === undefined
      ? undefined
      : `namespace ${name} is still there`,
  );
}

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
async function readAtStake(
  run: Run,
  { client }: Cluster,
  { namespace, providerId }: { namespace: string; providerId: string },
): Promise<AtStake | undefined> {
  return await readOrWarn(run, `what runs at ${providerId}`, undefined, async () => {
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
