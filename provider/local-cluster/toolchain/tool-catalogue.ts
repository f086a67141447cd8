import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { z } from "zod";

import { packageRoot } from "../../../runtime/api/package-root";
import { copyWithKubernetesSchema } from "./kubernetes-plugin-files";
import type { Platform, Supply, Tool } from "./tool";

export const kubernetesVersion = "1.34.4";

const kubernetes: Tool = {
  name: "kubernetes",
  version: kubernetesVersion,
  binaries: [
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "kubectl",
  ],
  probe: {
    args: ["--version"],
    otherArgs: { kubectl: ["version", "--client"] },
    accepts: (output) => /^(Kubernetes|Client Version:) v1\.34\.\d+$/m.test(output),
  },
  download: (platform) =>
    platform.os === "linux"
      ? kubernetes.binaries.map((binary) => {
          const url = `https://dl.k8s.io/release/v${kubernetesVersion}/bin/linux/${platform.architecture}/${binary}`;
          return { url, checksumUrl: `${url}.sha256`, binary };
        })
      : undefined,
  build: {
    module: "kubernetes",
    multiCall: true,
    minutes: 7,
    variables: {
      "k8s.io/component-base/version.gitVersion": `v${kubernetesVersion}`,
      "k8s.io/component-base/version.gitMajor": "1",
      "k8s.io/component-base/version.gitMinor": "34",
    },
  },
};

const etcd: Tool = {
  name: "etcd",
  version: "3.6.16",
  binaries: ["etcd"],
  probe: { args: ["--version"], accepts: (output) => /etcd Version: 3\.[6-9]\./.test(output) },
  download: (platform) => [
    gitHubArchive("etcd-io/etcd", "v3.6.16", `etcd-v3.6.16-${dashed(platform)}`, "SHA256SUMS", "etcd"),
  ],
  build: { module: "etcd", minutes: 1 },
};

const coredns: Tool = {
  name: "coredns",
  version: "1.12.4",
  binaries: ["coredns"],
  probe: { args: ["-version"], accepts: (output) => /CoreDNS-1\.1\d\./.test(output) },
  download: ({ os, architecture }) => {
    const url = `https://github.com/coredns/coredns/releases/download/v1.12.4/coredns_1.12.4_${os}_${architecture}.tgz`;
    return [{ url, checksumUrl: `${url}.sha256`, members: ["coredns"] }];
  },
  build: { module: "coredns", minutes: 4 },
};

const pulumi: Tool = {
  name: "pulumi",
  version: "3.274.1",
  binaries: ["pulumi"],
  probe: { args: ["version"], accepts: (output) => /^v3\.(2[4-9]\d|[3-9]\d\d)\./m.test(output) },
  // The archive's language host comes along: it stands beside the CLI, where the CLI finds it.
  download: ({ os, architecture }) => {
    const base = "https://github.com/pulumi/pulumi/releases/download/v3.274.1";
    return [
      {
        url: `${base}/pulumi-v3.274.1-${os}-${architecture === "amd64" ? "x64" : architecture}.tar.gz`,
        checksumUrl: `${base}/pulumi-3.274.1-checksums.txt`,
        members: ["pulumi/pulumi", "pulumi/pulumi-language-nodejs"],
      },
    ];
  },
  build: {
    module: "pulumi",
    package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    minutes: 5,
    variables: { "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": "v3.274.1" },
  },
};

/** Pulumi's Kubernetes plugin, for where the engine cannot download the published one (provider/engine). */
const pulumiKubernetes: Tool = {
  name: "pulumi-kubernetes",
  version: "4.25.0",
  binaries: ["pulumi-resource-kubernetes"],
  supply: (platform) => pluginArchive("kubernetes", platform),
  build: {
    module: "pulumi-kubernetes",
    minutes: 11,
    variables: { "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version": "4.25.0" },
    prepare: copyWithKubernetesSchema("4.25.0"),
  },
};

/** Pulumi's plugin for random values, likewise. */
const pulumiRandom: Tool = {
  name: "pulumi-random",
  version: "4.21.2",
  binaries: ["pulumi-resource-random"],
  supply: (platform) => pluginArchive("random", platform),
  build: { module: "pulumi-random", minutes: 3, variables: { "main.Version": "4.21.2" } },
};

/** Carries the tunnels of gateways whose kernel has no WireGuard. Its publisher has no builds: the archive's name is ours. */
const wireGuardGo: Tool = {
  name: "wireguard-go",
  version: "0.0.20250522",
  binaries: ["wireguard-go"],
  // From 2023 on it takes many packets at a time.
  probe: {
    args: ["--version"],
    accepts: (output) => /^wireguard-go v0\.0\.20(2[3-9]|[3-9]\d)\d{4}/m.test(output),
  },
  supply: (platform) => ({
    version: "0.0.20250522",
    archives: [{ file: `wireguard-go-v0.0.20250522-${dashed(platform)}.tar.gz`, members: ["wireguard-go"] }],
  }),
  build: { module: "wireguard-go", package: "golang.zx2c4.com/wireguard", minutes: 1 },
};

/** Every tool by its name. */
export const toolCatalogue = {
  kubernetes,
  etcd,
  coredns,
  pulumi,
  "pulumi-kubernetes": pulumiKubernetes,
  "pulumi-random": pulumiRandom,
  "wireguard-go": wireGuardGo,
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof toolCatalogue;

function gitHubArchive(repository: string, tag: string, name: string, sums: string, binary: string) {
  const base = `https://github.com/${repository}/releases/download/${tag}`;
  return { url: `${base}/${name}.tar.gz`, checksumUrl: `${base}/${sums}`, members: [`${name}/${binary}`] };
}

/** A resource plugin as published: in the version of the SDK, which those that can be built do not always have. */
function pluginArchive(plugin: string, platform: Platform): Supply {
  const version = sdkVersion(plugin);
  const file = `pulumi-resource-${plugin}-v${version}-${dashed(platform)}.tar.gz`;
  const sums = [`pulumi-${plugin}_${version}_checksums.txt`];
  return { version, archives: [{ file, sums, members: [`pulumi-resource-${plugin}`] }] };
}

const manifestSchema = z.object({ version: z.string() });

/** Version of `@pulumi/<plugin>`, which is the version of the resource plugin that it asks for. */
export function sdkVersion(plugin: string): string {
  const resolve = createRequire(join(packageRoot(), "package.json"));
  const manifest = readFileSync(resolve.resolve(`@pulumi/${plugin}/package.json`), "utf8");
  return manifestSchema.parse(JSON.parse(manifest)).version;
}

function dashed(platform: Platform): string {
  return `${platform.os}-${platform.architecture}`;
}
