import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

import { ExistingObjects } from "./existing-objects";

/** How to reach a cluster as its administrator. */
export interface ClusterAccess {
  /** Kubeconfig, whole and self-contained. It is kept as a secret. */
  kubeconfig: pulumi.Input<string>;
  /**
   * Provider of `@pulumi/kubernetes` for this cluster. By default each component makes its own from the kubeconfig; one for all of them, as
   * `clusterProvider` makes it, saves a process of about 110 MB each.
   */
  provider?: k8s.Provider;
}

/** A cluster with the runtime installed, as one end of a peering. */
export interface ClusterArgs extends ClusterAccess {
  /** The cluster's Liqo ID. Take it from the `Installation`, so that what needs the runtime waits for it. */
  clusterId: pulumi.Input<string>;
  /** Namespace of the runtime; `liqo` by default. */
  liqoNamespace?: pulumi.Input<string>;
  /**
   * Whether objects of the peering that are there already are taken over, as `liqoctl peer` or another stack made them; they are refused by default. What
   * is taken over goes with the stack. Where `provider` is given, `clusterProvider` must make it with the same argument.
   */
  adoptExisting?: boolean;
}

/** A cluster as one end of a peering, with the namespace that it keeps for the other end. */
export interface PeeringClusterArgs extends ClusterArgs {
  /** Namespace for everything about the peer; `liqo-tenant-<peer's cluster ID>` by default. */
  tenantNamespace?: pulumi.Input<string>;
}

export interface ClusterProviderArgs {
  /** Kubeconfig, whole and self-contained. */
  kubeconfig: pulumi.Input<string>;
  /**
   * Says which cluster this is, whatever its address and credentials: without it, a new address would replace what the cluster holds. It is kept
   * from the first run on, and a change of it has no effect; for another cluster make a provider of another name. The provider's name by default.
   */
  clusterIdentifier?: pulumi.Input<string>;
  /** Whether it takes over what is there where a component's `adoptExisting` says so; false by default. */
  adoptExisting?: boolean;
}

/**
 * A provider of `@pulumi/kubernetes` with the settings that the components need: known by a stable identifier instead of the text of its
 * kubeconfig, changing Secrets and ConfigMaps in place, because what reads them knows them by their names, and taking back fields of the program that
 * others changed.
 */
export function clusterProvider(
  name: string,
  args: ClusterProviderArgs,
  opts?: pulumi.ResourceOptions,
): k8s.Provider {
  const { kubeconfig, clusterIdentifier = name, adoptExisting = false } = args;
  // Whatever stands in the state stays: another one would make everything anew in the same cluster, and then remove it by its name.
  const kept = pulumi.mergeOptions(opts, { ignoreChanges: ["clusterIdentifier"] });
  return kubernetesProvider(name, { kubeconfig, clusterIdentifier, adoptExisting }, kept);
}

function kubernetesProvider(
  name: string,
  args: Required<ClusterProviderArgs>,
  opts: pulumi.ResourceOptions,
): k8s.Provider {
  return new k8s.Provider(
    name,
    {
      kubeconfig: pulumi.secret(args.kubeconfig),
      clusterIdentifier: args.clusterIdentifier,
      enableServerSideApply: true,
      // What the program declares comes back, whoever changed it: a diff in the preview, not a conflict.
      enablePatchForce: true,
      enableConfigMapMutable: true,
      enableSecretMutable: true,
      suppressDeprecationWarnings: true,
      // Without it the plugin of 4.29 and later makes nothing that is there; older ones take over, and know no such setting.
      ...(args.adoptExisting && { upsertExistingObjects: true }),
    },
    opts,
  );
}

/** A cluster with its kubeconfig secret, as the state may hold it: what a component passes to `super`. */
export function inState<Cluster extends ClusterAccess>(cluster: Cluster): Omit<Cluster, "provider"> {
  const { provider: _, ...rest } = cluster;
  return { ...rest, kubeconfig: pulumi.secret(cluster.kubeconfig) };
}

/** The cluster of an installation with a provider: the one given, or one made from its kubeconfig as a child of the component. */
export function installedOn<Cluster extends ClusterAccess>(
  name: string,
  cluster: Cluster,
  parent: pulumi.Resource,
): Cluster & { provider: k8s.Provider } {
  const kubeconfig = pulumi.secret(cluster.kubeconfig);
  return {
    ...cluster,
    kubeconfig,
    provider: cluster.provider ?? clusterProvider(name, { kubeconfig }, { parent }),
  };
}

/**
 * The same for an end of a peering. Another ID at another kubeconfig is another peer: what the former one has of the peering is removed there, by
 * a provider that still leads to it. Another ID at the same cluster is refused, by the installation that is there.
 */
export function connected<Cluster extends ClusterArgs>(
  name: string,
  cluster: Cluster,
  parent: pulumi.Resource,
): Cluster & { provider: k8s.Provider } {
  const kubeconfig = pulumi.secret(cluster.kubeconfig);
  const { clusterId: clusterIdentifier, adoptExisting = false } = cluster;
  const provider =
    cluster.provider ??
    kubernetesProvider(
      name,
      { kubeconfig, clusterIdentifier, adoptExisting },
      { parent, hooks: new ExistingObjects(cluster).beforeProvider(name) },
    );
  return { ...cluster, kubeconfig, provider };
}
