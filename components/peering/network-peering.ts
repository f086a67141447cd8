import * as pulumi from "@pulumi/pulumi";

import { networkLinkSchema, networkStructureSchema } from "../../runtime/plan/networking/peering";
import { peeringNeedsSchema } from "../../runtime/plan/topology";
import { argument, type Checks, checkedArguments, installedClusterShape, shape } from "../core/arguments";
import { type ClusterArgs, connected, inState, type PeeringClusterArgs } from "../core/cluster";
import { ExistingObjects } from "../core/existing-objects";
import type { ClusterResourceOptions } from "../core/kubernetes-object";
import { connectPair } from "../core/program-run";
import { after, timeouts } from "../core/waiting";
import { installedSides } from "../installation/installed-clusters";
import { NetworkEnd } from "./network-end";
import { sidesOf, tenantNamespaces } from "./peering-sides";

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

export const networkPeeringShape = shape<NetworkPeeringArgs>({
  consumer: installedClusterShape,
  provider: installedClusterShape,
  createTenantNamespaces: argument.flag,
  server: argument.text,
  link: argument.later,
  timeoutSeconds: argument.seconds,
});

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
      .apply((value) =>
        checkedArguments(networkLinkSchema satisfies Checks<NetworkLinkArgs>, subject, value),
      );
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
      consumer: new NetworkEnd("consumer", consumer, {
        name,
        parent: this,
        timeoutSeconds,
        end: sides.apply((both) => ({ side: both.consumer, peer: both.provider.clusterId })),
        options: optionsFor(consumer),
        gateway: server === "consumer" ? "GatewayServer" : "GatewayClient",
        namespaces,
      }),
      provider: new NetworkEnd("provider", provider, {
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
