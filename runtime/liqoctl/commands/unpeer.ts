import { Command } from "commander";

import { ForeignCluster } from "../../api/core";
import { Namespace } from "../../api/kubernetes";
import type { Cluster } from "../cluster/cluster";
import { type Pair, type PairFlags, presentSides, withPair } from "../cluster/pair";
import { findTenantNamespace } from "../cluster/tenant-namespace";
import { type CommandContext, runs } from "../command";
import { CommandError } from "../failure";
import { liqoNamespaceOption, remoteOptions, switchOption, timeoutOption } from "../options";
import { unauthenticate } from "../peering/authenticate";
import { networkEnds, reset } from "../peering/network";
import { removeSlices } from "../peering/slice";
import { removeVirtualNodes } from "../peering/virtual-nodes";
import { readAtStake, sayAtStake } from "../peering/what-ends";
import type { Run } from "../run";
import { confirmOnTerminal } from "../terminal/confirmation";
import { waitUntil } from "../wait";

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
      if (wait) {
        const next = `see what is left in it, and which finalizers hold that: kubectl describe namespace ${name}`;
        await waitUntil(run, { waiting, next }, async () =>
          (await cluster.client.get(Namespace, { name }, run.call)) === undefined
            ? { is: "met", value: undefined }
            : { is: "open", seen: `namespace ${name} is still there` },
        );
      }
      return name;
    },
    (name) =>
      name === undefined ? `no tenant namespace for ${peer} is there` : `tenant namespace ${name} deleted`,
  );
}
