/**
 * What nodes and a cloud do for gateways, on control planes without either: load balancers have addresses, pods run, and tunnels pass packets. Whether the
 * two ends fit together is not played; tests look at that.
 */
import {
  Connection,
  gatewayObjectName,
  Label,
  Pod,
  Service,
  WgGatewayClient,
  WgGatewayServer,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";

const EVERY_MS = 200;

export class GatewayPlayer {
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  /** @param address of every load balancer */
  constructor(
    private readonly client: KubeClient,
    private readonly address: string,
  ) {
    this.later();
  }

  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
  }

  private later(): void {
    if (this.ended) return;
    this.timer = setTimeout(() => {
      // What is being installed or taken away is not there: it is looked for again.
      this.play()
        .catch(() => undefined)
        .finally(() => this.later());
    }, EVERY_MS);
  }

  private async play(): Promise<void> {
    const gateways = [
      ...(await this.client.list(WgGatewayServer)),
      ...(await this.client.list(WgGatewayClient)),
    ];
    await this.giveAddresses();
    for (const gateway of gateways) {
      const start = await this.runPods(gateway);
      if (start !== undefined) await this.connect(gateway, start);
    }
  }

  private async giveAddresses(): Promise<void> {
    for (const { metadata, spec, status } of await this.client.list(Service)) {
      if (spec?.type !== "LoadBalancer" || status?.loadBalancer?.ingress !== undefined) continue;
      const given = { loadBalancer: { ingress: [{ ip: spec.loadBalancerIP ?? this.address }] } };
      await this.client.patch(Service, metadata, { status: given }, { type: "merge", subresource: "status" });
    }
  }

  /** @returns when the gateway's pod began; undefined while there is none */
  private async runPods({ metadata }: WgGatewayServer | WgGatewayClient): Promise<string | undefined> {
    const labelSelector = `${Label.gatewayName}=${metadata.name}`;
    const pods = await this.client.list(Pod, { namespace: metadata.namespace ?? "", labelSelector });
    let start: string | undefined;
    for (const pod of pods) {
      if (pod.metadata.deletionTimestamp) continue;
      const began = pod.status?.startTime;
      start = began === undefined ? await this.run(pod) : String(began);
    }
    return start;
  }

  private async run(pod: Pod): Promise<string> {
    const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const status = {
      phase: "Running",
      startTime: now,
      podIP: "10.0.0.7",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: now }],
      containerStatuses: (pod.spec?.containers ?? []).map(({ name, image = "" }) => ({
        name,
        image,
        imageID: "",
        ready: true,
        restartCount: 0,
        state: { running: { startedAt: now } },
      })),
    };
    await this.client.patch(Pod, pod.metadata, { status }, { type: "merge", subresource: "status" });
    return now;
  }

  /** Says that packets pass, as a gateway does once in its life. */
  private async connect(gateway: WgGatewayServer | WgGatewayClient, start: string): Promise<void> {
    const { kind, metadata } = gateway;
    const { namespace = "", labels } = metadata;
    const name = gatewayObjectName(metadata.name);
    const object = await this.client.apply(
      Connection,
      {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "Connection",
        metadata: {
          name,
          namespace,
          labels: { [Label.remoteClusterID]: labels?.[Label.remoteClusterID] ?? "" },
        },
        spec: {
          type: kind === "WgGatewayServer" ? "Server" : "Client",
          gatewayRef: { apiVersion: gateway.apiVersion, kind, name: metadata.name, namespace },
        },
      },
      { fieldManager: "player", force: true },
    );
    const told = Date.parse(object.status?.latency?.timestamp ?? "");
    if (object.status?.value === "Connected" && told >= Date.parse(start)) return;
    const timestamp = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const status = { value: "Connected", latency: { value: "1ms", timestamp } };
    await this.client.patch(
      Connection,
      object.metadata,
      { status },
      { type: "merge", subresource: "status" },
    );
  }
}
