/**
 * A cluster of a network lab: a real API server with the networking controllers, and nodes and pods that are hosts of the lab, with what a CNI plugin would give
 * them: an address each, routes between the nodes, and masquerading of what leaves the cluster.
 */
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, connect, type Server, type Socket } from "node:net";
import { join } from "node:path";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import {
  Configuration,
  Connection,
  GatewayClient,
  GatewayServer,
  Namespace,
  Network,
  Node,
  Pod,
  PublicKey,
  Secret,
  ServiceAccount,
  WgGatewayClientTemplate,
  WgGatewayServerTemplate,
} from "../../runtime/api";
import { DEFAULT_POOLS } from "../../runtime/ipam/pools";
import { startIpam } from "../../runtime/ipam/start";
import { KubeClient } from "../../runtime/kube";
import { isConfigured, mapAddress } from "../../runtime/networking/address-mapping";
import type { NetworkingOptions } from "../../runtime/networking/options";
import { startNetworking } from "../../runtime/networking/start";
import { installDefinitions } from "./install-definitions";
import type { LabHost, LabProcess, NetworkLab } from "./network-lab";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";

export interface NodePlan {
  name: string;
  /** On the cluster's LAN, with its length. */
  address: string;
  podCidr: string;
}

export interface NetworkClusterPlan {
  id: string;
  liqoNamespace: string;
  podCidr: string;
  serviceCidr: string;
  externalCidr: string;
  internalCidr: string;
  /** Of the LAN's router. */
  router: string;
  /** Of the router towards other clusters, with its length. */
  outside: string;
  nodes: NodePlan[];
  /** Others see all of this cluster under the router's outer address. */
  behindNat: boolean;
}

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
  private relay: Server | undefined;
  private readonly relayed = new Set<Socket>();
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
    await cluster.openRelay();
    await router.run(`
      ip link add lan type bridge && ip link set lan up
      ip addr add ${plan.router} dev lan`);
    for (const node of plan.nodes) await cluster.wireNode(node);
    await installDefinitions(cluster.client);
    await cluster.install();
    await cluster.startControllers();
    return cluster;
  }

  get kube(): KubeClient {
    return this.client;
  }

  get auditLog(): string {
    return this.controlPlane.auditLogPath ?? "";
  }

  /** Joins the routers of two clusters. */
  static async join(lab: NetworkLab, a: NetworkCluster, b: NetworkCluster, mtu: number): Promise<void> {
    await lab.wire({ host: a.router, name: "outside" }, { host: b.router, name: "outside" }, mtu);
    for (const { router, plan } of [a, b]) await router.run(`ip addr add ${plan.outside} dev outside`);
    for (const [{ router, plan }, other] of [
      [a, b],
      [b, a],
    ] as const) {
      if (!plan.behindNat) {
        for (const { address } of plan.nodes) {
          await other.router.run(`ip route add ${bare(address)} via ${bare(plan.outside)}`);
        }
      } else {
        await router.run(
          "nft add table ip nat; nft 'add chain ip nat out { type nat hook postrouting priority 100; }'; nft add rule ip nat out oifname outside masquerade",
        );
      }
    }
  }

  /** Joins the routers of several clusters, none of which is behind a NAT, by a network of their own. */
  static async joinAll(lab: NetworkLab, clusters: readonly NetworkCluster[], mtu: number): Promise<void> {
    const hub = await lab.host("hub");
    await hub.run(`ip link add hub mtu ${mtu} type bridge && ip link set hub up`);
    for (const { router, plan } of clusters) {
      await lab.wire({ host: router, name: "outside" }, { host: hub, name: plan.id }, mtu);
      await hub.run(`ip link set ${plan.id} master hub`);
      await router.run(`ip addr add ${plan.outside} dev outside`);
      for (const other of clusters) {
        if (other.plan.id === plan.id) continue;
        for (const { address } of other.plan.nodes) {
          await router.run(`ip route add ${bare(address)} via ${bare(other.plan.outside)}`);
        }
      }
    }
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
    await this.openTo(host);
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
    await this.openTo(pod.host);
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
    peer: NetworkClusterPlan | { id: string; podCidr: string; externalCidr: string },
    server?: { addresses: string[]; port: number },
  ): Promise<void> {
    const namespace = `liqo-tenant-${peer.id}`;
    const metadata = { name: peer.id, namespace, labels: { "liqo.io/remote-cluster-id": peer.id } };
    const networking = { apiVersion: "networking.liqo.io/v1beta1" } as const;
    await this.client.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: namespace,
        labels: { "liqo.io/remote-cluster-id": peer.id, "liqo.io/tenant-namespace": "true" },
      },
    });
    await this.client.create(Configuration, {
      ...networking,
      kind: "Configuration",
      metadata,
      spec: { remote: { cidr: { pod: [peer.podCidr], external: [peer.externalCidr] } } },
    });
    if (server === undefined) {
      await this.client.create(GatewayServer, {
        ...networking,
        kind: "GatewayServer",
        metadata,
        spec: {
          mtu: 1340,
          serverTemplateRef: {
            kind: "WgGatewayServerTemplate",
            name: "wireguard-server",
            namespace: this.plan.liqoNamespace,
          },
          endpoint: { port: 51840, serviceType: "NodePort" },
        },
      });
    } else {
      await this.client.create(GatewayClient, {
        ...networking,
        kind: "GatewayClient",
        metadata,
        spec: {
          mtu: 1340,
          clientTemplateRef: {
            kind: "WgGatewayClientTemplate",
            name: "wireguard-client",
            namespace: this.plan.liqoNamespace,
          },
          endpoint: server,
        },
      });
    }
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
    for (const end of this.relayed) end.destroy();
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
    await this.createNode(plan);
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

  private async createNode({ name, address }: NodePlan): Promise<void> {
    await this.client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
    const status = {
      addresses: [{ type: "InternalIP", address: bare(address) }],
      conditions: [{ type: "Ready", status: "True" }],
    };
    await this.client.patch(Node, { name }, { status }, { type: "merge", subresource: "status" });
  }

  private async install(): Promise<void> {
    const { plan, client } = this;
    const create = async (name: string) =>
      client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await create(plan.liqoNamespace);
    const pinned = { "ipam.liqo.io/network-not-remapped": "true", "ipam.liqo.io/network-shared": "true" };
    const network = (name: string, cidr: string, labels = {}, preAllocated = 0) =>
      client.create(Network, {
        apiVersion: "ipam.liqo.io/v1alpha1",
        kind: "Network",
        metadata: {
          name,
          namespace: plan.liqoNamespace,
          labels: { "ipam.liqo.io/network-type": name, ...labels },
          annotations: { "liqo.io/preinstalled": "true" },
        },
        spec: { cidr, ...(preAllocated > 0 && { preAllocated }) },
      });
    await network("pod-cidr", plan.podCidr, pinned);
    await network("service-cidr", plan.serviceCidr, pinned);
    await network("external-cidr", plan.externalCidr, {}, 1);
    await network("internal-cidr", plan.internalCidr);
    for (const node of plan.nodes) await this.createNode(node);
    const networking = { apiVersion: "networking.liqo.io/v1beta1" } as const;
    await client.create(WgGatewayServerTemplate, {
      ...networking,
      kind: "WgGatewayServerTemplate",
      metadata: { name: "wireguard-server", namespace: plan.liqoNamespace },
      spec: {
        objectKind: { ...networking, kind: "WgGatewayServer" },
        template: {
          metadata: { name: "{{ .Name }}", namespace: "{{ .Namespace }}" },
          spec: {
            service: {
              metadata: {},
              spec: {
                type: "{{ .Spec.Endpoint.ServiceType }}",
                selector: { "app.kubernetes.io/name": "{{ .Name }}" },
                ports: [{ port: "{{ .Spec.Endpoint.Port }}", protocol: "UDP" }],
              },
            },
            deployment: deploymentTemplate,
          },
        },
      },
    });
    await client.create(WgGatewayClientTemplate, {
      ...networking,
      kind: "WgGatewayClientTemplate",
      metadata: { name: "wireguard-client", namespace: plan.liqoNamespace },
      spec: {
        objectKind: { ...networking, kind: "WgGatewayClient" },
        template: {
          metadata: { name: "{{ .Name }}", namespace: "{{ .Namespace }}" },
          spec: { deployment: deploymentTemplate },
        },
      },
    });
  }

  /** Hosts of the lab reach the API server at the address of the kubeconfig, by a socket file that leads out of their namespace. */
  private async openRelay(): Promise<void> {
    const { hostname, port } = new URL(this.controlPlane.url);
    const relay = createServer((socket) => {
      const upstream = connect(Number(port), hostname);
      socket.pipe(upstream).pipe(socket);
      socket.on("error", () => upstream.destroy());
      upstream.on("error", () => socket.destroy());
      for (const end of [socket, upstream]) {
        this.relayed.add(end);
        end.once("close", () => this.relayed.delete(end));
      }
    });
    this.relay = relay;
    await new Promise<void>((resolve) => relay.listen(this.socketFile(), resolve));
    relay.unref();
  }

  private async openTo(host: LabHost): Promise<void> {
    const { port } = new URL(this.controlPlane.url);
    const script = `const net = require("node:net");
      net.createServer((socket) => {
        const upstream = net.connect(${JSON.stringify(this.socketFile())});
        socket.pipe(upstream).pipe(socket);
        socket.on("error", () => upstream.destroy());
        upstream.on("error", () => socket.destroy());
      }).listen(${port}, "127.0.0.1");`;
    host.spawn(process.execPath, ["-e", script]);
    await until(`the API server from ${host.name}`, async () => {
      await host.run(`(ss -Hltn "sport = :${port}" | grep -q .)`);
      return true;
    });
  }

  private socketFile(): string {
    return join(this.folder, "api.sock");
  }

  private kubeconfigFile(): string {
    const path = join(this.folder, "kubeconfig");
    writeFileSync(path, this.controlPlane.kubeconfig, { mode: 0o600 });
    return path;
  }
}

