/** Milan, which runs this runtime with webhooks, quotas and network, and turin, which runs nothing: whatever upstream would do there, the tests do. */
import type { ControlPlane } from "../../../provider/local-cluster/control-plane";
import { Network } from "../../../runtime/api";
import { buildKubeconfig } from "../../../runtime/identity";
import { HostRuntime } from "../host-runtime";
import { installDefinitions } from "../install-definitions";
import { until } from "../until";
import { withControlPlanes } from "../with-control-planes";
import { GoClient } from "./go-client";
import { at } from "./liqoctl";

/** A step of a life: who takes it, what it is, and how it goes. */
export type Step = readonly [who: string, does: string, step: () => Promise<void>];

/** For a mocha suite. Call it inside `describe`, and use it inside hooks and tests. */
export function withUpstreamPeer(): UpstreamClusters {
  // Before the control planes go.
  after(() => clusters.end());
  const clusters = new UpstreamClusters(
    withControlPlanes({
      milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
      turin: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    }),
  );
  before(() => clusters.start());
  return clusters;
}

export class UpstreamClusters {
  /** Of milan. */
  admin!: GoClient;
  /** Administrator of turin, and whoever may write there. */
  turin!: GoClient;
  private runtime: HostRuntime | undefined;
  private readonly others: GoClient[] = [];

  constructor(readonly controlPlane: (name: "milan" | "turin") => ControlPlane) {}

  async start(): Promise<void> {
    const [cluster, other] = [this.controlPlane("milan"), this.controlPlane("turin")];
    this.admin = GoClient.of("milan's administrator", cluster.kubeconfig);
    this.turin = GoClient.of("turin's administrator", other.kubeconfig);
    const networking = { podCidrs: ["10.72.0.0/16"], serviceCidr: "10.98.0.0/16" };
    const settings = { apiServer: { address: cluster.url }, networking, proxy: true };
    const options = { cluster, clusterId: "milan", namespace: "liqo-system", settings };
    [this.runtime] = await Promise.all([HostRuntime.start(options), installDefinitions(this.turin.client)]);
    // Processes are ready before they have done their first work, and upstream's liqoctl takes an installation for complete.
    await until("milan's networks have their ranges", async () => {
      const { client } = this.admin;
      const own = await client.list(Network, { namespace: options.namespace });
      return own.length > 0 && own.every(({ status }) => status?.cidr !== undefined);
    });
  }

  /** Whoever has credentials that milan gave. */
  withCredentials(who: string, authParams: unknown, privateKey: string): GoClient {
    const bytes = (field: string) => Buffer.from(String(at(authParams, field)), "base64");
    const kubeconfig = buildKubeconfig({
      providerClusterId: "milan",
      identityName: who,
      server: String(at(authParams, "apiServer")),
      ca: bytes("ca"),
      certificate: bytes("signedCRT"),
      privateKey,
    });
    return this.closing(GoClient.of(who, kubeconfig));
  }

  closing(client: GoClient): GoClient {
    this.others.push(client);
    return client;
  }

  async end(): Promise<void> {
    const { admin, turin }: Partial<UpstreamClusters> = this;
    for (const client of [admin, turin, ...this.others]) client?.close();
    await this.runtime?.stop();
  }
}
