import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { fleetTopologySchema } from "../../runtime/plan/topology";

import { checkedArguments } from "../core/arguments";
import { type ClusterArgs, clusterProvider, inState } from "../core/cluster";
import { Installation } from "../installation/installation";
import type { ApiServerArgs, NetworkingArgs } from "../installation/installation-args";
import { Peering, type PeeringNetworkArgs } from "../peering/peering";

import { argument, clusterShape, shape } from "../core/arguments";

import { networkingShape } from "../installation/installation-args";
import { peeringNetworkShape } from "../peering/peering";

export interface FleetArgs {
  /** The clusters by their IDs. */
  clusters: Record<string, FleetClusterArgs>;
  /** The peerings by names of your choice. */
  peerings?: Record<string, FleetPeeringArgs>;
  /** Image of the runtime, for the clusters that name none of their own. */
  image: pulumi.Input<string>;
}

export interface FleetClusterArgs {
  /** Kubeconfig of an administrator, whole and self-contained. It is kept as a secret. */
  kubeconfig: pulumi.Input<string>;
  /** Namespace of the control plane; `liqo` by default. */
  namespace?: string;
  /** Image of the runtime on this cluster; the fleet's by default. */
  image?: pulumi.Input<string>;
  /** Labels of this cluster that consumers see on their virtual nodes. */
  labels?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** The cluster's pod CIDRs. */
  podCidrs?: pulumi.Input<pulumi.Input<string>[]>;
  /** Pods and Services of peers reach each other; without it, the cluster keeps its own network. */
  networking?: NetworkingArgs;
  /** How peers reach this cluster's API server, where the cluster itself cannot tell. */
  apiServer?: pulumi.Input<ApiServerArgs>;
}

export interface FleetPeeringArgs {
  /** ID of the cluster that offloads work. */
  consumer: string;
  /** ID of the cluster that lends its resources. */
  provider: string;
  /** Whether the provider may offload work to the consumer as well; false by default. */
  bidirectional?: boolean;
  /** Amounts that the consumer asks for; the provider's defaults for the rest. */
  resources?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Amounts that the provider asks for in return, when the peering is bidirectional. */
  reverseResources?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** How pods and Services of the two reach each other. Both clusters need `networking`; `{ enabled: false }` leaves them their own networks. */
  networking?: PeeringNetworkArgs;
}

const fleetCluster = clusterShape<FleetClusterArgs>({
  kubeconfig: argument.required,
  namespace: argument.text,
  image: argument.later,
  labels: argument.later,
  podCidrs: argument.later,
  networking: networkingShape.optional(),
  apiServer: argument.later,
});

const fleetPeering = shape<FleetPeeringArgs>({
  consumer: z.string(),
  provider: z.string(),
  bidirectional: argument.flag,
  resources: argument.later,
  reverseResources: argument.later,
  networking: peeringNetworkShape.optional(),
});

export const fleetShape = shape<FleetArgs>({
  clusters: z.record(z.string(), fleetCluster),
  peerings: z.record(z.string(), fleetPeering).optional(),
  image: argument.required,
});

/**
 * Clusters and the peerings between them. Each is known by its name: adding or removing one leaves the others alone.
 */
export class Fleet extends pulumi.ComponentResource {
  /** The virtual node of each peering by the peering's name. */
  public readonly nodeNames: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: FleetArgs, opts?: pulumi.ComponentResourceOptions) {
    checkedArguments(fleetShape, `Fleet "${name}"`, args);
    const clusters = Object.fromEntries(
      Object.entries(args.clusters).map(([id, cluster]) => [id, inState(cluster)]),
    );
    super("pulumi-liqo:index:Fleet", name, { ...args, clusters }, opts);
    const { peerings } = checkedArguments(fleetTopologySchema, `Fleet "${name}"`, {
      clusters: Object.keys(args.clusters),
      peerings: Object.fromEntries(
        Object.entries(args.peerings ?? {}).map(([peering, { consumer, provider, networking }]) => [
          peering,
          { consumer, provider, networking: networking?.enabled ?? true },
        ]),
      ),
      networked: Object.entries(args.clusters).flatMap(([id, { networking }]) =>
        networking === undefined ? [] : [id],
      ),
    });

    const installed = new Map<string, ClusterArgs>();
    for (const [id, cluster] of Object.entries(args.clusters)) {
      installed.set(id, install(`${name}-${id}`, id, cluster, args.image, this));
    }
    const nodeNames = Object.entries(peerings).map(([key, ends]) => {
      const consumer = installed.get(ends.consumer);
      const provider = installed.get(ends.provider);
      if (consumer === undefined || provider === undefined) throw new Error(`peering ${key} was not checked`);
      const { bidirectional, resources, reverseResources, networking } = args.peerings?.[key] ?? {};
      const peering = new Peering(
        `${name}-${key}`,
        {
          consumer,
          provider,
          ...(bidirectional === undefined ? {} : { bidirectional }),
          ...(resources === undefined ? {} : { resources }),
          ...(reverseResources === undefined ? {} : { reverseResources }),
          ...(networking === undefined ? {} : { networking }),
        },
        { parent: this },
      );
      return [key, peering.nodeName] as const;
    });

    this.nodeNames = pulumi.output(Object.fromEntries(nodeNames));
    this.registerOutputs({ nodeNames: this.nodeNames });
  }
}

function install(
  name: string,
  clusterId: string,
  args: FleetClusterArgs,
  image: pulumi.Input<string>,
  parent: pulumi.Resource,
): ClusterArgs {
  const { kubeconfig, namespace, labels, podCidrs, networking, apiServer } = args;
  const provider = clusterProvider(name, { kubeconfig }, { parent });
  const installation = new Installation(
    name,
    {
      cluster: { kubeconfig, provider },
      clusterId,
      image: args.image ?? image,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { clusterLabels: labels }),
      ...(podCidrs === undefined ? {} : { podCidrs }),
      ...(networking === undefined ? {} : { networking }),
      ...(apiServer === undefined ? {} : { apiServer }),
    },
    { parent },
  );
  return {
    kubeconfig,
    provider,
    clusterId: installation.clusterId,
    liqoNamespace: installation.namespace,
  };
}
