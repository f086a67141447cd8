/** `npm run clusters -- up|down|list|kubeconfig|import …`: local clusters from the shell. */
import { resolve } from "node:path";

import { Command, InvalidArgumentError } from "commander";
import { z } from "zod";

import {
  downAllClusters,
  downCluster,
  getCluster,
  importImages,
  listClusters,
  resumeClusters,
  upCluster,
} from "./local-clusters";

const progress = (line: string) => console.error(line);

interface UpFlags {
  nodes: number;
  podCidr?: string;
  serviceCidr?: string;
  backend: "auto" | "kind" | "native";
  image: string[];
  auditLog: boolean;
}

function program(): Command {
  const root = new Command("clusters").description("Kubernetes clusters on this machine");
  root
    .command("up")
    .description("make clusters, or start again those that stopped; without a name, all that stopped")
    .argument("[names...]", "names of the clusters")
    .option("--nodes <number>", "nodes of each, 1 to 5", wholeNumber, 1)
    .option("--pod-cidr <range>", "range of pod addresses (default: 10.200.0.0/16)")
    .option("--service-cidr <range>", "range of service addresses (default: 10.96.0.0/16)")
    .option("--backend <backend>", "auto, kind or native", "auto")
    .option("--image <archive>", "image archive to load; repeat for more", collect, [])
    .option("--audit-log", "write one line a request to a file", false)
    .action(up);
  root
    .command("down")
    .description("remove clusters and all that they made")
    .argument("[names...]", "names of the clusters")
    .option("--all", "all clusters of this checkout", false)
    .action(down);
  root.command("list").description("list the clusters of this checkout").action(list);
  root
    .command("kubeconfig")
    .description("print the administrator's kubeconfig")
    .argument("<name>", "name of the cluster")
    .action(kubeconfig);
  root
    .command("import")
    .description("load image archives into every node")
    .argument("<name>", "name of the cluster")
    .argument("<archives...>", "paths")
    .action((name: string, archives: string[]) =>
      importImages(
        name,
        archives.map((path) => resolve(path)),
      ),
    );
  return root;
}

async function up(names: string[], flags: UpFlags): Promise<void> {
  const clusters =
    names.length === 0
      ? await resumeClusters({ progress })
      : await Promise.all(
          names.map((name) =>
            upCluster(
              {
                name,
                nodes: flags.nodes,
                backend: flags.backend,
                auditLog: flags.auditLog,
                images: flags.image.map((path) => resolve(path)),
                ...(flags.podCidr !== undefined && { podCidr: flags.podCidr }),
                ...(flags.serviceCidr !== undefined && { serviceCidr: flags.serviceCidr }),
              },
              { progress },
            ),
          ),
        );
  for (const { name, apiServerUrl, nodeNames } of clusters) {
    console.log(`${name}: ${apiServerUrl}, nodes ${nodeNames.join(", ")}`);
  }
}

async function down(names: string[], flags: { all: boolean }): Promise<void> {
  if (names.length === 0 && !flags.all) throw new Error("name the clusters to remove, or give --all");
  if (flags.all) {
    for (const name of await downAllClusters({ progress })) console.log(`${name}: removed`);
    return;
  }
  for (const name of names)
    console.log(`${name}: ${(await downCluster(name, { progress })) ? "removed" : "there was none"}`);
}

async function list(): Promise<void> {
  const rows = (await listClusters()).map((cluster) => [
    cluster.name,
    cluster.backend,
    cluster.running ? "running" : "stopped",
    String(cluster.nodes),
    cluster.podCidr,
    cluster.serviceCidr,
  ]);
  const table = [["NAME", "BACKEND", "STATE", "NODES", "PODS", "SERVICES"], ...rows];
  const widths = table.reduce(
    (max, row) => row.map((cell, column) => Math.max(max[column] ?? 0, cell.length)),
    [0],
  );
  for (const row of table) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}

async function kubeconfig(name: string): Promise<void> {
  const cluster = await getCluster(name);
  if (cluster === undefined)
    throw new Error(`no local cluster named ${name} runs; see "npm run clusters -- list"`);
  process.stdout.write(cluster.kubeconfig);
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("give a whole number");
  return Number(text);
}

function collect(text: string, before: string[]): string[] {
  return [...before, text];
}

program()
  .parseAsync()
  .catch((error: unknown) => {
    console.error(
      error instanceof z.ZodError
        ? z.prettifyError(error)
        : error instanceof Error
          ? error.message
          : String(error),
    );
    process.exitCode = 1;
  });
