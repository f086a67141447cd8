import { Command, Option } from "commander";

import { ensureSides, type PairFlags, withPair } from "../cluster/pair";
import { type CommandContext, runs } from "../run";
import { CommandError } from "../failure";
import { liqoNamespaceOption, remoteOptions, switchOption, timeoutOption } from "../options";
import { authenticate } from "../peering/authenticate";
import { inBandProxy } from "../peering/in-band";
import { connect, networkEnds } from "../peering/network";
import { requestSlice, sliceManifest } from "../peering/slice";
import {
  amountOptions,
  type LinkFlags,
  linkOf,
  linkOptions,
  proxyOptions,
  requestedResources,
  type SliceFlags,
} from "./peering-flags";
import { untilNoneLeaves } from "../peering/virtual-nodes";

interface PeerFlags extends PairFlags, LinkFlags, SliceFlags {
  networkingDisabled: boolean;
  gwServerServiceLocation: "Provider" | "Consumer";
  createResourceSlice: boolean;
  resourceSliceClass: string;
  createVirtualNode: boolean;
  inBand: boolean;
  proxyUrl?: string;
}

export function peerCommand(context: CommandContext): Command {
  const command = new Command("peer")
    .description("let the local cluster (consumer) use resources of the remote one (provider)")
    .addHelpText(
      "after",
      `
It connects the networks, gives the consumer credentials, and asks for resources. What is there already stays, so
that an interrupted or failed run goes on when the same command is given again.

Examples:
  liqoctl peer --remote-kubeconfig milan.kubeconfig
  liqoctl peer --context rome --remote-context milan --networking-disabled --cpu 8 --memory 16Gi`,
    );
  for (const option of [
    liqoNamespaceOption(),
    ...remoteOptions(),
    timeoutOption("10m"),
    new Option(
      "--skip-validation",
      "accepted for upstream's sake; what is wrong is told by the step that it stops",
    ).default(false),
    switchOption("networking-disabled", "leave the networks apart", false),
    new Option("--gw-server-service-location <side>", "which side's gateway waits to be called")
      .choices(["Provider", "Consumer"])
      .default("Provider"),
    ...linkOptions(),
    switchOption("create-resource-slice", "ask for resources", true),
    new Option("--resource-slice-class <name>", "class that decides at the provider").default("default"),
    switchOption("create-virtual-node", "make a virtual node of what is granted", true),
    ...amountOptions(),
    ...proxyOptions(),
  ])
    command.addOption(option);
  return command.action(
    runs<PeerFlags>(context, (run, flags) => withPair(run, flags, (pair) => peer(run, flags, pair))),
  );
}

async function peer(
  run: Parameters<typeof ensureSides>[0],
  flags: PeerFlags,
  pair: Parameters<typeof ensureSides>[1],
): Promise<void> {
  const { consumer, consumerId, providerId } = pair;
  const link = flags.networkingDisabled ? undefined : linkOf(flags);
  const resources = requestedResources(flags);
  const sides = await ensureSides(run, pair);
  const { tenantNamespace } = sides.consumer;
  // Made now, so that a value that cannot be used is told before anything is done with the peer.
  const slice = sliceManifest({
    name: providerId,
    namespace: tenantNamespace,
    providerId,
    class: flags.resourceSliceClass,
    resources,
    createVirtualNode: flags.createVirtualNode,
  });
  if (link !== undefined) {
    const ends = networkEnds(pair, sides, flags.gwServerServiceLocation);
    await connect(run, ends, { link, shareKeys: true, wait: true });
  }
  const proxy = flags.proxyUrl ?? (flags.inBand ? await inBandProxy(run, pair, sides) : undefined);
  await authenticate(run, pair, sides, proxy);
  if (flags.createResourceSlice) {
    await untilNoneLeaves(run, consumer, { namespace: tenantNamespace, providerId });
    const answer = await requestSlice(run, consumer, slice);
    if (!answer.granted) {
      throw new CommandError(
        `${providerId} denies slice ${providerId}: ${answer.reason}`,
        "ask its administrator: the tenant or the slice may be cordoned there, or the class be disabled; when that has changed, the slice is granted by itself, and the peering is whole",
      );
    }
  }
  run.progress.info("global", `${consumerId} is peered with ${providerId}`);
}
