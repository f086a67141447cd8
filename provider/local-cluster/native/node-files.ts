import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";

import { stringify } from "yaml";

import { formatRange, sizeOf, type Ipv4Range } from "../ipv4-range";
import { pauseImageName } from "../../../runtime/image/small-images";
import type { ClusterLayout, NodeLayout } from "./layout";

/** What one node is. */
export interface NodePlan {
  name: string;
  address: string;
  podRange: Ipv4Range;
  layout: NodeLayout;
  /** Control group of its pods. */
  podGroup: string;
}

/** Where a node finds its programs and the cluster's settings. */
export interface NodeSettings {
  cluster: ClusterLayout;
  clusterDns: string;
  podCidr: string;
  /** Whether the state folder's file system can hold overlay mounts. */
  overlay: boolean;
  /** HTTP proxy for pulling images; none by default. */
  proxyUrl?: string;
}

/** Folders of CNI plugins, the distributions' and the project's own. */
const cniFolders = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

/** @throws naming the package if the CNI plugins are not installed */
export function cniFolder(): string {
  const folder = cniFolders.find((path) => existsSync(`${path}/ptp`) && existsSync(`${path}/host-local`));
  if (folder === undefined) {
    throw new Error(
      `no CNI plugins (ptp, host-local) in ${cniFolders.join(", ")}; install the package containernetworking-plugins`,
    );
  }
  return folder;
}

/** Writes the configuration of a node's container runtime, network plugins and kubelet. */
export async function writeNodeFiles(node: NodePlan, settings: NodeSettings): Promise<void> {
  const { file } = node.layout;
  for (const folder of ["cni", "var-lib", "var-log"]) await mkdir(file(folder), { recursive: true });
  await Promise.all([
    writeFile(file("containerd.toml"), containerdConfig(node, settings)),
    writeFile(file("cni/10-pods.conflist"), JSON.stringify(cniConfig(node), undefined, 2)),
    writeFile(file("kubelet.yaml"), stringify(kubeletConfig(node, settings))),
    writeFile(file("resolv.conf"), `nameserver ${settings.clusterDns}\n`),
    writeFile(file("firewall.nft"), masqueradeRules(settings.podCidr)),
    writeFile(file("import-images.sh"), importScript(settings)),
  ]);
}

/** Imports the archives named as arguments; runs inside the node. What an earlier start imported is still there. */
function importScript({ overlay }: NodeSettings): string {
  return `until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
mkdir -p /var/lib/imported-images
for image; do
  mark=/var/lib/imported-images/\${image##*/}
  [ -e "$image" ] || continue
  [ "$mark" -nt "$image" ] && continue
  ctr --namespace k8s.io images import ${overlay ? "" : "--snapshotter native "}"$image" || exit 1
  touch "$mark"
done
`;
}

function containerdConfig(node: NodePlan, { overlay }: NodeSettings): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImageName}"
  # Without CAP_SYS_RESOURCE a lower OOM score than the runtime's own cannot be set.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniFolder()}"
    conf_dir = "${node.layout.file("cni")}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "${overlay ? "overlayfs" : "native"}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;
}

/** Point-to-point links, so that all pod traffic is routed and seen by the firewall, whatever the kernel does with bridges. */
function cniConfig(node: NodePlan): unknown {
  return {
    cniVersion: "1.0.0",
    name: "pods",
    plugins: [
      {
        type: "ptp",
        ipMasq: false,
        mtu: 1500,
        ipam: {
          type: "host-local",
          ranges: [[{ subnet: formatRange(node.podRange) }]],
          routes: [{ dst: "0.0.0.0/0" }],
          dataDir: "/run/cni-addresses",
        },
      },
      { type: "portmap", capabilities: { portMappings: true } },
      // A pod's namespace has the settings of the machine's own, not of the node's; elsewhere nodes forward, and so may their pods.
      { type: "tuning", sysctl: { "net.ipv4.ip_forward": "1" } },
    ],
  };
}

function kubeletConfig(node: NodePlan, { cluster, clusterDns }: NodeSettings): unknown {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${cluster.pki}/ca.crt` },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: `${cluster.pki}/${node.name}.crt`,
    tlsPrivateKeyFile: `${cluster.pki}/${node.name}.key`,
    clusterDomain: "cluster.local",
    clusterDNS: [clusterDns],
    resolvConf: node.layout.file("resolv.conf"),
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    podLogsDir: "/var/log/pods",
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${node.podGroup}`,
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    // The machine's disk is shared: its fill level is no reason to evict pods or delete images.
    evictionHard: {},
    imageGCHighThresholdPercent: 100,
    maxPods: Math.min(250, sizeOf(node.podRange) - 3),
    serializeImagePulls: false,
    registryPullQPS: 0,
    eventRecordQPS: 0,
    kubeAPIQPS: 200,
    kubeAPIBurst: 400,
    // Node status is written when something changes; leases tell that the kubelet lives.
    nodeStatusUpdateFrequency: "5s",
    nodeStatusReportFrequency: "5m",
    nodeLeaseDurationSeconds: 40,
  };
}

/** Pods reach what lies outside the cluster under their node's address. */
function masqueradeRules(podCidr: string): string {
  return `table ip pulumi-liqo {
  chain postrouting {
    type nat hook postrouting priority srcnat;
    oifname "eth0" ip saddr ${podCidr} ip daddr != ${podCidr} masquerade
  }
}
`;
}
