import * as pulumi from "@pulumi/pulumi";

import { ClusterNetworks } from "../provider/cluster-networks";
import { GatewayRead } from "../provider/gateway-read";
import { NetworkConnection } from "../provider/network-connection";
import { WaitFor } from "../provider/wait-for";
import { Name } from "../runtime/api/keys";
import type { Manifest, ManifestMeta } from "../runtime/plan/manifest";
import {
  configuration,
  gatewayClient,
  gatewayServer,
  type LinkEnd,
  type NetworkLink,
  networkLinkSchema,
  networkStructureSchema,
  publicKey,
} from "../runtime/plan/networking/peering";
import { peeringNeedsSchema } from "../runtime/plan/peering-needs";
import { networkPeeringShape } from "./argument-shapes";
import { checkedArguments } from "./checked-arguments";
import { type ClusterArgs, connected, inState } from "./cluster";
import { connectPair } from "./connected-pairs";
import { ExistingObjects } from "./existing-objects";
import { installedSides, toldBy } from "./installed-clusters";
import { type ClusterResourceOptions, KubernetesObject, planned } from "./kubernetes-object";
import { namespaceOf, type PeeringClusterArgs, sidesOf, tenantNamespaces } from "./peering-sides";
import { digestOf, specDigest } from "./triggers";
import { after, timeouts, withWait } from "./waiting";

export interface NetworkPeeringArgs {
  /** The cluster that offloads work. */
  consumer: PeeringClusterArgs;
  /** The cluster that lends its resources. */
  provider: PeeringClusterArgs;
  /** Whether the tenant namespaces are made, and removed with the peering; true by default. */
  createTenantNamespaces?: boolean;
  /** Which cluster's gateway waits to be called, `provider` or `consumer`: one that the other can reach; `provider` by default. */
  server?: string;
  /** How the tunnel between them is. */
  link?: pulumi.Input<NetworkLinkArgs>;
  /** Longest time for each step, in seconds; 120 by default. */
  timeoutSeconds?: number;
}

export interface NetworkLinkArgs {
  /**
   * How the server is reached: `LoadBalancer`, `NodePort`, or `ClusterIP` where the client is given an address by hand; `LoadBalancer` by
   * default.
   */
  serviceType?: pulumi.Input<string>;
  /** UDP port of the server; 51840 by default. */
  port?: pulumi.Input<number>;
  /** Node port of the server's Service; Kubernetes draws one by default. */
  nodePort?: pulumi.Input<number>;
  /** Address that the cloud's load balancer is to have. */
  loadBalancerIp?: pulumi.Input<string>;
  /** Annotations of the server's Service. */
  serviceAnnotations?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Where the client reaches the server, in place of what the server's cluster knows: a forwarded port, a name. */
  address?: pulumi.Input<string>;
  /** Port to `address`; the server's by default. */
  addressPort?: pulumi.Input<number>;
  /** Bytes, the same on both ends; 1340 by default. */
  mtu?: pulumi.Input<number>;
  /** What the server is made from; the installation's template by default. */
  serverTemplate?: pulumi.Input<GatewayTemplateArgs>;
  /** What the client is made from; the installation's template by default. */
  clientTemplate?: pulumi.Input<GatewayTemplateArgs>;
}

export interface GatewayTemplateArgs {
  /** Name of the template. */
  name: pulumi.Input<string>;
  /** Its namespace; that of the control plane by default. */
  namespace?: pulumi.Input<string>;
}

/**
 * Two clusters whose pods and Services reach each other, whatever their networks: each finds places for the other's networks, and a WireGuard
 * tunnel connects them.
 *
 * Needs installations with networking on both sides.
 */
export class NetworkPeering extends pulumi.ComponentResource {
  /** Namespace at the consumer for everything about the provider. Whatever takes it waits for the connection. */
  public readonly consumerTenantNamespace: pulumi.Output<string>;
  /** Namespace at the provider for everything about the consumer. Whatever takes it waits for the connection. */
  public readonly providerTenantNamespace: pulumi.Output<string>;

