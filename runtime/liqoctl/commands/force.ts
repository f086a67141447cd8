import { Command } from "commander";

import { ForeignCluster } from "../../api/core";
import { Annotation, Name } from "../../api/keys";
import { Namespace } from "../../api/kubernetes";
import { localCluster } from "../cluster/cluster";
import { findTenantNamespace } from "../cluster/tenant-namespace";
import { type CommandContext, runs } from "../command";
import { CommandError } from "../failure";
import { timeoutOption } from "../options";
import { confirm } from "../terminal/confirmation";
import { waitUntil } from "../wait";

/** For a peer that is gone for good: this side alone is cleaned up (control plane reference 11.6, 17.9). */
export function forceCommand(context: CommandContext): Command {
  const unpeer = new Command("unpeer")
    .description("end the peering with a cluster that is gone for good, without asking it")
    .argument("<cluster-id>", "ID of the cluster that is gone")
    .addOption(timeoutOption("10m"))
    .action(
      runs(context, async (run, flags, [peer = ""]) => {
        const cluster = localCluster(run, flags, Name.liqoNamespace);
        const { client } = cluster;
        try {
          const found = await client.get(ForeignCluster, { name: peer }, run.call);
          if (found === undefined)
            throw new CommandError(
              `${client.server} has no peer ${peer}`,
              'see its peers with "liqoctl info"',
            );
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
              const next = `see what is left in it, and which finalizers hold that: kubectl describe namespace ${name}`;
              await waitUntil(run, { waiting, next }, async () =>
                (await client.get(Namespace, { name }, run.call)) === undefined
                  ? { is: "met", value: undefined }
                  : { is: "open", seen: `namespace ${name} is still there` },
              );
            },
            () => `everything of the peering with ${peer} is removed here`,
          );
        } finally {
          cluster.close();
        }
      }),
    );
  return new Command("force").description("do without the other cluster").addCommand(unpeer);
}
