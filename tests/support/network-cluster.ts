/**
 * A cluster of a network lab: a real API server with the networking controllers, and nodes and pods that are hosts of the lab, with what a CNI plugin would give
 * them: an address each, routes between the nodes, and masquerading of what leaves the cluster.
 */
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import {
  Configuration,
  Connection,
  GatewayClient,
  GatewayServer,
  Node,
  Pod,
  PublicKey,
  Secret,
  ServiceAccount,
} from "../../runtime/api";
import { DEFAULT_POOLS } from "../../runtime/ipam/pools";
import { startIpam } from "../../runtime/ipam/start";
import { KubeClient } from "../../runtime/kube";
import { isConfigured, mapAddress } from "../../runtime/networking/address-mapping";
import type { NetworkingOptions } from "../../runtime/networking/options";
import { startNetworking } from "../../runtime/networking/start";
import { installDefinitions } from "./install-definitions";
import { LabAgent, type LabPod } from "./lab-agent";
import { LabApiRelay } from "./lab-api-relay";
import type { LabHost, NetworkLab } from "./network-lab";
import { createInstallation, createNode, createPeering } from "./network-objects";
import { addressAt, bare, type NetworkClusterPlan, type NodePlan } from "./network-plan";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";

const options: Omit<NetworkingOptions, "liqoNamespace"> = {
  fullMasquerade: false,
  fabricRulePriority: 0,
  gatewayMasqueradeBypass: false,
  genevePort: 6091,
  segmentSizeClamp: 0,
  overlayWithoutTracking: false,
  apiServerBy: "service",
  exportProxy: false,
  gatewayClusterRole: "liqo-gateway",
  offloadingEnabled: false,
  global: { labels: {}, annotations: {} },
};

interface RunningNode {
  plan: NodePlan;
  host: LabHost;
  nextPod: number;
}

/** An address on the node's side of the wire to each pod; the pod's default gateway. */
const POD_GATEWAY = "169.254.1.1";

export class NetworkCluster {
  readonly nodes = new Map<string, RunningNode>();
  private context: TestContext | undefined;
  private relay: LabApiRelay | undefined;
  private readonly client: KubeClient;

  private constructor(
    readonly plan: NetworkClusterPlan,
    private readonly lab: NetworkLab,
    private readonly controlPlane: ControlPlane,
    readonly router: LabHost,
    private readonly folder: string,
  ) {
    this.client = KubeClient.fromKubeconfig(controlPlane.kubeconfig, { userAgent: "network-lab" });
  }

  /** Makes the nodes, the objects of an installation, and starts the controllers. */
  static async start(
    plan: NetworkClusterPlan,
    lab: NetworkLab,
    controlPlane: ControlPlane,
  ): Promise<NetworkCluster> {
    await useToolsWireGuard();
    const router = await lab.host(`${plan.id}-router`);
    const folder = join(controlPlane.folder, "network-lab");
    mkdirSync(folder, { recursive: true });
    const cluster = new NetworkCluster(plan, lab, controlPlane, router, folder);
    cluster.relay = await LabApiRelay.open(controlPlane.url, join(folder, "api.sock"));
    await router.run(`
      ip link add lan type bridge && ip link set lan up
      ip addr add ${plan.router} dev lan`);
    for (const node of plan.nodes) await cluster.wireNode(node);
    await installDefinitions(cluster.client);
    await createInstallation(cluster.client, plan);
    await cluster.startControllers();
    return cluster;
  }

  get kube(): KubeClient {
    return this.client;
  }

  get auditLog(): string {
    return this.controlPlane.auditLogPath ?? "";
  }

