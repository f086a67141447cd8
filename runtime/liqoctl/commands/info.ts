import { Command, Option } from "commander";

import { ForeignCluster } from "../../api/core";
import { isRecord } from "../../api/invalid-object";
import { packageVersion } from "../../api/package-root";
import { type Cluster, withCluster } from "../cluster/cluster";
import { CommandError } from "../failure";
import {
  type HealthInfo,
  healthInfo,
  installedControllerManager,
  localInfo,
  networkInfo,
  peeringsInfo,
} from "../info/installation-info";
import { peerInfo } from "../info/peer-info";
import { type GlobalFlags, liqoNamespaceOption, type OutputFormat, outputOption } from "../options";
import { fieldAt, formatted, section } from "../output";
import { type CommandContext, type Run, runs, readOrWarn } from "../run";

interface InfoFlags {
  namespace: string;
  output?: OutputFormat;
  get?: string;
}

/** Flags of `info` are those of `info peer` too. */
export function infoCommand(context: CommandContext): Command {
  return new Command("info")
    .description("show what is installed in the cluster, whether it is well, and its peers")
    .addOption(liqoNamespaceOption())
    .addOption(outputOption("one document for machines"))
    .addOption(
      new Option("-g, --get <field>", "one field of it, such as clusterid, local.version or peerings.peers"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  liqoctl info\n  liqoctl info --get clusterid\n  liqoctl info peer milan -o json",
    )
    .action(runs<InfoFlags>(context, info))
    .addCommand(
      new Command("peer")
        .description("show peers: all of them, or those named")
        .argument("[cluster-id...]", "IDs of the peers")
        .action(runs<InfoFlags>(context, infoPeer)),
    );
}

const TITLES: Readonly<Record<string, string>> = {
  local: "Local installation info",
  health: "Installation health",
  network: "Network",
  peerings: "Active peerings",
  info: "Peer cluster info",
  authentication: "Authentication",
  offloading: "Offloading",
};

async function info(run: Run, flags: InfoFlags & GlobalFlags): Promise<void> {
  await withCluster(run, flags, flags.namespace, async (cluster) => {
    const document = {
      local: await localInfo(run, cluster),
      health: await readOrWarn<Partial<HealthInfo>>(run, "the installation's health", {}, () =>
        healthInfo(run, cluster),
      ),
      ...((flags.verbose || flags.get !== undefined) && {
        network: await readOrWarn(run, "the cluster's networks", {}, () => networkInfo(run, cluster)),
      }),
      peerings: await readOrWarn(run, "the peerings", {}, () => peeringsInfo(run, cluster)),
    };
    const get = flags.get?.replace(/^\.?clusterid$/i, "local.clusterID");
    if (get !== undefined) return printField(run, fieldAt(document, get), flags.output);
    if (flags.output !== undefined) return run.terminal.out(formatted(document, flags.output));
    for (const [name, value] of Object.entries(document))
      run.terminal.out(`${section(TITLES[name] ?? name, value)}\n`);
  });
}

async function infoPeer(run: Run, flags: InfoFlags & GlobalFlags, ids: readonly string[]): Promise<void> {
  await withCluster(run, flags, flags.namespace, async (cluster) => {
    await cluster.clusterId(run);
    const peers = await selectedPeers(run, cluster, ids);
    const entries = await Promise.all(
      peers.map(async (peer) => [peer.spec.clusterID, await peerInfo(run, cluster, peer)] as const),
    );
    const document = Object.fromEntries(entries);
    if (flags.get !== undefined) {
      const [only, second] = entries;
      const [first = ""] = flags.get.replace(/^\./, "").split(/[.[]/);
      const namesPeer = entries.some(([id]) => id.toLowerCase() === first.toLowerCase());
      const root = only !== undefined && second === undefined && !namesPeer ? only[1] : document;
      return printField(run, fieldAt(root, flags.get), flags.output);
    }
    if (flags.output !== undefined) return run.terminal.out(formatted(document, flags.output));
    if (entries.length === 0) run.progress.info(undefined, "there are no peers");
    for (const [id, sections] of entries) {
      run.terminal.out(`${id}\n`);
      for (const [name, value] of Object.entries(sections))
        run.terminal.out(`${section(TITLES[name] ?? name, value, 4)}\n`);
    }
  });
}

async function selectedPeers(
  run: Run,
  { client }: Cluster,
  ids: readonly string[],
): Promise<ForeignCluster[]> {
  const peers = (await client.list(ForeignCluster, {}, run.call)).sort((a, b) =>
    a.spec.clusterID.localeCompare(b.spec.clusterID),
  );
  if (ids.length === 0) return peers;
  const known = peers.map(({ spec }) => spec.clusterID);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0) {
    throw new CommandError(
      `${client.server} has no peer ${unknown.join(", ")}`,
      known.length === 0 ? "it has no peers at all" : `its peers are: ${known.join(", ")}`,
    );
  }
  return peers.filter(({ spec }) => ids.includes(spec.clusterID));
}

/** Scalars as they are; the rest as YAML, or JSON where that is asked for. */
function printField(run: Run, value: unknown, output: OutputFormat | undefined): void {
  const composite = isRecord(value) || Array.isArray(value);
  run.terminal.out(
    composite || output !== undefined ? formatted(value, output ?? "yaml") : `${String(value)}\n`,
  );
}

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
        await withCluster(run, flags, flags.namespace, async (cluster) => {
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
        });
      }),
    );
}
