/** Flags that several commands share (control plane reference 17.1). */
import { Option } from "commander";

import { Name } from "../api/keys";
import { boolean, duration, pairs } from "./values";

/** Flags of every command; they stand before it or after it. */
export interface GlobalFlags extends ClusterFlags {
  verbose: boolean;
  skipConfirm: boolean;
  globalLabels?: Record<string, string>;
  globalAnnotations?: Record<string, string>;
}

/** Which cluster, as kubectl has it. */
export interface ClusterFlags {
  kubeconfig?: string;
  context?: string;
  cluster?: string;
  user?: string;
}

export interface RemoteFlags {
  remoteKubeconfig?: string;
  remoteContext?: string;
  remoteCluster?: string;
  remoteUser?: string;
  remoteNamespace: string;
}

export function globalOptions(): Option[] {
  return [
    new Option("--kubeconfig <path>", "kubeconfig to use; by default $KUBECONFIG, then ~/.kube/config"),
    new Option("--context <name>", "context of it; by default the current one"),
    new Option("--cluster <name>", "cluster of it, in place of the context's"),
    new Option("--user <name>", "user of it, in place of the context's"),
    new Option("-v, --verbose", "say more").default(false),
    new Option("--skip-confirm", "do not ask before something is taken away").default(false),
    new Option("--global-labels <pairs>", "labels of everything that is created, as name=value,…").argParser(
      pairs,
    ),
    new Option(
      "--global-annotations <pairs>",
      "annotations of everything that is created, as name=value,…",
    ).argParser(pairs),
  ];
}

/** `-n` where it means Liqo's namespace. */
export function liqoNamespaceOption(): Option {
  return new Option("-n, --namespace <name>", "namespace that Liqo is installed in").default(
    Name.liqoNamespace,
  );
}

/** The other cluster of commands for two. */
export function remoteOptions(): Option[] {
  return [
    new Option(
      "--remote-kubeconfig <path>",
      "kubeconfig of the remote cluster; by default as for --kubeconfig",
    ),
    new Option("--remote-context <name>", "context of it; by default the current one"),
    new Option("--remote-cluster <name>", "cluster of it, in place of the context's"),
    new Option("--remote-user <name>", "user of it, in place of the context's"),
    new Option(
      "--remote-namespace <name>",
      "namespace that Liqo is installed in, in the remote cluster",
    ).default(Name.liqoNamespace),
  ];
}

export function timeoutOption(text: string): Option {
  return new Option("--timeout <time>", "longest time for all of it, such as 90s or 10m")
    .argParser(duration)
    .default(duration(text), text);
}

/** A flag with a value of its own: `--wait`, `--wait=false`. */
export function switchOption(name: string, description: string, fallback: boolean): Option {
  return new Option(`--${name} [true|false]`, description).argParser(boolean).default(fallback);
}

export type OutputFormat = "json" | "yaml";

export function outputOption(description: string): Option {
  return new Option("-o, --output <format>", description).choices(["json", "yaml"]);
}

export function remoteClusterIdOption(description = "ID of the cluster at the other end"): Option {
  return new Option("--remote-cluster-id <id>", description).makeOptionMandatory();
}
