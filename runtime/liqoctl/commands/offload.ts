import { Command, Option } from "commander";

import { Name } from "../../api/keys";
import { Namespace } from "../../api/kubernetes";
import { NamespaceOffloading, VirtualNode } from "../../api/offloading";
import { parseArguments } from "../../plan/arguments";
import type { ManifestOf } from "../../plan/manifest";
import { namespaceOffloading, namespaceOffloadingSchema } from "../../plan/offloading";
import { type Cluster, withCluster } from "../cluster/cluster";
import { type CommandContext, confirm, type Run, runs } from "../run";
import { CommandError } from "../failure";
import { repeated, selectorTerm } from "../values";
import { type ClusterFlags, type OutputFormat, outputOption, timeoutOption } from "../options";
import { formatted } from "../output";
import { type WaitResult, waitUntil } from "../wait";

interface OffloadFlags {
  podOffloadingStrategy: string;
  namespaceMappingStrategy: string;
  remoteNamespaceName?: string;
  selector?: string[];
  nsSelector?: string;
  output?: OutputFormat;
}

export function offloadCommand(context: CommandContext): Command {
  const namespace = new Command("namespace")
    .aliases(["ns", "namespaces"])
    .description("extend namespaces to other clusters, so that their pods may run there")
    .argument("[name...]", "names of the namespaces")
    .addHelpText(
      "after",
      "\nExamples:\n  liqoctl offload namespace shop\n  liqoctl offload namespace shop --selector region=europe --pod-offloading-strategy Remote",
    );
  for (const option of [
    new Option("--pod-offloading-strategy <strategy>", "where its pods may run")
      .choices(["LocalAndRemote", "Remote", "Local"])
      .default("LocalAndRemote"),
    new Option("--namespace-mapping-strategy <strategy>", "what it is called there")
      .choices(["DefaultName", "EnforceSameName", "SelectedName"])
      .default("DefaultName"),
    new Option("--remote-namespace-name <name>", "its name there, with the strategy SelectedName"),
    new Option(
      "-l, --selector <labels>",
      "clusters by the labels of their virtual nodes, as region=europe,!spot; repeat for alternatives; all by default",
    ).argParser(repeated),
    namespaceSelectorOption(),
    timeoutOption("20s"),
    outputOption("print the manifests in place of applying them"),
  ])
    namespace.addOption(option);
  namespace.action(runs<OffloadFlags>(context, offload));
  return new Command("offload").description("offload something to other clusters").addCommand(namespace);
}

export function unoffloadCommand(context: CommandContext): Command {
  const namespace = new Command("namespace")
    .aliases(["ns", "namespaces"])
    .description("take namespaces back: what they have at other clusters is removed")
    .argument("[name...]", "names of the namespaces")
    .addOption(namespaceSelectorOption())
    .addOption(timeoutOption("2m"))
    .action(runs<{ nsSelector?: string }>(context, unoffload));
  return new Command("unoffload")
    .description("take something back from other clusters")
    .addCommand(namespace);
}

function namespaceSelectorOption(): Option {
  return new Option("--ns-selector <labels>", "namespaces by their labels, in place of names");
}

async function offload(
  run: Run,
  flags: OffloadFlags & ClusterFlags,
  words: readonly string[],
): Promise<void> {
  const terms = (flags.selector ?? []).map((text) => selectorTerm(text, "--selector"));
  const planned = (namespace: string) =>
    namespaceOffloading(
      parseArguments(namespaceOffloadingSchema, `NamespaceOffloading of "${namespace}"`, {
        namespace,
        podOffloadingStrategy: flags.podOffloadingStrategy,
        namespaceMappingStrategy: flags.namespaceMappingStrategy,
        ...(flags.remoteNamespaceName !== undefined && { remoteNamespaceName: flags.remoteNamespaceName }),
        clusterSelector: { nodeSelectorTerms: terms },
      }),
    );
  await withNamespaces(run, flags, { words, selector: flags.nsSelector }, async (cluster, names) => {
    if (flags.remoteNamespaceName !== undefined && names.length > 1) {
      throw new CommandError(
        `--remote-namespace-name ${flags.remoteNamespaceName} cannot be the name of ${names.length} namespaces`,
        "offload them one by one",
      );
    }
    const manifests = names.map(planned);
    if (flags.output !== undefined) {
      const format = flags.output;
      const texts = manifests.map((manifest) => formatted(manifest, format));
      return run.terminal.out(texts.join(format === "yaml" ? "---\n" : ""));
    }
    await each(manifests, (manifest) => offloadOne(run, cluster, manifest));
  });
}

/** Places where pods may run, from the widest: to take one away evicts pods. */
const STRICTER = ["LocalAndRemote", "Remote", "Local"];

