/** The agents of a network lab's cluster, in processes on its hosts: with the rights of their pods, and what a kubelet and a template would give them. */
import { mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import { GatewayClient, GatewayServer, Secret } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { accountKubeconfig } from "./account-kubeconfig";
import { LabAgent, type LabPod } from "./lab-agent";
import { LabApiRelay } from "./lab-api-relay";
import type { LabHost } from "./network-lab";
import type { NetworkLan } from "./network-lan";
import { until } from "./until";

export class NetworkAgents {
  private constructor(
    private readonly id: string,
    private readonly client: KubeClient,
    private readonly lan: NetworkLan,
    private readonly folder: string,
    private readonly relay: LabApiRelay,
    private readonly controlPlane: ControlPlane,
  ) {}

  static async open(
    id: string,
    client: KubeClient,
    lan: NetworkLan,
    controlPlane: ControlPlane,
  ): Promise<NetworkAgents> {
    await useToolsWireGuard();
    const folder = join(controlPlane.folder, "network-lab");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "kubeconfig"), controlPlane.kubeconfig, { mode: 0o600 });
    const relay = await LabApiRelay.open(controlPlane.url, join(folder, "api.sock"));
    return new NetworkAgents(id, client, lan, folder, relay, controlPlane);
  }

  async fabric(node: string, flags: string[] = []): Promise<LabAgent> {
    const { host } = this.lan.nodeOf(node);
    await this.relay.openTo(host);
    const kubeconfig = join(this.folder, "kubeconfig");
    return this.start(
      "fabric",
      host,
      [`--kubeconfig=${kubeconfig}`, `--nodename=${node}`, ...flags],
      `fabric-${node}`,
    );
  }

  /** The agent of a gateway, in the pod that was made for it, with the rights of the account that its pod runs as. */
  async gateway(
    peer: string,
    end: "server" | "client",
    pod: LabPod,
    flags: string[] = [],
  ): Promise<LabAgent> {
    const namespace = `liqo-tenant-${peer}`;
    const gateway = await until(`the gateway for ${peer} of ${this.id}`, () => this.gatewayFlags(end, peer));
    const keys = await this.mountKeys(peer);
    const kubeconfig = join(this.folder, `kubeconfig-${pod.name}`);
    const account = { name: peer, namespace };
    writeFileSync(kubeconfig, await accountKubeconfig(this.client, this.controlPlane, account), {
      mode: 0o600,
    });
    await this.relay.openTo(pod.host);
    return this.start(
      "gateway",
      pod.host,
      [
        `--kubeconfig=${kubeconfig}`,
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

  close(): void {
    this.relay.close();
  }

  /** Starts a component on a host of the lab, with its probes and metrics on ports of that host. */
  private start(component: "gateway" | "fabric", host: LabHost, flags: string[], log: string): LabAgent {
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
          "--metrics-address=127.0.0.1:8082",
          "--health-probe-address=127.0.0.1:8081",
          "--log-level=debug",
          ...flags,
        ],
        { log: openSync(logFile, "a") },
      );
    return new LabAgent(host, started, logFile);
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
}

/** Gateways find the wireguard-go that their image has, and not the one that may be installed here. */
async function useToolsWireGuard(): Promise<void> {
  const [folder = ""] = (await ensureTools(["wireguard-go"])).folders();
  const path = process.env["PATH"] ?? "";
  if (!path.startsWith(`${folder}:`)) process.env["PATH"] = `${folder}:${path}`;
}
