import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { stringify } from "yaml";

import { parseKubeconfig } from "../../../runtime/identity";
import type { BackendOptions } from "../backend-options";
import { clusterSpecFields, type ClusterSpec } from "../cluster-spec";
import { findExecutable } from "../find-executable";
import { checkoutPrefix, stateFolder } from "../folders";
import { runCommand } from "../run-command";
import type { RunningCluster } from "../running-cluster";

/** Whether kind is installed and its Docker answers. */
export async function kindUsable(): Promise<boolean> {
  if (findExecutable("kind") === undefined || findExecutable("docker") === undefined) return false;
  try {
    await runCommand("docker", ["info", "--format", "{{.ID}}"], { timeoutMs: 5_000 });
    return true;
  } catch {
    return false;
  }
}

/** Makes a cluster with kind, or finds the one of this name. */
export async function kindUp(spec: ClusterSpec, options: BackendOptions = {}): Promise<RunningCluster> {
  const name = kindName(spec.name);
  if (!(await kindClusters()).includes(name)) {
    options.progress?.(`${spec.name}: kind makes the cluster ${name}`);
    await runCommand(
      "kind",
      ["create", "cluster", "--config", "-", "--wait", "180s", "--kubeconfig", "/dev/null"],
      {
        input: stringify(kindConfig(spec)),
        ...(options.signal && { signal: options.signal }),
      },
    );
    await mkdir(specFolder(), { recursive: true, mode: 0o700 });
    await writeFile(specFile(spec.name), JSON.stringify(spec));
  }
  await kindImportImages(spec.name, spec.images);
  return describe(spec);
}

/** Removes a cluster. False if there was none. */
export async function kindDown(name: string): Promise<boolean> {
  const existed = findExecutable("kind") !== undefined && (await kindClusters()).includes(kindName(name));
  if (existed)
    await runCommand("kind", ["delete", "cluster", "--name", kindName(name), "--kubeconfig", "/dev/null"]);
  await rm(specFile(name), { force: true });
  return existed;
}

export async function kindList(): Promise<{ spec: ClusterSpec; running: boolean }[]> {
  const files = await readdir(specFolder()).catch((): string[] => []);
  if (files.length === 0) return [];
  const present = await kindClusters().catch((): string[] => []);
  const specs = await Promise.all(
    files.map(async (file) =>
      clusterSpecFields.parse(JSON.parse(await readFile(join(specFolder(), file), "utf8"))),
    ),
  );
  return specs.map((spec) => ({ spec, running: present.includes(kindName(spec.name)) }));
}

export async function kindGet(name: string): Promise<RunningCluster | undefined> {
  const found = (await kindList()).find(({ spec, running }) => spec.name === name && running);
  return found && describe(found.spec);
}

export async function kindImportImages(name: string, images: readonly string[]): Promise<void> {
  for (const image of images) {
    await runCommand("kind", ["load", "image-archive", image, "--name", kindName(name)]);
  }
}

/** The configuration file that kind gets. */
export function kindConfig(spec: ClusterSpec): unknown {
  const image = `kindest/node:v${spec.kubernetesVersion}`;
  return {
    kind: "Cluster",
    apiVersion: "kind.x-k8s.io/v1alpha4",
    name: kindName(spec.name),
    networking: { podSubnet: spec.podCidr, serviceSubnet: spec.serviceCidr },
    nodes: Array.from({ length: spec.nodes }, (_, index) => ({
      role: index === 0 ? "control-plane" : "worker",
      image,
    })),
  };
}

async function describe(spec: ClusterSpec): Promise<RunningCluster> {
  const name = kindName(spec.name);
  const [kubeconfig, internal, nodes] = await Promise.all([
    runCommand("kind", ["get", "kubeconfig", "--name", name]),
    runCommand("kind", ["get", "kubeconfig", "--name", name, "--internal"]),
    runCommand("kind", ["get", "nodes", "--name", name]),
  ]);
  return {
    name: spec.name,
    backend: "kind",
    kubeconfig,
    apiServerUrl: parseKubeconfig(kubeconfig).server,
    peerApiServerUrl: parseKubeconfig(internal).server,
    nodeNames: nodes.split("\n").filter((line) => line !== ""),
    podCidr: spec.podCidr,
    serviceCidr: spec.serviceCidr,
  };
}

async function kindClusters(): Promise<string[]> {
  return (await runCommand("kind", ["get", "clusters"])).split("\n").filter((line) => line !== "");
}

/** kind has one space of names for the whole machine. */
function kindName(name: string): string {
  return `pulumi-liqo-${checkoutPrefix()}-${name}`;
}

function specFolder(): string {
  return join(stateFolder(), checkoutPrefix(), "kind");
}

function specFile(name: string): string {
  return join(specFolder(), `${name}.json`);
}