async function offloadOne(
  run: Run,
  cluster: Cluster,
  manifest: ManifestOf<NamespaceOffloading>,
): Promise<void> {
  const { client } = cluster;
  const namespace = manifest.metadata.namespace ?? "";
  if ((await client.get(Namespace, { name: namespace }, run.call)) === undefined) {
    throw new CommandError(
      `namespace ${namespace} does not exist at ${client.server}`,
      `make it first: kubectl create namespace ${namespace}`,
    );
  }
  const before = await client.get(NamespaceOffloading, manifest.metadata, run.call);
  const strategy = manifest.spec?.podOffloadingStrategy ?? "LocalAndRemote";
  if (before?.spec.podOffloadingStrategy === "LocalAndRemote" && STRICTER.indexOf(strategy) > 0) {
    run.progress.warn(
      undefined,
      `namespace ${namespace}: pods that run where the strategy ${strategy} has none stay until they are made again`,
    );
  }
  const next = `see which cluster it fails at: kubectl get namespaceoffloading ${Name.namespaceOffloading} -n ${namespace} -o yaml`;
  await run.progress.step(
    undefined,
    `offload namespace ${namespace}`,
    async (waiting) => {
      const { change } = await cluster.ensure(run, NamespaceOffloading, manifest);
      const phase = await waitUntil<string>(run, { waiting, next }, async () =>
        judge(await client.get(NamespaceOffloading, manifest.metadata, run.call), next),
      );
      if (phase === "NoClusterSelected") {
        const nodes = await client.list(VirtualNode, {}, run.call);
        run.progress.warn(
          undefined,
          nodes.length === 0
            ? `namespace ${namespace}: there is no virtual node yet; it is extended to clusters as they are peered with`
            : `namespace ${namespace}: no cluster is selected; the virtual nodes are ${nodes.map(({ metadata }) => metadata.name).join(", ")}, and --selector is held against their labels`,
        );
      }
      return change;
    },
    (change) =>
      change === "none" ? `namespace ${namespace} is offloaded already` : `namespace ${namespace} offloaded`,
  );
}

/** The phase once it is settled for the present spec. */
export function judge(offloading: NamespaceOffloading | undefined, next: string): WaitResult<string> {
  const { metadata, status } = offloading ?? {};
  if (status?.observedGeneration === undefined || status.observedGeneration !== metadata?.generation)
    return { is: "open", seen: "the controllers have not looked at it yet" };
  const phase = status.offloadingPhase ?? "";
  if (phase === "Ready" || phase === "NoClusterSelected") return { is: "met", value: phase };
  const failures = Object.entries(status.remoteNamespacesConditions ?? {}).flatMap(([cluster, conditions]) =>
    conditions
      .filter(({ type, status: is }) => type === "Ready" && is !== "True")
      .map(({ reason, message }) => `${cluster}: ${reason ?? ""} ${message ?? ""}`.trim()),
  );
  const seen = [`phase ${phase === "" ? "not told yet" : phase}`, ...failures].join("; ");
  return phase === "SomeFailed" || phase === "AllFailed"
    ? { is: "refused", seen, next }
    : { is: "open", seen };
}

async function unoffload(
  run: Run,
  flags: { nsSelector?: string } & ClusterFlags,
  words: readonly string[],
): Promise<void> {
  await withNamespaces(run, flags, { words, selector: flags.nsSelector }, async (cluster, names) => {
    await confirm(
      run,
      `This removes what ${names.join(", ")} ${names.length === 1 ? "has" : "have"} at other clusters`,
    );
    await each(names, (namespace) => unoffloadOne(run, cluster, namespace));
  });
}

async function unoffloadOne(run: Run, { client }: Cluster, namespace: string): Promise<void> {
  const ref = { name: Name.namespaceOffloading, namespace };
  const next = `see what its remote namespaces wait for: kubectl get namespaceoffloading ${ref.name} -n ${namespace} -o yaml; a cluster that cannot be reached holds it up`;
  await run.progress.step(
    undefined,
    `take namespace ${namespace} back`,
    async (waiting) => {
      const present = await client.delete(NamespaceOffloading, ref, run.call);
      await waitUntil(run, { waiting, next }, async () => {
        const left = await client.get(NamespaceOffloading, ref, run.call);
        return left === undefined
          ? { is: "met", value: undefined }
          : {
              is: "open",
              seen: `its remote namespaces are being removed: ${Object.keys(left.status?.remoteNamespacesConditions ?? {}).join(", ")}`,
            };
      });
      return present;
    },
    (present) => `namespace ${namespace} ${present ? "is not offloaded any more" : "is not offloaded"}`,
  );
}

async function withNamespaces(
  run: Run,
  flags: ClusterFlags,
  { words, selector }: { words: readonly string[]; selector: string | undefined },
  work: (cluster: Cluster, names: string[]) => Promise<void>,
): Promise<void> {
  if (words.length > 0 === (selector !== undefined)) {
    throw new CommandError(
      words.length > 0 ? "names and --ns-selector exclude each other" : "no namespace is given",
      "name the namespaces, or select them by --ns-selector",
    );
  }
  await withCluster(run, flags, Name.liqoNamespace, async (cluster) => {
    const names = [...new Set(words)];
    if (selector !== undefined) {
      const found = await cluster.client.list(Namespace, { labelSelector: selector }, run.call);
      names.push(...found.map(({ metadata }) => metadata.name));
      if (names.length === 0)
        throw new CommandError(
          `--ns-selector ${selector}: no namespace of ${cluster.client.server} has these labels`,
        );
    }
    await work(cluster, names);
  });
}

/** Tries all, then says of each that failed why. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: Error[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      failures.push(error instanceof Error ? error : new CommandError(String(error)));
    }
  }
  const [first, ...others] = failures;
  if (first === undefined) return;
  if (others.length === 0) throw first;
  const messages = failures.map(({ message }) => message);
  throw new CommandError(messages.join("\n"), undefined, { cause: new AggregateError(failures) });
}
