/** Manifests for the administrator of the other cluster, by which two people peer without both kubeconfigs in one hand. */
import { Command, Option } from "commander";

import { authParams as authParamsSchema, Tenant } from "../../api/authentication";
import { DataKey, Label, Name, tenantNamespaceName } from "../../api/keys";
import { Secret } from "../../api/kubernetes";
import { GatewayClient, GatewayServer } from "../../api/networking";
import { configuration, publicKey } from "../../plan/networking/peering";
import { controlPlaneIdentity, type PeeringSides, tenant } from "../../plan/peering";
import { type CommandContext, type Run, runs } from "../run";
import { findTenantNamespace, requireTenantNamespace } from "../cluster/tenant-namespace";
import { CommandError } from "../failure";
import {
  type GlobalFlags,
  type OutputFormat,
  remoteClusterIdOption,
  outputOption,
  timeoutOption,
} from "../options";
import { formatted } from "../output";
import { presentTenant, signNonce, tenantCredentials } from "../peering/authenticate";
import { readOwnNetworks } from "../peering/network";
import type { Cluster } from "../cluster/cluster";
import { generatePeeringUser } from "./peering-user";
import { targetNamespace, targetOptions, type TargetFlags, withTarget } from "./target";

interface GenerateFlags extends TargetFlags {
  output: OutputFormat;
  remoteClusterId: string;
  remoteTenantNamespace?: string;
}

export function generateCommand(context: CommandContext): Command {
  const command = new Command("generate").description(
    "print a manifest for the other cluster's administrator",
  );
  const sub = <Flags extends GenerateFlags>(
    name: string,
    aliases: string[],
    description: string,
    options: Option[],
    work: (run: Run, flags: Flags & GlobalFlags, cluster: Cluster) => Promise<unknown>,
  ) => {
    const child = new Command(name).aliases(aliases).description(description);
    const format = outputOption("of the manifest").default("yaml");
    for (const option of [...targetOptions(), format, timeoutOption("2m"), ...options])
      child.addOption(option);
    command.addCommand(
      child.action(
        runs<Flags>(context, (run, flags) =>
          withTarget(run, flags, async (cluster) => {
            run.terminal.out(formatted(await work(run, flags, cluster), flags.output));
          }),
        ),
      ),
    );
  };
  const remoteNamespace = new Option(
    "--remote-tenant-namespace <name>",
    "tenant namespace for this cluster at the other end; liqo-tenant-<ID> by default",
  );
  sub<GenerateFlags & { nonce?: string; proxyUrl?: string }>(
    "tenant",
    ["tenants"],
    "at the consumer: the Tenant that the provider is to apply",
    [
      remoteClusterIdOption("ID of the provider"),
      remoteNamespace,
      new Option("--nonce <text>", "the provider's nonce; by default that of the signed Secret"),
      new Option("--proxy-url <url>", "HTTP proxy through which this cluster reaches the provider"),
    ],
    tenantManifest,
  );
  sub<GenerateFlags>(
    "identity",
    ["identities"],
    "at the provider: the Identity that the consumer is to apply, with its credentials",
    [remoteClusterIdOption("ID of the consumer"), remoteNamespace],
    identityManifest,
  );
  sub<GenerateFlags>(
    "configuration",
    ["configurations", "config"],
    "this cluster's networks, as the other end is to apply them",
    [],
    configurationManifest,
  );
  sub<GenerateFlags & { gatewayType: "server" | "client"; gatewayName: string }>(
    "publickey",
    ["publickeys", "publickeies"],
    "the key of a gateway, as the other end is to apply it",
    [
      new Option("--gateway-type <type>", "which end it is")
        .choices(["server", "client"])
        .makeOptionMandatory(),
      new Option("--gateway-name <name>", "name of the GatewayServer or GatewayClient").makeOptionMandatory(),
    ],
    publicKeyManifest,
  );
  return command.addCommand(generatePeeringUser(context));
}

async function tenantManifest(
  run: Run,
  flags: GenerateFlags & { nonce?: string; proxyUrl?: string },
  cluster: Cluster,
) {
  const consumerId = await cluster.clusterId(run);
  const sides: PeeringSides = {
    consumer: {
      clusterId: consumerId,
      tenantNamespace: await targetNamespace(run, cluster, flags, flags.remoteClusterId),
    },
    provider: {
      clusterId: flags.remoteClusterId,
      tenantNamespace: flags.remoteTenantNamespace ?? tenantNamespaceName(consumerId),
    },
  };
  const ref = { name: Name.signedNonceSecret, namespace: sides.consumer.tenantNamespace };
  const present = (await cluster.client.get(Secret, ref, run.call))?.data?.[DataKey.nonce];
  const nonce = flags.nonce ?? (present ? Buffer.from(present, "base64").toString() : undefined);
  if (nonce === undefined) {
    throw new CommandError(
      "--nonce is not given, and no nonce was signed earlier",
      `have the provider's administrator run "liqoctl get nonce --remote-cluster-id ${consumerId}", and give what it prints`,
    );
  }
  const signed = await signNonce(run, cluster, sides, nonce);
  return tenant(sides, tenantCredentials(consumerId, signed), flags.proxyUrl);
}

