/**
 * A cluster of a network lab: a real API server with the networking controllers, and nodes and pods that are hosts of the lab, with agents on
 * them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { Configuration, Connection, Node, Pod, PublicKey, ServiceAccount } from "../../runtime/api";
import { DEFAULT_POOLS } from "../../runtime/ipam/pools";
import { startIpam } from "../../runtime/ipam/start";
import { KubeClient } from "../../runtime/kube";
import { isConfigured, mapAddress } from "../../runtime/networking/address-mapping";
import type { NetworkingOptions } from "../../runtime/networking/networking-context";
import { startNetworking } from "../../runtime/networking/start";
import { installDefinitions } from "./install-definitions";
import { installRoles } from "./install-roles";
import type { LabPod } from "./lab-agent";
import { NetworkAgents } from "./network-agents";
import type { LabHost, NetworkLab } from "./network-lab";
import { NetworkLan } from "./network-lan";
import { createInstallation, createNode, createPeering } from "./network-objects";
import type { NetworkClusterPlan, NodePlan } from "./network-plan";
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

export class NetworkCluster {
  private context: TestContext | undefined;

  private constructor(
    readonly plan: NetworkClusterPlan,
    private readonly controlPlane: ControlPlane,
    private readonly client: KubeClient,
    readonly lan: NetworkLan,
    readonly agents: NetworkAgents,
  ) {}

  /** Makes the nodes, the objects of an installation, and starts the controllers. */
  static async start(
    plan: NetworkClusterPlan,
    lab: NetworkLab,
    controlPlane: ControlPlane,
  ): Promise<NetworkCluster> {
    const client = KubeClient.fromKubeconfig(controlPlane.kubeconfig, { userAgent: "network-lab" });
    const lan = await NetworkLan.open(plan, lab);
    const agents = await NetworkAgents.open(plan.id, client, lan, controlPlane);
    const cluster = new NetworkCluster(plan, controlPlane, client, lan, agents);
    await installDefinitions(client);
    await createInstallation(client, plan);
    await installRoles(client, plan.liqoNamespace, { networking: true });
    await cluster.startControllers();
    return cluster;
  }

  /** What stands between its machines and other clusters. */
  get router(): LabHost {
    return this.lan.router;
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
    const { host, address } = await this.lan.addPod(node, name);
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
    await this.lan.removePod(pod);
  }

  /** The pod of a gateway, which plays the part of the one that its Deployment would make. */
  async gatewayPod(peer: string, node: string, name: string, active = true): Promise<LabPod> {
    const namespace = `liqo-tenant-${peer}`;
    return await this.pod(
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
    return readFileSync(join(await this.agents.mountKeys(peer), "publicKey")).toString("base64");
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

  async stop(): Promise<void> {
    await this.context?.end();
    this.client.close();
    this.agents.close();
  }

  /** The controllers end, and others begin. */
  async restartControllers(): Promise<void> {
    await this.context?.end();
    await this.startControllers();
  }

  /** One more node, without its agent. */
  async addNode(plan: NodePlan): Promise<void> {
    await this.lan.addNode(plan);
    await createNode(this.client, plan);
  }

  /** The machine and its object go; pods on it have to be removed before. */
  async removeNode(name: string): Promise<void> {
    await this.lan.removeNode(name);
    await this.client.delete(Node, { name });
  }

  private async startControllers(): Promise<void> {
    this.context = testContext(this.controlPlane.kubeconfig, "controllers");
    const { liqoNamespace } = this.plan;
    const { global } = options;
    await startIpam(this.context, { liqoNamespace, pools: DEFAULT_POOLS, syncIntervalMs: 0, global });
    await startNetworking(this.context, { ...options, liqoNamespace });
  }
}