/** A pod that runs; also names its object. */
export interface LabPod {
  host: LabHost;
  address: string;
  name: string;
  namespace: string;
  node: string;
}

/** An agent in a process of its own, which can be killed and started again. */
export class LabAgent {
  private process: LabProcess;

  constructor(
    private readonly host: LabHost,
    private readonly starts: () => LabProcess,
    private readonly logFile: string,
  ) {
    this.process = starts();
  }

  log(): string {
    return readFileSync(this.logFile, "utf8");
  }

  async kill(): Promise<void> {
    await this.process.end("SIGKILL");
  }

  async terminate(): Promise<void> {
    await this.process.end("SIGTERM");
  }

  restart(): void {
    this.process = this.starts();
  }

  async untilReady(): Promise<void> {
    await until(`${this.logFile} says that it is ready`, async () => {
      if (this.process.ended) throw new Error(this.log().slice(-4_000));
      await this.get("8081/readyz");
      return true;
    });
  }

  /** A metric's value, all its labels added up; 0 where it is not there. */
  async metric(name: string): Promise<number> {
    const text = await this.get("8082/metrics");
    const lines = text
      .split("\n")
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }

  async metrics(): Promise<string> {
    return await this.get("8082/metrics");
  }

  private async get(path: string): Promise<string> {
    const script = `fetch("http://127.0.0.1:${path}").then(async (answer) => {
      process.stdout.write(await answer.text());
      process.exitCode = answer.ok ? 0 : 1;
    });`;
    return await this.host.run(`'${process.execPath}' -e '${script}'`);
  }
}

/** Gateways find the wireguard-go that their image has, and not the one that may be installed here. */
async function useToolsWireGuard(): Promise<void> {
  const [folder = ""] = (await ensureTools(["wireguard-go"])).folders();
  const path = process.env["PATH"] ?? "";
  if (!path.startsWith(`${folder}:`)) process.env["PATH"] = `${folder}:${path}`;
}

const deploymentTemplate = {
  metadata: {},
  spec: {
    replicas: 1,
    selector: { matchLabels: { "app.kubernetes.io/name": "{{ .Name }}" } },
    template: {
      metadata: { labels: { "app.kubernetes.io/name": "{{ .Name }}" } },
      spec: { containers: [{ name: "gateway", image: "none" }] },
    },
  },
};

function bare(address: string): string {
  return address.split("/")[0] ?? address;
}

/** The n-th address of a network. */
function addressAt(cidr: string, n: number): string {
  const parts = bare(cidr).split(".").map(Number);
  const number = parts.reduce((sum, part) => sum * 256 + part, 0) + n;
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
