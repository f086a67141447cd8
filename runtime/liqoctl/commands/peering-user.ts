/** `generate peering-user` and `delete peering-user`. */
import { Command, Option } from "commander";

import { Name } from "../../api/keys";
import { type CommandContext, runs } from "../command";
import { installedControllerManager } from "../cluster/installation";
import { timeoutOption } from "../options";
import { makePeeringUser, removePeeringUser } from "../peering/peering-user";
import { type TargetFlags, withTarget } from "./target";

interface PeeringUserFlags extends TargetFlags {
  consumerClusterId: string;
}

function options(): Option[] {
  return [
    new Option(
      "--consumer-cluster-id <id>",
      "ID of the cluster that is to use this one's resources",
    ).makeOptionMandatory(),
    new Option("--liqo-namespace <name>", "namespace that Liqo is installed in").default(Name.liqoNamespace),
    timeoutOption("2m"),
  ];
}

export function generatePeeringUser(context: CommandContext): Command {
  const command = new Command("peering-user").description(
    "at the provider: print a kubeconfig by which the consumer's administrator can peer, and no more",
  );
  for (const option of [
    ...options(),
    new Option(
      "--tls-compatibility-mode <when>",
      "an RSA key, for clients that know no Ed25519; auto takes what the installation has",
    )
      .choices(["auto", "true", "false"])
      .default("auto"),
  ])
    command.addOption(option);
  interface Flags extends PeeringUserFlags {
    tlsCompatibilityMode: "auto" | "true" | "false";
  }
  return command.action(
    runs<Flags>(context, (run, flags) =>
      withTarget(run, flags, async (cluster) => {
        const mode =
          flags.tlsCompatibilityMode === "auto"
            ? (await installedControllerManager(run, cluster))?.flags.get("tls-compatibility-mode")
            : flags.tlsCompatibilityMode;
        const keyType = mode === "true" ? "rsa" : "ed25519";
        run.terminal.out(await makePeeringUser(run, cluster, flags.consumerClusterId, keyType));
        run.progress.info(undefined, "this kubeconfig is kept nowhere else");
      }),
    ),
  );
}

export function deletePeeringUser(context: CommandContext): Command {
  const command = new Command("peering-user").description("take a peering user's rights away");
  for (const option of options()) command.addOption(option);
  return command.action(
    runs<PeeringUserFlags>(context, (run, flags) =>
      withTarget(run, flags, (cluster) => removePeeringUser(run, cluster, flags.consumerClusterId)),
    ),
  );
}
