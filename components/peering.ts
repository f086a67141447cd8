import * as pulumi from "@pulumi/pulumi";

import { peeringShape } from "./argument-shapes";
import { checkedArguments } from "./checked-arguments";
import { AuthenticationPeering } from "./authentication-peering";
import { connected, inState } from "./cluster";
import { type NetworkLinkArgs, NetworkPeering } from "./network-peering";
import { type PeeringClusterArgs, sidesOf, tenantNamespaces } from "./peering-sides";
import { ResourceSlice } from "./resource-slice";
import { timeouts } from "./waiting";

export interface PeeringArgs {
  /** The cluster that offloads work. */
  consumer: PeeringClusterArgs;
  /** The cluster that lends its resources. */
  provider: PeeringClusterArgs;
  /** Whether the provider may offload work to the consumer as well; false by default. */
  bidirectional?: boolean;
  /** Amounts that the consumer asks for, such as `{ cpu: "8", memory: "16Gi" }`; the provider's defaults for the rest. */
  resources?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Amounts that the provider asks for in return, when the peering is bidirectional. */
  reverseResources?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Class that decides on what is asked for; `default` by default. */
  resourceSliceClass?: pulumi.Input<string>;
  /** Whether resources are asked for; true by default. */
  createResourceSlice?: boolean;
  /** Whether a virtual node is made of what is granted; true by default. */
  createVirtualNode?: boolean;
  /**
   * How pods and Services of the two clusters reach each other; `{}` takes the defaults. Without it the clusters keep their own networks. Needs
   * installations with networking on both sides.
   */
  networking?: PeeringNetworkArgs;
  /** Longest time for each step, in seconds; 120 by default. */
  timeoutSeconds?: number;
}

export interface PeeringNetworkArgs {
  /** Which cluster's gateway waits to be called, `provider` or `consumer`: one that the other can reach; `provider` by default. */
  server?: string;
  /** How the tunnel between them is. */
  link?: pulumi.Input<NetworkLinkArgs>;
}

/**
 * A consumer that may use a provider's resources, as one more node: the handshake, the request for resources, and the virtual node.
 *
 * Without `networking` the clusters keep their own networks: pods on the virtual node reach each other and their API server, and pods of the two
 * clusters reach each other where the networks do.
 */
export class Peering extends pulumi.ComponentResource {
  /** The consumer's virtual node, once it is Ready; empty when there is to be none. */
  public readonly nodeName: pulumi.Output<string>;
  /** The provider's virtual node for the consumer's resources; empty unless the peering is bidirectional. */
  public readonly reverseNodeName: pulumi.Output<string>;
  /** Namespace at the consumer for everything about the provider. */
  public readonly consumerTenantNamespace: pulumi.Output<string>;
  /** Namespace at the provider for everything about the consumer. */
  public readonly providerTenantNamespace: pulumi.Output<string>;

  constructor(name: string, args: PeeringArgs, opts?: pulumi.ComponentResourceOptions) {
    checkedArguments(peeringShape, `Peering "${name}"`, args);
    super(
      "pulumi-liqo:index:Peering",
      name,
      { ...args, consumer: inState(args.consumer), provider: inState(args.provider) },
      opts,
    );
    const { bidirectional = false, timeoutSeconds = 120 } = args;
    const consumer = connected(`${name}-consumer`, args.consumer, this);
    const provider = connected(`${name}-provider`, args.provider, this);
    const namespaces = tenantNamespaces(
      name,
      sidesOf(`Peering "${name}"`, args),
      { parent: this, provider: consumer.provider, ...timeouts(timeoutSeconds) },
      { parent: this, provider: provider.provider, ...timeouts(timeoutSeconds) },
    );
    const ends = {
      consumer: { ...consumer, tenantNamespace: namespaces.consumer.metadata.name },
      provider: { ...provider, tenantNamespace: namespaces.provider.metadata.name },
    };

    const network = connect(name, ends, args, this);
    const forth = lend(name, ends, args, args.resources, this);
    const back = bidirectional
      ? lend(
          `${name}-reverse`,
          { consumer: ends.provider, provider: ends.consumer },
          args,
          args.reverseResources,
          this,
        )
      : undefined;
    const whenConnected = (node: pulumi.Output<string>) =>
      pulumi.all([network?.consumerTenantNamespace, node]).apply(([, nodeName]) => nodeName);
    this.nodeName = whenConnected(forth.nodeName);
    this.reverseNodeName = whenConnected(back?.nodeName ?? pulumi.output(""));
    this.consumerTenantNamespace = forth.authentication.consumerTenantNamespace;
    this.providerTenantNamespace = forth.authentication.providerTenantNamespace;
    this.registerOutputs({
      nodeName: this.nodeName,
      reverseNodeName: this.reverseNodeName,
      consumerTenantNamespace: this.consumerTenantNamespace,
      providerTenantNamespace: this.providerTenantNamespace,
    });
  }
}

/** The networks of both; undefined where they are not to be connected. */
function connect(
  name: string,
  ends: { consumer: PeeringClusterArgs; provider: PeeringClusterArgs },
  { networking, timeoutSeconds = 120 }: PeeringArgs,
  parent: pulumi.Resource,
): NetworkPeering | undefined {
  if (networking === undefined) return undefined;
  const args = { ...ends, ...networking, createTenantNamespaces: false, timeoutSeconds };
  return new NetworkPeering(name, args, { parent });
}

/** One direction of a peering: what lets the consumer use the provider's resources. */
function lend(
  name: string,
  { consumer, provider }: { consumer: PeeringClusterArgs; provider: PeeringClusterArgs },
  args: PeeringArgs,
  resources: PeeringArgs["resources"],
  parent: pulumi.Resource,
): { authentication: AuthenticationPeering; nodeName: pulumi.Output<string> } {
  const { createResourceSlice = true, createVirtualNode = true, timeoutSeconds = 120 } = args;
  const authentication = new AuthenticationPeering(
    name,
    { consumer, provider, createTenantNamespaces: false, timeoutSeconds },
    { parent },
  );
  if (!createResourceSlice) return { authentication, nodeName: pulumi.output("") };
  const slice = new ResourceSlice(
    name,
    {
      consumer,
      providerClusterId: provider.clusterId,
      tenantNamespace: authentication.consumerTenantNamespace,
      createVirtualNode,
      timeoutSeconds,
      ...(args.resourceSliceClass === undefined ? {} : { class: args.resourceSliceClass }),
      ...(resources === undefined ? {} : { resources }),
    },
    { parent },
  );
  return { authentication, nodeName: slice.nodeName };
}