  /** Makes a pod on a node, and its object. */
  async pod(
    node: string,
    name: string,
    labels: Record<string, string> = {},
    namespace = "default",
  ): Promise<LabPod> {
    const on = this.nodeOf(node);
    const host = await this.lab.host(`${this.plan.id}-${name}`);
    const address = addressAt(on.plan.podCidr, (on.nextPod += 1));
    const wire = `pod${on.nextPod}`;
    await this.lab.wire({ host, name: "eth0" }, { host: on.host, name: wire });
    await host.run(`
      ip addr add ${address}/32 dev eth0
      ip route add ${POD_GATEWAY} dev eth0 scope link
      ip route add default via ${POD_GATEWAY} dev eth0`);
    await on.host.run(`
      ip addr add ${POD_GATEWAY}/32 dev ${wire}
      ip route add ${address} dev ${wire} scope link`);
    await this.ensureAccount(namespace);
    await this.client.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels },
      spec: {
        nodeName: node,
        automountServiceAccountToken: false,
        containers: [{ name: "main", image: "none" }],
      },
    });
    await this.client.patch(
      Pod,
      { name, namespace },
      { status: { phase: "Running", podIP: address, podIPs: [{ ip: address }] } },
      { type: "merge", subresource: "status" },
    );
    return { host, address, name, namespace, node };
  }

  /** The account that no pod is admitted without; nobody makes it here. */
  async ensureAccount(namespace: string): Promise<void> {
    await this.client.apply(
      ServiceAccount,
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
      { fieldManager: "network-lab", force: true },
    );
  }

  /** Removes a pod, its object first. */
  async removePod(pod: LabPod): Promise<void> {
    await this.client.delete(Pod, pod, { gracePeriodSeconds: 0 });
    await pod.host.close();
    await this.nodeOf(pod.node).host.run(`ip route del ${pod.address} 2>/dev/null || true`);
  }

  /** Starts a component on a host of the lab, with its probes and metrics on ports of that host. */
  start(component: "gateway" | "fabric", host: LabHost, flags: string[], log: string): LabAgent {
    const logFile = join(this.folder, `${log}.log`);
    const started = () =>
      host.spawn(
        // What the pods of agents may do, and nothing else.
        "setpriv",
        [
          "--no-new-privs",
          "--inh-caps=-all",
          "--bounding-set=-all,+net_admin,+net_raw",
          process.execPath,
          join(__dirname, "../../runtime/main.js"),
          component,
          `--kubeconfig=${this.kubeconfigFile()}`,
          "--metrics-address=127.0.0.1:8082",
          "--health-probe-address=127.0.0.1:8081",
          "--log-level=debug",
          ...flags,
        ],
        { log: openSync(logFile, "a") },
      );
    return new LabAgent(host, started, logFile);
  }

  async fabric(node: string, flags: string[] = []): Promise<LabAgent> {
    const { host } = this.nodeOf(node);
    await this.relay?.openTo(host);
    return this.start("fabric", host, [`--nodename=${node}`, ...flags], `fabric-${node}`);
  }

  /** The pod of a gateway, which plays the part of the one that its Deployment would make. */
  async gatewayPod(peer: string, node: string, name: string, active = true): Promise<LabPod> {
    const namespace = `liqo-tenant-${peer}`;
    const pod = await this.pod(
      node,
      name,
      {
        "networking.liqo.io/component": "gateway",
        "networking.liqo.io/gateway-name": peer,
        "networking.liqo.io/gateway-namespace": namespace,
        ...(active && { "networking.liqo.io/active": "true" }),
      },
      namespace,
    );
    await this.relay?.openTo(pod.host);
    return pod;
  }

  async gateway(
    peer: string,
    end: "server" | "client",
    pod: LabPod,
    flags: string[] = [],
  ): Promise<LabAgent> {
    const namespace = `liqo-tenant-${peer}`;
    const gateway = await until(`the gateway for ${peer} of ${this.plan.id}`, () =>
      this.gatewayFlags(end, peer),
    );
    const keys = await this.mountKeys(peer);
    return this.start(
      "gateway",
      pod.host,
      [
        `--name=${peer}`,
        `--namespace=${namespace}`,
        ...gateway,
        `--remote-cluster-id=${peer}`,
        `--mode=${end}`,
        `--node-name=${pod.node}`,
        `--pod-name=${pod.name}`,
        `--keys-dir=${keys}`,
        "--ping-interval=500ms",
        ...flags,
      ],
      `gateway-${pod.name}`,
    );
  }

  /** What the template of a gateway would fill in. */
  private async gatewayFlags(end: "server" | "client", name: string): Promise<string[] | undefined> {
    const ref = { name, namespace: `liqo-tenant-${name}` };
    if (end === "server") {
      const server = await this.client.get(GatewayServer, ref);
      return server && [`--gateway-uid=${server.metadata.uid ?? ""}`];
    }
    const client = await this.client.get(GatewayClient, ref);
    return (
      client && [
        `--gateway-uid=${client.metadata.uid ?? ""}`,
        `--endpoint-address=${(client.spec.endpoint?.addresses ?? []).join()}`,
        `--endpoint-ports=${client.spec.endpoint?.port ?? 0}`,
      ]
    );
  }

  /** What the kubelet does with the Secret of a gateway; returns the folder. */
  async mountKeys(peer: string): Promise<string> {
    const secret = await until(`the keys for ${peer}`, () =>
      this.client.get(Secret, { name: `gw-${peer}`, namespace: `liqo-tenant-${peer}` }),
    );
    const folder = join(this.folder, `keys-${peer}`);
    mkdirSync(folder, { recursive: true });
    for (const [key, value] of Object.entries(secret.data ?? {})) {
      writeFileSync(join(folder, key), Buffer.from(value, "base64"), { mode: 0o600 });
    }
    return folder;
  }

  /** Writes what a peering consists of on this side; the gateway's end is the client where a server is given. */
  async peer(
    peer: Parameters<typeof createPeering>[2],
    server?: { addresses: string[]; port: number },
  ): Promise<void> {
    await createPeering(this.client, this.plan, peer, server);
  }

  /** The public key of this side's gateway to a peer, in base64. */
  async publicKey(peer: string): Promise<string> {
    return readFileSync(join(await this.mountKeys(peer), "publicKey")).toString("base64");
  }

  /** Tells this side the public key of the peer's gateway. */
  async know(peer: string, publicKey: string): Promise<void> {
    await this.client.apply(
      PublicKey,
      {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "PublicKey",
        metadata: {
          name: peer,
          namespace: `liqo-tenant-${peer}`,
          labels: { "liqo.io/remote-cluster-id": peer, "networking.liqo.io/gateway-resource": "true" },
        },
        spec: { publicKey },
      },
      { fieldManager: "network-lab", force: true },
    );
  }

  /** How this cluster sees an address of a peer's pod. */
  async remapped(peer: string, address: string): Promise<string> {
    const namespace = `liqo-tenant-${peer}`;
    return await until(`the networks of ${peer} as ${this.plan.id} sees them`, async () => {
      const configuration = await this.client.get(Configuration, { name: peer, namespace });
      return configuration && isConfigured(configuration) && mapAddress(address, configuration);
    });
  }

  async connection(peer: string): Promise<Connection | undefined> {
    return await this.client.get(Connection, { name: `gw-${peer}`, namespace: `liqo-tenant-${peer}` });
  }

  async untilConnected(peer: string, timeoutMs = 120_000): Promise<void> {
    await until(
      `the connection of ${this.plan.id} to ${peer}`,
      async () => (await this.connection(peer))?.status?.value === "Connected",
      { timeoutMs, everyMs: 100 },
    );
  }

  /** UDP packets to the router's outer address and the tunnel's port go to a pod, as a NodePort would lead them. */
  async publish(pod: LabPod): Promise<void> {
    await this.router.run(`
      ip route replace ${pod.address} via ${bare(this.nodeOf(pod.node).plan.address)}
      nft delete table ip publish 2>/dev/null || true
      nft add table ip publish
      nft 'add chain ip publish in { type nat hook prerouting priority -100; }'
      nft add rule ip publish in iifname outside udp dport 51840 dnat to ${pod.address}
      conntrack -D -p udp --orig-port-dst 51840 2>/dev/null || true`);
  }

  /** The same, but by a path that something on the router makes. It has to be published again afterwards. */
  async pathToGateway(
    pod: LabPod,
    make: (path: { address: string; port: number }) => Promise<void>,
  ): Promise<void> {
    await make({ address: pod.address, port: 51840 });
    await this.router.run(`
      nft delete table ip publish
      conntrack -D -p udp --orig-port-dst 51840 2>/dev/null || true`);
  }

  async stop(): Promise<void> {
    await this.context?.end();
    this.client.close();
    this.relay?.close();
  }

  /** The controllers end, and others begin. */
  async restartControllers(): Promise<void> {
    await this.context?.end();
    await this.startControllers();
  }

  /** A node's address on the LAN of its cluster. */
  lanAddress(node: string): string {
    return bare(this.nodeOf(node).plan.address);
  }

  nodeOf(name: string): RunningNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`${this.plan.id} has no node ${name}`);
    return node;
  }

  private async startControllers(): Promise<void> {
    this.context = testContext(this.controlPlane.kubeconfig, "controllers");
    const { liqoNamespace } = this.plan;
    const { global } = options;
    await startIpam(this.context, { liqoNamespace, pools: DEFAULT_POOLS, syncIntervalMs: 0, global });
    await startNetworking(this.context, { ...options, liqoNamespace });
  }

  /** One more node, without its agent. */
  async addNode(plan: NodePlan): Promise<void> {
    await this.wireNode(plan);
    for (const { host, plan: other } of this.nodes.values()) {
      if (other.name !== plan.name) await host.run(`ip route add ${plan.podCidr} via ${bare(plan.address)}`);
    }
    await createNode(this.client, plan);
  }

  /** The machine and its object go; pods on it have to be removed before. */
  async removeNode(name: string): Promise<void> {
    const { host, plan } = this.nodeOf(name);
    await host.close();
    this.nodes.delete(name);
    for (const { host: other } of this.nodes.values()) await other.run(`ip route del ${plan.podCidr}`);
    await this.client.delete(Node, { name });
  }

  private async wireNode(plan: NodePlan): Promise<void> {
    const host = await this.lab.host(plan.name);
    const wire = `to-${plan.name}`;
    await this.lab.wire({ host, name: "eth0" }, { host: this.router, name: wire });
    await this.router.run(`
      ip link set ${wire} master lan
      ip route add ${plan.podCidr} via ${bare(plan.address)}`);
    await host.run(`
      ip addr add ${plan.address} dev eth0
      ip route add default via ${bare(this.plan.router)}
      nft add table ip cni
      nft 'add chain ip cni out { type nat hook postrouting priority 100; }'
      nft add rule ip cni out ip saddr ${plan.podCidr} ip daddr != ${this.plan.podCidr} masquerade`);
    const others = [...this.plan.nodes, ...[...this.nodes.values()].map((node) => node.plan)];
    for (const other of new Set(others.filter(({ name }) => name !== plan.name))) {
      await host.run(`ip route add ${other.podCidr} via ${bare(other.address)}`);
    }
    this.nodes.set(plan.name, { plan, host, nextPod: 1 });
  }

  private kubeconfigFile(): string {
    const path = join(this.folder, "kubeconfig");
    writeFileSync(path, this.controlPlane.kubeconfig, { mode: 0o600 });
    return path;
  }
}

/** Gateways find the wireguard-go that their image has, and not the one that may be installed here. */
async function useToolsWireGuard(): Promise<void> {
  const [folder = ""] = (await ensureTools(["wireguard-go"])).folders();
  const path = process.env["PATH"] ?? "";
  if (!path.startsWith(`${folder}:`)) process.env["PATH"] = `${folder}:${path}`;
}
