import { Command, Option } from "commander";

import { packageVersion } from "../../api/package-root";
import { localCluster } from "../cluster/cluster";
import { installedControllerManager } from "../cluster/installation";
import { type CommandContext, runs } from "../command";
import { CommandError } from "../failure";
import { liqoNamespaceOption } from "../options";

export function versionCommand(context: CommandContext): Command {
  return new Command("version")
    .description("print the version of liqoctl, and of what is installed in the cluster")
    .addOption(liqoNamespaceOption())
    .addOption(new Option("--client", "the version of liqoctl only").default(false))
    .action(
      runs<{ namespace: string; client: boolean }>(context, async (run, flags) => {
        const client = packageVersion();
        run.terminal.out(`Client version: ${client}\n`);
        if (flags.client) return;
        const cluster = localCluster(run, flags, flags.namespace);
        try {
          const server = (await installedControllerManager(run, cluster))?.version;
          run.terminal.out(`Server version: ${server ?? "Unknown"}\n`);
          if (server === undefined) {
            throw new CommandError(
              `namespace ${flags.namespace} of ${cluster.client.server} has no controller manager of Liqo`,
              "give the namespace that Liqo is installed in by --namespace",
            );
          }
          if (server.replace(/^v/, "") !== client)
            run.progress.warn(
              undefined,
              "liqoctl and what is installed have different versions; better keep them equal",
            );
        } finally {
          cluster.close();
        }
      }),
    );
}
