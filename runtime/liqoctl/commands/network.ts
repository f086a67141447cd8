import { Command, Option } from "commander";

import { ensureSides, type PairFlags, presentSides, withPair } from "../cluster/pair";
import { type CommandContext, confirm, runs } from "../run";
import { liqoNamespaceOption, remoteOptions, switchOption, timeoutOption } from "../options";
import { connect, disconnect, networkEnds, reset } from "../peering/network";
import { type LinkFlags, linkOf, linkOptions } from "./peering-flags";

interface ConnectFlags extends PairFlags, LinkFlags {
  wait: boolean;
  disableSharingKeys: boolean;
  gwServerTemplateName?: string;
  gwServerTemplateNamespace?: string;
  gwClientTemplateName?: string;
  gwClientTemplateNamespace?: string;
}

/** The local cluster is the gateway client, the remote one the server. */
export function networkCommand(context: CommandContext): Command {
  const command = new Command("network").description("connect the networks of two clusters, or part them");
  const sub = (name: string, description: string, ...more: Option[]) => {
    const child = new Command(name).description(description);
    for (const option of [liqoNamespaceOption(), ...remoteOptions(), timeoutOption("2m"), ...more])
      child.addOption(option);
    command.addCommand(child);
    return child;
  };
  sub(
    "connect",
    "connect the networks: the local cluster's gateway calls the remote one's",
    ...linkOptions(),
    switchOption("wait", "wait until packets pass", false),
    new Option(
      "--skip-validation",
      "accepted for upstream's sake; what is wrong is told by the step that it stops",
    ).default(false),
    new Option("--disable-sharing-keys", "let somebody else exchange the gateways' keys").default(false),
    new Option("--gw-server-template-name <name>", "template of the server; the installation's by default"),
    new Option(
      "--gw-server-template-namespace <name>",
      "namespace of it; the remote Liqo namespace by default",
    ),
    new Option("--gw-client-template-name <name>", "template of the client; the installation's by default"),
    new Option(
      "--gw-client-template-namespace <name>",
      "namespace of it; the local Liqo namespace by default",
    ),
  ).action(
    runs<ConnectFlags>(context, (run, flags) =>
      withPair(run, flags, async (pair) => {
        const { gwServerTemplateName: server, gwClientTemplateName: client } = flags;
        const link = linkOf(flags, {
          ...(server !== undefined && {
            serverTemplate: {
              name: server,
              ...(flags.gwServerTemplateNamespace && { namespace: flags.gwServerTemplateNamespace }),
            },
          }),
          ...(client !== undefined && {
            clientTemplate: {
              name: client,
              ...(flags.gwClientTemplateNamespace && { namespace: flags.gwClientTemplateNamespace }),
            },
          }),
        });
        const ends = networkEnds(pair, await ensureSides(run, pair), "Provider");
        await connect(run, ends, { link, shareKeys: !flags.disableSharingKeys, wait: flags.wait });
      }),
    ),
  );
  sub("disconnect", "remove the gateways; each cluster keeps its place for the other's networks").action(
    runs<PairFlags>(context, (run, flags) =>
      withPair(run, flags, async (pair) => {
        await confirm(run, `This cuts the network between ${pair.consumerId} and ${pair.providerId}`);
        await disconnect(run, networkEnds(pair, await presentSides(run, pair), "Provider"));
      }),
    ),
  );
  sub("reset", "remove the gateways, and each cluster's knowledge of the other's networks").action(
    runs<PairFlags>(context, (run, flags) =>
      withPair(run, flags, async (pair) => {
        await confirm(run, `This cuts the network between ${pair.consumerId} and ${pair.providerId}`);
        await reset(run, networkEnds(pair, await presentSides(run, pair), "Provider"));
      }),
    ),
  );
  return command;
}
