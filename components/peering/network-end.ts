import * as pulumi from "@pulumi/pulumi";

import { ClusterNetworks } from "../../provider/cluster-networks";
import { GatewayRead } from "../../provider/gateway-read";
import { NetworkConnection } from "../../provider/network-connection";
import { WaitFor } from "../../provider/wait-for";
import { Name } from "../../runtime/api/keys";
import type { Manifest, ManifestMeta } from "../../runtime/plan/manifest";
import {
  configuration,
  gatewayClient,
  gatewayServer,
  type LinkEnd,
  type NetworkLink,
  publicKey,
} from "../../runtime/plan/networking/peering";
import type { ClusterArgs } from "../core/cluster";
import {
  type ClusterResourceOptions,
  KubernetesObject,
  namespaceOf,
  planned,
} from "../core/kubernetes-object";
import { digestOf, specDigest, withWait } from "../core/waiting";
import { advertisedBy } from "../installation/installed-clusters";

interface EndParts {
  /** Of the component. */
  name: string;
  parent: pulumi.Resource;
  timeoutSeconds: number;
  end: pulumi.Output<LinkEnd>;
  options: ClusterResourceOptions;
  /** Its end of the tunnel. */
  gateway: "GatewayServer" | "GatewayClient";
  /** Those that the component makes. */
  namespaces: pulumi.Resource[];
}

type Specified = Manifest & { spec?: object };

/** One of the two clusters, with what the peering puts there. */
export class NetworkEnd {
  private readonly liqoNamespace: pulumi.Output<string>;
  private readonly advertised: ReturnType<typeof advertisedBy>;
  private readonly networks: ClusterNetworks;

  constructor(
    private readonly role: "consumer" | "provider",
    private readonly cluster: ClusterArgs,
    private readonly parts: EndParts,
  ) {
    this.liqoNamespace = pulumi.output(cluster.liqoNamespace ?? Name.liqoNamespace);
    this.advertised = advertisedBy(cluster.clusterId);
    this.networks = new ClusterNetworks(
      `${parts.name}-${role}-networks`,
      {
        kubeconfig: cluster.kubeconfig,
        liqoNamespace: this.liqoNamespace,
        gateway: parts.gateway,
        installedPodCidrs: this.advertised.apply((advertised) => advertised?.podCidrs),
        triggers: this.advertised.apply((advertised) => advertised && { networks: advertised.networks }),
        timeoutSeconds: parts.timeoutSeconds,
      },
      { parent: parts.parent },
    );
  }

  get namespace(): pulumi.Output<string> {
    return this.parts.end.apply(({ side }) => side.tenantNamespace);
  }

  /** Finds places for the other's networks. Ready once there is one for each that it has now. */
  place(other: NetworkEnd): pulumi.Resource {
    const plan = pulumi
      .all([this.parts.end, other.networks.podCidrs, other.networks.externalCidr])
      .apply(([end, podCidrs, externalCidr]) => configuration(end, { podCidrs, externalCidr }));
    const nothing = { podCidrs: [], externalCidr: "" };
    const metadata = this.parts.end.apply((end) => configuration(end, nothing).metadata);
    const whole = { metadata: withWait(metadata, "condition=NetworkCIDRsConfigured"), plan };
    const object = this.object("configuration", whole, "Configuration");
    const { name, parent, timeoutSeconds } = this.parts;
    // The annotation's wait takes an answer to an older spec for one.
    return new WaitFor(
      `${name}-${this.role}-configured`,
      {
        kubeconfig: this.cluster.kubeconfig,
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "Configuration",
        namespace: namespaceOf(object),
        name: object.metadata.name,
        condition: { type: "NetworkCIDRsConfigured" },
        triggers: { spec: specDigest(plan) },
        timeoutSeconds,
      },
      { parent },
    );
  }