  constructor(name: string, args: NetworkPeeringArgs, opts?: pulumi.ComponentResourceOptions) {
    checkedArguments(networkPeeringShape, `NetworkPeering "${name}"`, args);
    super(
      "pulumi-liqo:index:NetworkPeering",
      name,
      { ...args, consumer: inState(args.consumer), provider: inState(args.provider) },
      opts,
    );
    const { createTenantNamespaces = true, timeoutSeconds = 120 } = args;
    const subject = `NetworkPeering "${name}"`;
    checkedArguments(peeringNeedsSchema, subject, {
      networking: true,
      networkingOptional: false,
      inBand: false,
      sides: installedSides(args),
    });
    const { server } = checkedArguments(networkStructureSchema, subject, { server: args.server });
    const link = pulumi
      .output(args.link ?? {})
      .apply((value) => checkedArguments(networkLinkSchema, subject, value));
    const consumer = connected(`${name}-consumer`, args.consumer, this);
    const provider = connected(`${name}-provider`, args.provider, this);
    const sides = sidesOf(subject, args).apply((both) => {
      connectPair(subject, [both.consumer.clusterId, both.provider.clusterId]);
      return both;
    });
    const optionsFor = (
      cluster: ClusterArgs & { provider: pulumi.ProviderResource },
    ): ClusterResourceOptions => ({
      parent: this,
      provider: cluster.provider,
      existing: new ExistingObjects(cluster),
      ...timeouts(timeoutSeconds),
    });
    const namespaces = createTenantNamespaces
      ? Object.values(
          tenantNamespaces({ subject, name, timeoutSeconds }, sides, { consumer, provider }, this),
        )
      : [];
    const ends = {
      consumer: new End("consumer", consumer, {
        name,
        parent: this,
        timeoutSeconds,
        end: sides.apply((both) => ({ side: both.consumer, peer: both.provider.clusterId })),
        options: optionsFor(consumer),
        gateway: server === "consumer" ? "GatewayServer" : "GatewayClient",
        namespaces,
      }),
      provider: new End("provider", provider, {
        name,
        parent: this,
        timeoutSeconds,
        end: sides.apply((both) => ({ side: both.provider, peer: both.consumer.clusterId })),
        options: optionsFor(provider),
        gateway: server === "provider" ? "GatewayServer" : "GatewayClient",
        namespaces,
      }),
    };

    const placed = [ends.consumer.place(ends.provider), ends.provider.place(ends.consumer)];
    const [listening, calling] =
      server === "provider" ? [ends.provider, ends.consumer] : [ends.consumer, ends.provider];
    const serverRead = listening.serve(link, placed);
    const clientRead = calling.call(link, placed, serverRead);
    const keys = [listening.accept(clientRead), calling.accept(serverRead)];
    const gateways = { link, reads: [serverRead, clientRead] };
    const atConsumer = ends.consumer.connection(keys, gateways);
    const atProvider = ends.provider.connection(keys, gateways);

    const connections = [atConsumer, atProvider];
    this.consumerTenantNamespace = after(connections, ends.consumer.namespace);
    this.providerTenantNamespace = after(connections, ends.provider.namespace);
    this.registerOutputs({
      consumerTenantNamespace: this.consumerTenantNamespace,
      providerTenantNamespace: this.providerTenantNamespace,
    });
  }
}

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
class End {
  private readonly liqoNamespace: pulumi.Output<string>;
  private readonly told: ReturnType<typeof toldBy>;
  private readonly networks: ClusterNetworks;

  constructor(
    private readonly role: "consumer" | "provider",
    private readonly cluster: ClusterArgs,
    private readonly parts: EndParts,
  ) {
    this.liqoNamespace = pulumi.output(cluster.liqoNamespace ?? Name.liqoNamespace);
    this.told = toldBy(cluster.clusterId);
    this.networks = new ClusterNetworks(
      `${parts.name}-${role}-networks`,
      {
        kubeconfig: cluster.kubeconfig,
        liqoNamespace: this.liqoNamespace,
        gateway: parts.gateway,
        installedPodCidrs: this.told.apply((told) => told?.podCidrs),
        triggers: this.told.apply((told) => told && { networks: told.networks }),
        timeoutSeconds: parts.timeoutSeconds,
      },
      { parent: parts.parent },
    );
  }

  get namespace(): pulumi.Output<string> {
    return this.parts.end.apply(({ side }) => side.tenantNamespace);
  }

  /** Finds places for the other's networks. Ready once there is one for each that it has now. */
  place(other: End): pulumi.Resource {
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
    const service = this.told.apply((told) => told?.gatewayService ?? "");
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
