import { Command, Option } from "commander";

import { Identity, ResourceSlice } from "../../api/authentication";
import { kubeconfigSecretName, Label, Name, sliceIdentityName } from "../../api/keys";
import { Secret } from "../../api/kubernetes";
import { VirtualNode } from "../../api/offloading";
import { parseArguments } from "../../plan/arguments";
import { virtualNode, virtualNodeSchema } from "../../plan/offloading";
import { nonceSecret } from "../../plan/peering";
import { type CommandContext, type Run, runs } from "../run";
import { describeRef } from "../cluster/cluster";
import { CommandError } from "../failure";
import {
  type OutputFormat,
  outputOption,
  remoteClusterIdOption,
  switchOption,
  timeoutOption,
} from "../options";
import { formatted } from "../output";
import { readNonce } from "../peering/authenticate";
import { requestSlice, sliceManifest } from "../peering/slice";
import { amountOptions, requestedResources, type SliceFlags } from "./peering-flags";
import { untilNodeReady } from "../peering/virtual-nodes";
import { pairs, words } from "../values";
import { peeredNamespace, targetNamespace, targetOptions, type TargetFlags, withTarget } from "./target";

interface CreateFlags extends TargetFlags {
  output?: OutputFormat;
  remoteClusterId: string;
}

export function createCommand(context: CommandContext): Command {
  const command = new Command("create").description("make an object of a peering by itself");
  for (const child of [createResourceSlice(context), createVirtualNode(context), createNonce(context)])
    command.addCommand(child);
  return command;
}

const PRINT = "print the manifest in place of applying it";

function createResourceSlice(context: CommandContext): Command {
  const command = new Command("resourceslice")
    .aliases(["resourceslices", "rs"])
    .description("ask a provider for resources; a virtual node is made of what is granted")
    .argument("<name>", "name of the slice, and of its virtual node");
  for (const option of [
    remoteClusterIdOption("ID of the provider"),
    ...targetOptions(),
    outputOption(PRINT),
    timeoutOption("2m"),
    new Option("--class <name>", "class that decides at the provider").default("default"),
    ...amountOptions(),
    new Option("--no-virtual-node", "make no virtual node of it"),
  ])
    command.addOption(option);
  interface Flags extends CreateFlags, SliceFlags {
    class: string;
    virtualNode: boolean;
  }
  return command.action(
    runs<Flags>(context, (run, flags, [name = ""]) =>
      withTarget(run, flags, async (cluster) => {
        const manifest = sliceManifest({
          name,
          namespace: await peeredNamespace(run, cluster, flags, flags.remoteClusterId),
          providerId: flags.remoteClusterId,
          class: flags.class,
          resources: requestedResources(flags),
          createVirtualNode: flags.virtualNode,
        });
        if (flags.output !== undefined) return run.terminal.out(formatted(manifest, flags.output));
        const answer = await requestSlice(run, cluster, manifest);
        if (!answer.granted) {
          throw new CommandError(
            `${flags.remoteClusterId} denies slice ${name}: ${answer.reason}`,
            "ask its administrator; when that has changed there, the slice is granted by itself",
          );
        }
      }),
    ),
  );
}

interface VirtualNodeFlags extends CreateFlags, SliceFlags {
  createNode: boolean;
  disableNetworkCheck: boolean;
  kubeconfigSecretName?: string;
  resourceSliceName?: string;
  vkOptionsTemplate?: string;
  storageClasses?: string[];
  ingressClasses?: string[];
  loadBalancerClasses?: string[];
  labels?: Record<string, string>;
  nodeSelector?: Record<string, string>;
  runtimeClassName?: string;
}