  serve(link: pulumi.Output<NetworkLink>, placed: pulumi.Resource[]): GatewayRead {
    const plan = pulumi
      .all([this.parts.end, link, this.liqoNamespace])
      .apply(([end, settings, namespace]) => gatewayServer(end, settings, namespace));
    const metadata = plan.apply((gateway) => gateway.metadata);
    const gateway = this.object("gateway-server", { metadata, plan }, "GatewayServer", placed);
    const service = this.advertised.apply((advertised) => advertised?.gatewayService ?? "");
    return this.read("GatewayServer", gateway, { spec: specDigest(plan), service });
  }

  call(link: pulumi.Output<NetworkLink>, placed: pulumi.Resource[], server: GatewayRead): GatewayRead {
    const plan = pulumi
      .all([this.parts.end, link, this.liqoNamespace, server.addresses, server.port])
      .apply(([end, settings, namespace, addresses, port]) =>
        gatewayClient(end, settings, namespace, { addresses, port }),
      );
    const nothing = { addresses: [], port: 0 };
    const metadata = pulumi
      .all([this.parts.end, link, this.liqoNamespace])
      .apply(([end, settings, namespace]) => gatewayClient(end, settings, namespace, nothing).metadata);
    const gateway = this.object("gateway-client", { metadata, plan }, "GatewayClient", placed);
    return this.read("GatewayClient", gateway, { spec: specDigest(plan) });
  }

  /** Accepts the other's key. */
  accept(other: GatewayRead): KubernetesObject {
    const plan = pulumi.all([this.parts.end, other.publicKey]).apply(([end, key]) => publicKey(end, key));
    const metadata = this.parts.end.apply((end) => publicKey(end, "").metadata);
    return this.object("public-key", { metadata, plan }, "PublicKey");
  }

  /** The tunnel, once it is up; waited for again when it is to be another one, or one of the gateways has another key or address. */
  connection(
    keys: KubernetesObject[],
    { link, reads }: { link: pulumi.Output<NetworkLink>; reads: GatewayRead[] },
  ): NetworkConnection {
    const { name, parent, end, timeoutSeconds } = this.parts;
    return new NetworkConnection(
      `${name}-${this.role}-connection`,
      {
        kubeconfig: this.cluster.kubeconfig,
        peerClusterId: end.apply(({ peer }) => peer),
        triggers: {
          keys: pulumi.all(reads.map((gateway) => gateway.publicKey)).apply((all) => all.join(" ")),
          addresses: pulumi
            .all(reads.map(({ addresses, port }) => pulumi.all([addresses, port])))
            .apply((all) => all.flat(2).join(" ")),
          link: digestOf(link),
        },
        timeoutSeconds,
      },
      { parent, dependsOn: keys },
    );
  }

  private read(
    kind: "GatewayServer" | "GatewayClient",
    gateway: KubernetesObject,
    triggers: Record<string, pulumi.Output<string>>,
  ): GatewayRead {
    const { name, parent, timeoutSeconds } = this.parts;
    return new GatewayRead(
      `${name}-${this.role}-gateway`,
      {
        kubeconfig: this.cluster.kubeconfig,
        kind,
        namespace: namespaceOf(gateway),
        name: gateway.metadata.name,
        triggers,
        timeoutSeconds,
      },
      { parent },
    );
  }

  /**
   * @param whole with metadata apart, made of what is known beforehand: where a preview does not know what the other cluster will tell, it still is
   * the same object
   */
  private object(
    key: string,
    { metadata, plan }: { metadata: pulumi.Output<ManifestMeta>; plan: pulumi.Output<Specified> },
    kind: string,
    dependsOn: pulumi.Resource[] = [],
  ): KubernetesObject {
    const { name, options, namespaces } = this.parts;
    return new KubernetesObject(
      `${name}-${this.role}-${key}`,
      { ...planned("networking.liqo.io/v1beta1", kind, plan, "spec"), metadata },
      { ...options, dependsOn: [...namespaces, ...dependsOn] },
    );
  }
}
