import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

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
}

export interface ClusterProviderArgs {
  /** Kubeconfig, whole and self-contained. */
  kubeconfig: pulumi.Input<string>;
  /** Says which cluster this is, whatever its address and credentials: only a change of it replaces what the cluster holds. */
  clusterIdentifier: pulumi.Input<string>;
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
    },
    opts,
  );
}

/** A cluster with its kubeconfig secret, as the state may hold it: what a component passes to `super`. */
export function inState<Cluster extends ClusterAccess>(cluster: Cluster): Omit<Cluster, "provider"> {
  const { provider: _, ...rest } = cluster;
  return { ...rest, kubeconfig: pulumi.secret(cluster.kubeconfig) };
}

/** The cluster with a provider: the one given, or one made from its kubeconfig as a child of the component. */
export function connected<Cluster extends ClusterArgs>(
  name: string,
  cluster: Cluster,
  parent: pulumi.Resource,
): Cluster & { provider: k8s.Provider } {
  const kubeconfig = pulumi.secret(cluster.kubeconfig);
  const provider =
    cluster.provider ??
    clusterProvider(name, { kubeconfig, clusterIdentifier: cluster.clusterId }, { parent });
  return { ...cluster, kubeconfig, provider };
}
