import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { ProxyRead } from "../../provider/proxy-read";
import { networkLinkSchema, networkStructureSchema } from "../../runtime/plan/networking/peering";
import { peeringNeedsSchema } from "../../runtime/plan/topology";

import { checkedArguments } from "../core/arguments";

import { argument, installedClusterShape, shape, useless } from "../core/arguments";
import { connected, inState, type PeeringClusterArgs } from "../core/cluster";
import { installedSides, advertisedBy } from "../installation/installed-clusters";
import { ResourceSlice } from "../offloading/resource-slice";
import { AuthenticationPeering } from "./authentication-peering";
import { type NetworkLinkArgs, NetworkPeering } from "./network-peering";
import { sidesOf, tenantNamespaces } from "./peering-sides";

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
   * How pods and Services of the two clusters reach each other; by default through a gateway at the provider, behind a load balancer. Needs
   * installations with networking on both sides; `{ enabled: false }` leaves the clusters their own networks.
   */
  networking?: PeeringNetworkArgs;
  /**
   * Whether the consumer reaches the provider's API server through the tunnel, where it cannot reach it otherwise, and, in a bidirectional
   * peering, the provider the consumer's; false by default. Needs installations with `proxy: true` where an API server is to be reached.
   */
  inBand?: boolean;
  /** Longest time for each step, in seconds; 120 by default. */
  timeoutSeconds?: number;
}

export interface PeeringNetworkArgs {
  /** Whether the networks of the two are connected; true by default. */
  enabled?: boolean;
  /** Which cluster's gateway waits to be called, `provider` or `consumer`: one that the other can reach; `provider` by default. */
  server?: string;
  /** How the tunnel between them is. */
  link?: pulumi.Input<NetworkLinkArgs>;
}

export const peeringNetworkShape = shape<PeeringNetworkArgs>({
  enabled: argument.flag,
  server: argument.text,
  link: argument.later,
}).superRefine((args, context) => {
  if (args.enabled !== false) return;
  for (const key of ["server", "link"] as const)
    if (args[key] !== undefined) useless(context, key, 'take out "enabled: false"');
});

export const peeringShape = shape<PeeringArgs>({
  consumer: installedClusterShape,
  provider: installedClusterShape,
  bidirectional: argument.flag,
  resources: argument.later,
  reverseResources: argument.later,
  resourceSliceClass: argument.later,
  createResourceSlice: argument.flag,
  createVirtualNode: argument.flag,
  networking: peeringNetworkShape.optional(),
  inBand: argument.flag,
  timeoutSeconds: argument.seconds,
}).superRefine((args, context) => {
  if (args.bidirectional !== true && args.reverseResources !== undefined)
    useless(context, "reverseResources", 'set "bidirectional: true"');
  if (args.createResourceSlice === false)
    for (const key of ["resources", "reverseResources", "resourceSliceClass"] as const)
      if (args[key] !== undefined) useless(context, key, 'take out "createResourceSlice: false"');
});

/**
 * A consumer that may use a provider's resources, as one more node: the handshake, the request for resources, and the virtual node.
 *
 * Their networks are connected, so that pods and Services of the two reach each other. Without that the clusters keep their own networks: pods on
 * the virtual node reach each other and their API server, and pods of the two clusters reach each other where the networks do.
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
    checkInstallations(`Peering "${name}"`, args);
    checkedArguments(structureOfPeering, `Peering "${name}"`, {
      networking: { server: args.networking?.server },
    });
    const consumer = connected(`${name}-consumer`, args.consumer, this);
    const provider = connected(`${name}-provider`, args.provider, this);
    const subject = `Peering "${name}"`;
    const namespaces = tenantNamespaces(
      { subject, name, timeoutSeconds },
      sidesOf(subject, args),
      { consumer, provider },
      this,
    );
    const ends = {
      consumer: { ...consumer, tenantNamespace: namespaces.consumer.metadata.name },
      provider: { ...provider, tenantNamespace: namespaces.provider.metadata.name },
    };

    const network = connect(name, ends, args, this);
    const forth = lend(name, ends, network?.consumerTenantNamespace, args, args.resources, this);
    const turned = { consumer: ends.provider, provider: ends.consumer };
    const back = bidirectional
      ? lend(`${name}-reverse`, turned, network?.providerTenantNamespace, args, args.reverseResources, this)
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

/** Holds a peering to what its installations have, as far as they are of this program. */
function checkInstallations(subject: string, args: PeeringArgs): void {
  const { networking, inBand = false, bidirectional = false } = args;
  const sides = installedSides(args).map((side) => ({
    ...side,
    proxied: inBand && (side.role === "provider" || bidirectional),
  }));
  checkedArguments(peeringNeedsSchema, subject, {
    networking: networking?.enabled ?? true,
    networkingOptional: true,
    inBand,
    sides,
  });
}

interface Ends {
  consumer: PeeringClusterArgs;
  provider: PeeringClusterArgs;
}

/** The networks of both; undefined where they are not to be connected. */
function connect(
  name: string,
  ends: Ends,
  { networking = {}, timeoutSeconds = 120 }: PeeringArgs,
  parent: pulumi.Resource,
): NetworkPeering | undefined {
  const { enabled = true, ...how } = networking;
  if (!enabled) return undefined;
  const args = {
    ...ends,
    ...how,
    ...(how.link !== undefined && { link: checkedLink(`Peering "${name}"`, how.link) }),
    createTenantNamespaces: false,
    timeoutSeconds,
  };
  return new NetworkPeering(name, args, { parent });
}

const structureOfPeering = z.object({ networking: networkStructureSchema });
const linkOfPeering = z.object({ networking: z.object({ link: networkLinkSchema }) });

/** The link as it was given. Its faults are told by the names that it has in the peering's arguments, not in those of the NetworkPeering. */
function checkedLink(
  subject: string,
  given: pulumi.Input<NetworkLinkArgs>,
): pulumi.Output<pulumi.Unwrap<NetworkLinkArgs>> {
  return pulumi.output(given).apply((link) => {
    checkedArguments(linkOfPeering, subject, { networking: { link } });
    return link;
  });
}

/**
 * One direction of a peering: what lets the consumer use the provider's resources.
 *
 * @param connected namespace at the consumer, once the networks are connected
 */
function lend(
  name: string,
  { consumer, provider }: Ends,
  connected: pulumi.Output<string> | undefined,
  args: PeeringArgs,
  resources: PeeringArgs["resources"],
  parent: pulumi.Resource,
): { authentication: AuthenticationPeering; nodeName: pulumi.Output<string> } {
  const { createResourceSlice = true, createVirtualNode = true, timeoutSeconds = 120 } = args;
  const proxy =
    args.inBand === true && connected !== undefined
      ? new ProxyRead(
          `${name}-proxy`,
          {
            kubeconfig: provider.kubeconfig,
            ...(provider.liqoNamespace !== undefined && { liqoNamespace: provider.liqoNamespace }),
            consumerKubeconfig: consumer.kubeconfig,
            tenantNamespace: connected,
            providerClusterId: provider.clusterId,
            triggers: advertisedBy(provider.clusterId).apply(
              (advertised) => advertised && { networks: advertised.networks },
            ),
            timeoutSeconds,
          },
          { parent },
        )
      : undefined;
  const authentication = new AuthenticationPeering(
    name,
    {
      consumer,
      provider,
      createTenantNamespaces: false,
      timeoutSeconds,
      ...(proxy !== undefined && { proxyUrl: proxy.url }),
    },
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
