/** `cordon`, `uncordon`, `drain` and `activate`: what a provider lets a consumer do (control plane reference 9.2, 17.14). */
import { Command } from "commander";

import { ResourceSlice, Tenant } from "../../api/authentication";
import { Annotation, Label, LabelValue, Name } from "../../api/keys";
import { type Cluster, withCluster } from "../cluster/cluster";
import { requireTenantNamespace } from "../cluster/tenant-namespace";
import { type CommandContext, confirm, type Run, runs } from "../run";
import { CommandError } from "../failure";
import { remoteClusterIdOption, timeoutOption } from "../options";

type Condition = NonNullable<Tenant["spec"]["tenantCondition"]>;

interface TenantSwitch {
  verb: "cordon" | "uncordon" | "drain" | "activate";
  /** What it is for, in help texts. */
  description: string;
  to: Condition;
  /** From which condition alone; any where none is given. */
  from?: Condition;
  asks: boolean;
  done: string;
}

const TENANT_SWITCHES: readonly TenantSwitch[] = [
  {
    verb: "cordon",
    description: "grant a tenant nothing new; what it has goes on",
    to: "Cordoned",
    from: "Active",
    asks: true,
    done: "is cordoned",
  },
  {
    verb: "uncordon",
    description: "grant a cordoned tenant again what it asks for",
    to: "Active",
    from: "Cordoned",
    asks: false,
    done: "is active",
  },
  {
    verb: "drain",
    description: "take from a tenant everything that it has here",
    to: "Drained",
    asks: true,
    done: "is drained",
  },
  {
    verb: "activate",
    description: "let a cordoned or drained tenant in again",
    to: "Active",
    asks: false,
    done: "is active",
  },
];

/** One command for each verb, with `tenant`, and `resourceslice` where it has that. */
export function switchCommands(context: CommandContext): Command[] {
  return TENANT_SWITCHES.map((each) => {
    const command = new Command(each.verb).description(`${each.description} (at the provider)`);
    command.addCommand(
      new Command("tenant")
        .alias("tenants")
        .description(each.description)
        .argument("<name>", "name of the Tenant, by convention the consumer's cluster ID")
        .addOption(timeoutOption("2m"))
        .action(
          runs(context, (run, flags, [name = ""]) =>
            withCluster(run, flags, Name.liqoNamespace, (cluster) => switchTenant(run, cluster, each, name)),
          ),
        ),
    );
    if (each.verb === "cordon" || each.verb === "uncordon")
      command.addCommand(sliceSwitch(context, each.verb));
    return command;
  });
}

async function switchTenant(run: Run, { client }: Cluster, to: TenantSwitch, name: string): Promise<void> {
  const tenants = await client.list(Tenant, {}, run.call);
  const found = tenants.filter(({ metadata }) => metadata.name === name);
  const [tenant, second] = found;
  if (tenant === undefined) {
    const known = tenants.map(({ metadata }) => metadata.name).sort();
    throw new CommandError(
      `${client.server} has no Tenant ${name}`,
      known.length === 0
        ? "no cluster is a tenant of it; give the kubeconfig of the provider"
        : `its tenants are: ${known.join(", ")}`,
    );
  }
  if (second !== undefined)
    throw new CommandError(
      `there are ${found.length} Tenants ${name}, in ${found.map(({ metadata }) => metadata.namespace).join(", ")}`,
      "keep one of them",
    );
  const present = tenant.spec.tenantCondition ?? "Active";
  if (present === to.to) {
    run.progress.info(undefined, `tenant ${name} ${to.done} already`);
    return;
  }
  if (to.from !== undefined && present !== to.from) {
    const way = present === "Drained" ? `; "liqoctl activate tenant ${name}" lets it in again` : "";
    run.progress.warn(undefined, `tenant ${name} is ${present}, not ${to.from}, and stays so${way}`);
    return;
  }
  if (to.asks) await confirm(run, `Tenant ${name} is ${present} and is to be ${to.to}`);
  await run.progress.step(
    undefined,
    `${to.verb} tenant ${name}`,
    () =>
      client.patch(
        Tenant,
        tenant.metadata,
        { metadata: { uid: tenant.metadata.uid }, spec: { tenantCondition: to.to } },
        { type: "merge", ...run.call },
      ),
    () => `tenant ${name} ${to.done}`,
  );
}

function sliceSwitch(context: CommandContext, verb: "cordon" | "uncordon"): Command {
  const description =
    verb === "cordon"
      ? "grant a slice no more pods; those that run go on"
      : "let pods of a cordoned slice in again";
  return new Command("resourceslice")
    .aliases(["resourceslices", "rs"])
    .description(description)
    .argument("<name>", "name of the slice")
    .addOption(remoteClusterIdOption("ID of the consumer that it is of"))
    .addOption(timeoutOption("2m"))
    .action(
      runs<{ remoteClusterId: string }>(context, (run, flags, [name = ""]) =>
        withCluster(run, flags, Name.liqoNamespace, (cluster) =>
          switchSlice(run, cluster, verb, { name, consumerId: flags.remoteClusterId }),
        ),
      ),
    );
}

async function switchSlice(
  run: Run,
  cluster: Cluster,
  verb: "cordon" | "uncordon",
  { name, consumerId }: { name: string; consumerId: string },
): Promise<void> {
  const { client } = cluster;
  const namespace = await requireTenantNamespace(run, cluster, consumerId);
  const slices = await client.list(ResourceSlice, { namespace }, run.call);
  const slice = slices.find(({ metadata }) => metadata.name === name);
  if (slice === undefined) {
    throw new CommandError(
      `there is no ResourceSlice ${namespace}/${name}`,
      slices.length === 0
        ? `${consumerId} asks for nothing here`
        : `the slices there are: ${slices.map(({ metadata }) => metadata.name).join(", ")}`,
    );
  }
  if (slice.metadata.labels?.[Label.replication] === LabelValue.true) {
    throw new CommandError(
      `ResourceSlice ${namespace}/${name} is a request of this cluster, and only the provider can ${verb} it`,
      `give the command at ${consumerId}`,
    );
  }
  const cordoned = slice.metadata.annotations?.[Annotation.cordon] !== undefined;
  const done = verb === "cordon" ? "is cordoned" : "is not cordoned";
  if (cordoned === (verb === "cordon")) {
    run.progress.info(undefined, `slice ${name} of ${consumerId} ${done} already`);
    return;
  }
  await confirm(run, `Slice ${name} of ${consumerId} is to be ${verb}ed`);
  await run.progress.step(
    undefined,
    `${verb} slice ${name} of ${consumerId}`,
    () =>
      client.patch(
        ResourceSlice,
        slice.metadata,
        {
          metadata: {
            uid: slice.metadata.uid,
            annotations: { [Annotation.cordon]: verb === "cordon" ? LabelValue.true : null },
          },
        },
        { type: "merge", ...run.call },
      ),
    () => `slice ${name} of ${consumerId} ${done}`,
  );
}