function createVirtualNode(context: CommandContext): Command {
  const command = new Command("virtualnode")
    .aliases(["virtualnodes", "vn"])
    .description("make a virtual node, of a slice or of a kubeconfig")
    .argument("<name>", "name of the virtual node, and of its Node");
  for (const option of [
    remoteClusterIdOption("ID of the provider"),
    ...targetOptions(),
    outputOption(PRINT),
    timeoutOption("2m"),
    switchOption("create-node", "make a Node of it", true),
    switchOption("disable-network-check", "let it be Ready without a network connection", false),
    new Option("--kubeconfig-secret-name <name>", "Secret with the kubeconfig for the provider").conflicts(
      "resourceSliceName",
    ),
    new Option("--resource-slice-name <name>", "slice that it is made of"),
    new Option("--vk-options-template <namespace/name>", "VkOptionsTemplate; the installation's by default"),
    ...amountOptions(),
    new Option("--storage-classes <names>", "by commas, the first is the default").argParser(words),
    new Option("--ingress-classes <names>", "by commas, the first is the default").argParser(words),
    new Option("--load-balancer-classes <names>", "by commas, the first is the default").argParser(words),
    new Option("--labels <pairs>", "labels of the node").argParser(pairs),
    new Option("--node-selector <pairs>", "labels of the provider's nodes that its pods go to").argParser(
      pairs,
    ),
    new Option("--runtime-class-name <name>", "runtime class that its pods get at the provider"),
  ])
    command.addOption(option);
  return command.action(
    runs<VirtualNodeFlags>(context, (run, flags, [name = ""]) =>
      withTarget(run, flags, async (cluster) => {
        const namespace = await peeredNamespace(run, cluster, flags, flags.remoteClusterId);
        const source = await sourceOf(run, cluster, flags, namespace);
        const settings = parseArguments(virtualNodeSchema, `VirtualNode "${name}"`, {
          providerClusterId: flags.remoteClusterId,
          tenantNamespace: namespace,
          nodeName: name,
          createNode: flags.createNode,
          disableNetworkCheck: flags.disableNetworkCheck,
          ...source.settings,
          ...(flags.nodeSelector && { nodeSelector: flags.nodeSelector }),
          ...(flags.runtimeClassName && { runtimeClassName: flags.runtimeClassName }),
          labels: { ...source.settings.labels, ...flags.labels },
        });
        const manifest = virtualNode(settings);
        if (source.sliceName !== undefined)
          manifest.metadata.labels = {
            ...manifest.metadata.labels,
            [Label.resourceSliceName]: source.sliceName,
          };
        if (flags.vkOptionsTemplate !== undefined)
          manifest.spec = { ...manifest.spec, vkOptionsTemplateRef: templateRef(flags.vkOptionsTemplate) };
        if (flags.output !== undefined) return run.terminal.out(formatted(manifest, flags.output));
        await run.progress.step(
          undefined,
          `make virtual node ${name}`,
          () => cluster.ensure(run, VirtualNode, manifest),
          ({ change }) => `virtual node ${name} ${change === "none" ? "is there already" : "made"}`,
        );
        if (flags.createNode) await untilNodeReady(run, cluster, name);
      }),
    ),
  );
}

interface Source {
  sliceName?: string;
  settings: {
    kubeconfigSecretName: string;
    resources?: Record<string, string | number>;
    labels?: Record<string, string>;
    nodeSelector?: Record<string, string>;
    storageClasses?: unknown;
    ingressClasses?: unknown;
    loadBalancerClasses?: unknown;
  };
}