async function identityManifest(run: Run, flags: GenerateFlags, cluster: Cluster) {
  const consumerId = flags.remoteClusterId;
  const providerId = await cluster.clusterId(run);
  const namespace = flags.namespace ?? (await requireTenantNamespace(run, cluster, consumerId));
  const found = await presentTenant(run, cluster, namespace, consumerId);
  const { authParams, tenantNamespace } = found?.status ?? {};
  if (authParams === undefined || !tenantNamespace) {
    throw new CommandError(
      found === undefined
        ? `namespace ${namespace} has no Tenant of ${consumerId}`
        : `Tenant ${namespace}/${found.metadata.name} has no credentials yet (status.authParams)`,
      found === undefined
        ? 'apply what the consumer\'s administrator gets from "liqoctl generate tenant"'
        : `see its events: kubectl describe ${Tenant.plural} ${found.metadata.name} -n ${namespace}`,
    );
  }
  return controlPlaneIdentity(
    {
      consumer: {
        clusterId: consumerId,
        tenantNamespace: flags.remoteTenantNamespace ?? tenantNamespaceName(providerId),
      },
      provider: { clusterId: providerId, tenantNamespace },
    },
    authParamsSchema().parse(authParams),
  );
}

/** Without a namespace, unless one is given: the other end knows where it goes. */
async function configurationManifest(run: Run, flags: GenerateFlags, cluster: Cluster) {
  const id = await cluster.clusterId(run);
  const told = await readOwnNetworks(run, cluster);
  return placed(
    configuration({ side: { clusterId: "", tenantNamespace: "" }, peer: id }, told),
    flags.namespace,
  );
}

async function publicKeyManifest(
  run: Run,
  flags: GenerateFlags & { gatewayType: "server" | "client"; gatewayName: string },
  cluster: Cluster,
) {
  const { client } = cluster;
  const { gatewayName: name } = flags;
  const selection = { fieldSelector: `metadata.name=${name}` };
  const [gateway] =
    flags.gatewayType === "server"
      ? await client.list(GatewayServer, selection, run.call)
      : await client.list(GatewayClient, selection, run.call);
  const kind = flags.gatewayType === "server" ? "GatewayServer" : "GatewayClient";
  if (gateway === undefined) throw new CommandError(`${client.server} has no ${kind} ${name}`);
  const { name: secretName, namespace = gateway.metadata.namespace ?? "" } = gateway.status?.secretRef ?? {};
  const secret =
    secretName === undefined
      ? undefined
      : await client.get(Secret, { name: secretName, namespace }, run.call);
  const key = secret?.data?.[DataKey.publicKey];
  if (!key)
    throw new CommandError(
      `${kind} ${gateway.metadata.namespace}/${name} has no keys yet (status.secretRef)`,
    );
  const id = await cluster.clusterId(run);
  return placed(publicKey({ side: { clusterId: "", tenantNamespace: "" }, peer: id }, key), flags.namespace);
}

function placed<T extends { metadata: { namespace?: string } }>(
  manifest: T,
  namespace: string | undefined,
): T {
  delete manifest.metadata.namespace;
  if (namespace !== undefined && namespace !== "default") manifest.metadata.namespace = namespace;
  return manifest;
}

interface GetFlags extends TargetFlags {
  remoteClusterId: string;
}

/** `get nonce` and `get kubeconfig`: values for machines, without a line of ours around them. */
export function getCommand(context: CommandContext): Command {
  const nonce = new Command("nonce").description("print the nonce for a consumer, without a line break");
  const kubeconfig = new Command("kubeconfig")
    .alias("kc")
    .description("print the kubeconfig of an Identity")
    .argument("<identity>", "name of the Identity, such as controlplane-<provider>");
  for (const option of [remoteClusterIdOption(), ...targetOptions(), timeoutOption("2m")]) {
    nonce.addOption(option);
    kubeconfig.addOption(option);
  }
  nonce.action(
    runs<GetFlags>(context, (run, flags) =>
      withTarget(run, flags, async (cluster) => {
        const value = await secretValue(run, flags, cluster, Name.nonceSecret, DataKey.nonce);
        if (value === undefined) {
          throw new CommandError(
            `there is no nonce for ${flags.remoteClusterId} yet`,
            `have one drawn: liqoctl create nonce --remote-cluster-id ${flags.remoteClusterId}`,
          );
        }
        run.terminal.out(value);
      }),
    ),
  );
  kubeconfig.action(
    runs<GetFlags>(context, (run, flags, [identity = ""]) =>
      withTarget(run, flags, async (cluster) => {
        const value = await secretValue(run, flags, cluster, `kubeconfig-${identity}`, DataKey.kubeconfig);
        if (value === undefined) {
          throw new CommandError(
            `Identity ${identity} has no kubeconfig in the tenant namespace for ${flags.remoteClusterId}`,
            `see the identities there: kubectl get identities -A -l ${Label.remoteClusterID}=${flags.remoteClusterId}`,
          );
        }
        run.terminal.out(value.endsWith("\n") ? value : `${value}\n`);
      }),
    ),
  );
  return new Command("get")
    .description("print a value of a peering")
    .addCommand(nonce)
    .addCommand(kubeconfig);
}

async function secretValue(
  run: Run,
  flags: GetFlags,
  cluster: Cluster,
  name: string,
  key: string,
): Promise<string | undefined> {
  const namespace = flags.namespace ?? (await findTenantNamespace(run, cluster, flags.remoteClusterId));
  if (namespace === undefined) return undefined;
  const value = (await cluster.client.get(Secret, { name, namespace }, run.call))?.data?.[key];
  return value ? Buffer.from(value, "base64").toString() : undefined;
}
