import { Command } from "commander";

import { ResourceSlice } from "../../api/authentication";
import { ensureSides, type PairFlags, presentSides, withPair } from "../cluster/pair";
import { proxyOptions } from "./peering-flags";
import { type CommandContext, runs } from "../run";
import { CommandError } from "../failure";
import { liqoNamespaceOption, remoteOptions, switchOption, timeoutOption } from "../options";
import { authenticate, unauthenticate } from "../peering/authenticate";
import { inBandProxy } from "../peering/in-band";
import { isTowards } from "../peering/slice";

interface AuthenticateFlags extends PairFlags {
  inBand: boolean;
  proxyUrl?: string;
}

export function authenticateCommand(context: CommandContext): Command {
  const command = new Command("authenticate")
    .alias("auth")
    .description("give the local cluster credentials of the remote one")
    .addOption(liqoNamespaceOption());
  for (const option of [...remoteOptions(), timeoutOption("2m"), ...proxyOptions()])
    command.addOption(option);
  return command.action(
    runs<AuthenticateFlags>(context, (run, flags) =>
      withPair(run, flags, async (pair) => {
        const sides = await ensureSides(run, pair);
        const proxy = flags.proxyUrl ?? (flags.inBand ? await inBandProxy(run, pair, sides) : undefined);
        await authenticate(run, pair, sides, proxy);
      }),
    ),
  );
}

export function unauthenticateCommand(context: CommandContext): Command {
  const command = new Command("unauthenticate")
    .alias("unauth")
    .description("take the local cluster's credentials of the remote one away")
    .addOption(liqoNamespaceOption());
  for (const option of [
    ...remoteOptions(),
    timeoutOption("2m"),
    switchOption("wait", "wait until all of it is gone", true),
  ])
    command.addOption(option);
  return command.action(
    runs<PairFlags>(context, (run, flags) =>
      withPair(run, flags, async (pair) => {
        const sides = await presentSides(run, pair);
        const slices = (
          await pair.consumer.client.list(
            ResourceSlice,
            { namespace: sides.consumer.tenantNamespace },
            run.call,
          )
        ).filter((slice) => isTowards(slice, pair.providerId));
        if (slices.length > 0) {
          throw new CommandError(
            `${pair.consumerId} still asks ${pair.providerId} for resources: ResourceSlice ${slices.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(", ")}`,
            'delete the slices first, or take "liqoctl unpeer", which does',
          );
        }
        await unauthenticate(run, pair, sides);
      }),
    ),
  );
}