/** What the node is made of: a slice with what was granted, or a Secret with what the flags say. */
async function sourceOf(
  run: Run,
  { client }: Parameters<typeof targetNamespace>[1],
  flags: VirtualNodeFlags,
  namespace: string,
): Promise<Source> {
  if (flags.resourceSliceName === undefined) {
    if (flags.kubeconfigSecretName === undefined) {
      throw new CommandError(
        "what the virtual node is made of is not given",
        "give --resource-slice-name, or --kubeconfig-secret-name",
      );
    }
    const ref = { name: flags.kubeconfigSecretName, namespace };
    if ((await client.get(Secret, ref, run.call)) === undefined)
      throw new CommandError(`--kubeconfig-secret-name: Secret ${describeRef(ref)} does not exist`);
    const classes = <Key extends string>(key: Key, names: string[] | undefined) =>
      names?.map((each, index) => ({ [key]: each, default: index === 0 }));
    return {
      settings: {
        kubeconfigSecretName: ref.name,
        resources: { cpu: "2", memory: "4Gi", pods: "110", ...requestedResources(flags) },
        ...(flags.storageClasses && { storageClasses: classes("storageClassName", flags.storageClasses) }),
        ...(flags.ingressClasses && { ingressClasses: classes("ingressClassName", flags.ingressClasses) }),
        ...(flags.loadBalancerClasses && {
          loadBalancerClasses: classes("loadBalancerClassName", flags.loadBalancerClasses),
        }),
      },
    };
  }
  const ref = { name: flags.resourceSliceName, namespace };
  const slice = await client.get(ResourceSlice, ref, run.call);
  if (slice === undefined)
    throw new CommandError(
      `--resource-slice-name: ResourceSlice ${describeRef(ref)} does not exist`,
      `make it with "liqoctl create resourceslice ${ref.name} --remote-cluster-id ${flags.remoteClusterId}"`,
    );
  const { status } = slice;
  const identity = await client.get(Identity, { name: sliceIdentityName(ref.name), namespace }, run.call);
  if (status?.resources === undefined || identity?.status?.kubeconfigSecretRef === undefined)
    throw new CommandError(
      `ResourceSlice ${describeRef(ref)} is not granted yet, or has no credentials yet`,
      "see its conditions, then give the same command again",
    );
  return {
    sliceName: ref.name,
    settings: {
      kubeconfigSecretName:
        identity.status.kubeconfigSecretRef.name ?? kubeconfigSecretName(identity.metadata.name),
      resources: { ...status.resources, ...requestedResources(flags) },
      ...(status.nodeLabels && { labels: status.nodeLabels }),
      ...(status.nodeSelector && { nodeSelector: status.nodeSelector }),
      ...(status.storageClasses && { storageClasses: status.storageClasses }),
      ...(status.ingressClasses && { ingressClasses: status.ingressClasses }),
      ...(status.loadBalancerClasses && { loadBalancerClasses: status.loadBalancerClasses }),
    },
  };
}

function templateRef(text: string) {
  const [namespace, name, ...rest] = text.split("/");
  if (!namespace || !name || rest.length > 0)
    throw new CommandError(`--vk-options-template ${text}: is not namespace/name`);
  return { apiVersion: "offloading.liqo.io/v1beta1", kind: "VkOptionsTemplate", namespace, name };
}

function createNonce(context: CommandContext): Command {
  const command = new Command("nonce").description("have a nonce drawn, which a consumer is to sign");
  for (const option of [
    remoteClusterIdOption("ID of the consumer"),
    ...targetOptions(),
    outputOption(PRINT),
    timeoutOption("2m"),
  ])
    command.addOption(option);
  return command.action(
    runs<CreateFlags>(context, (run, flags) =>
      withTarget(run, flags, async (cluster) => {
        const sides = {
          consumer: { clusterId: flags.remoteClusterId, tenantNamespace: "" },
          provider: {
            clusterId: await cluster.clusterId(run),
            tenantNamespace:
              flags.output === undefined
                ? await targetNamespace(run, cluster, flags, flags.remoteClusterId)
                : await peeredNamespace(run, cluster, flags, flags.remoteClusterId),
          },
        };
        if (flags.output !== undefined) return run.terminal.out(formatted(nonceSecret(sides), flags.output));
        const nonce = await readNonce(run, cluster, sides);
        run.progress.info(
          undefined,
          `nonce: ${nonce}; Secret ${sides.provider.tenantNamespace}/${Name.nonceSecret}`,
        );
      }),
    ),
  );
}
