import type { ToolPaths } from "../toolchain";
import { apiServerFlags, controllerManagerFlags, etcdFlags, schedulerFlags } from "../control-plane-flags";
import { formatRange } from "../ipv4-range";
import { announceScript, quote } from "./namespace-process";
import type { NodePlan, NodeSettings } from "./node-files";

export interface NodeScriptSettings extends NodeSettings {
  tools: ToolPaths;
  /** The host's address on the fabric: the node's default route. */
  hostAddress: string;
  fabricPrefix: number;
  /** Other nodes of the cluster. */
  peers: readonly NodePlan[];
  serviceCidr: string;
  /** Archives to import before pods start. */
  images: readonly string[];
  /** The node that runs the control plane also needs these. */
  controlPlane?: { audit?: { policyFile: string; logFile: string }; corefile: string };
}

/**
 * The script that is process 1 of a node: it makes the node's own view of the machine, brings up its network, starts the programs
 * and starts again what ends. When it dies the kernel ends everything in its namespaces: processes, mounts, interfaces.
 */
export function nodeScript(node: NodePlan, settings: NodeScriptSettings): string {
  const { file } = node.layout;
  const log = (program: string) => quote(`${settings.cluster.logs}/${node.name}-${program}.log`);
  const daemon = (program: string, args: readonly string[]) =>
    `start ${log(program)} ${[program.includes("/") ? program : settings.tools.of(program), ...args].map(quote).join(" ")}`;
  return `#!/bin/sh
# Process 1 of the node ${node.name}; written anew at each start.
${announceScript(file("init.pid"))}
umask 022
echo ${quote(node.name)} >/proc/sys/kernel/hostname
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns /run/lock /run/containerd
mount --bind ${quote(file("var-lib"))} /var/lib
mount --bind ${quote(file("var-log"))} /var/log
mkdir -p /var/lib/kubelet /var/lib/containerd /var/lib/cni /var/log/pods /var/log/containers
# Volumes that pods mount with propagation need a shared tree.
mount --make-rshared /

until ip link show dev eth0 >/dev/null 2>&1; do sleep 0.02; done
ip -batch - <<'END'
link set lo up
address add ${node.address}/${settings.fabricPrefix} dev eth0
link set eth0 up
route add default via ${settings.hostAddress}
${settings.peers.map((peer) => `route add ${formatRange(peer.podRange)} via ${peer.address}`).join("\n")}
END
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/eth0/rp_filter
nft -f ${quote(file("firewall.nft"))}
touch /run/network-ready

# Runs a program for ever: $1 is its log.
start() {
  log=$1
  shift
  while :; do
    "$@" </dev/null >>"$log" 2>&1
    sleep 0.5
  done &
}
until_exists() {
  until [ -e "$1" ]; do sleep 0.05; done
}

${settings.controlPlane === undefined ? "" : controlPlaneStart(node, settings, daemon)}
${settings.proxyUrl === undefined ? "" : `export HTTP_PROXY=${quote(settings.proxyUrl)} HTTPS_PROXY=${quote(settings.proxyUrl)} NO_PROXY=localhost,127.0.0.1`}
start ${log("containerd")} containerd --config ${quote(file("containerd.toml"))}
unset HTTP_PROXY HTTPS_PROXY NO_PROXY
/bin/sh ${quote(file("import-images.sh"))} ${settings.images.map(quote).join(" ")} >>${log("images")} 2>&1 &
images=$!

until_exists ${quote(settings.cluster.apiReadyFile)}
${settings.controlPlane === undefined ? "" : workersStart(settings, daemon)}
wait "$images"
${daemon("kubelet", [
  `--config=${file("kubelet.yaml")}`,
  `--kubeconfig=${settings.cluster.pki}/${node.name}.kubeconfig`,
  "--root-dir=/var/lib/kubelet",
  "--cert-dir=/var/lib/kubelet/pki",
  `--hostname-override=${node.name}`,
  `--node-ip=${node.address}`,
])}
${daemon("kube-proxy", [
  `--kubeconfig=${settings.cluster.pki}/proxy.kubeconfig`,
  `--cluster-cidr=${settings.podCidr}`,
  "--proxy-mode=nftables",
  `--hostname-override=${node.name}`,
  // These limits belong to the whole machine.
  "--conntrack-max-per-core=0",
  "--conntrack-tcp-timeout-established=0",
  "--conntrack-tcp-timeout-close-wait=0",
  "--nodeport-addresses=primary",
])}
# Orphans become children of this process and are reaped here.
while :; do wait; sleep 1; done
`;
}

type DaemonLine = (program: string, args: readonly string[]) => string;

function controlPlaneStart(node: NodePlan, settings: NodeScriptSettings, daemon: DaemonLine): string {
  const pki = (name: string) => `${settings.cluster.pki}/${name}`;
  const audit = settings.controlPlane?.audit;
  return [
    daemon(
      "etcd",
      etcdFlags({
        dataFolder: settings.cluster.etcd,
        clientUrl: "http://127.0.0.1:2379",
        peerUrl: "http://127.0.0.1:2380",
      }),
    ),
    daemon(
      "kube-apiserver",
      apiServerFlags({
        pki,
        etcdUrl: "http://127.0.0.1:2379",
        bindAddress: "0.0.0.0",
        advertiseAddress: node.address,
        port: 6443,
        serviceCidr: settings.serviceCidr,
        ...(audit && { audit }),
      }),
    ),
  ].join("\n");
}

/** What would only fail and try again before the API server is ready. */
function workersStart(settings: NodeScriptSettings, daemon: DaemonLine): string {
  const pki = (name: string) => `${settings.cluster.pki}/${name}`;
  return [
    daemon(
      "kube-controller-manager",
      controllerManagerFlags({ pki, serviceCidr: settings.serviceCidr, port: 10257 }),
    ),
    daemon("kube-scheduler", schedulerFlags({ pki, port: 10259 })),
    daemon("coredns", [`-conf=${settings.controlPlane?.corefile ?? ""}`]),
  ].join("\n");
}
