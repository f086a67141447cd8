import * as pulumi from "@pulumi/pulumi";

import { WaitFor } from "../../provider/wait-for";
import { namespaceOffloading, namespaceOffloadingSchema } from "../../runtime/plan/offloading";
import { argument, type Checks, checkedArguments, installedClusterShape, shape } from "../core/arguments";
import { type ClusterArgs, connected, inState } from "../core/cluster";
import { ExistingObjects } from "../core/existing-objects";
import { KubernetesObject, namespaceOf, planned } from "../core/kubernetes-object";
import { after, specDigest, timeouts, withWait } from "../core/waiting";

export interface NamespaceOffloadingArgs {
  /** The consumer. */
  cluster: ClusterArgs;
  /** Namespace to extend; it exists already. */
  namespace: pulumi.Input<string>;
  /**
   * Name of the namespace at each provider. `DefaultName`: followed by this cluster's ID. `EnforceSameName`: the same. `SelectedName`:
   * `remoteNamespaceName`. `DefaultName` by default; never changes once made.
   */
  namespaceMappingStrategy?: pulumi.Input<string>;
  /** Name at the providers, with the strategy `SelectedName`. */
  remoteNamespaceName?: pulumi.Input<string>;
  /** Where its pods may run: `LocalAndRemote`, `Remote` or `Local`; `LocalAndRemote` by default. */
  podOffloadingStrategy?: pulumi.Input<string>;
  /** Chooses providers by the labels of their virtual nodes; all of them by default. */
  clusterSelector?: pulumi.Input<NodeSelectorArgs>;
  /** How long to wait for the namespaces at the providers, in seconds; 120 by default. */
  timeoutSeconds?: number;
}

/** Terms of which one must hold. */
export interface NodeSelectorArgs {
  nodeSelectorTerms: pulumi.Input<pulumi.Input<NodeSelectorTermArgs>[]>;
}

/** Requirements that must all hold. */
export interface NodeSelectorTermArgs {
  matchExpressions: pulumi.Input<pulumi.Input<NodeSelectorRequirementArgs>[]>;
}

export interface NodeSelectorRequirementArgs {
  /** Label of the virtual node. */
  key: pulumi.Input<string>;
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`. */
  operator: pulumi.Input<string>;
  values?: pulumi.Input<pulumi.Input<string>[]>;
}

export const namespaceOffloadingShape = shape<NamespaceOffloadingArgs>({
  cluster: installedClusterShape,
  namespace: argument.required,
  namespaceMappingStrategy: argument.later,
  remoteNamespaceName: argument.later,
  podOffloadingStrategy: argument.later,
  clusterSelector: argument.later,
  timeoutSeconds: argument.seconds,
});

/**
 * A namespace whose pods may run on virtual nodes: its twin exists at the providers chosen.
 *
 * Whatever has pods in the namespace should depend on it, because pods made before it are not sent out. Removing it removes the twins and
 * what runs in them.
 */
export class NamespaceOffloading extends pulumi.ComponentResource {
  /** The namespace's name at the providers. */
  public readonly remoteNamespaceName: pulumi.Output<string>;
  /** The namespace, for whoever must wait until it is extended. */
  public readonly namespace: pulumi.Output<string>;

  constructor(name: string, args: NamespaceOffloadingArgs, opts?: pulumi.ComponentResourceOptions) {
    checkedArguments(namespaceOffloadingShape, `NamespaceOffloading "${name}"`, args);
    super("pulumi-liqo:index:NamespaceOffloading", name, { ...args, cluster: inState(args.cluster) }, opts);

    const { cluster, timeoutSeconds = 120, ...settings } = args;
    const { provider, kubeconfig } = connected(name, cluster, this);
    const plan = pulumi
      .output(settings)
      .apply((value) =>
        namespaceOffloading(
          checkedArguments(
            namespaceOffloadingSchema satisfies Checks<
              Omit<NamespaceOffloadingArgs, "cluster" | "timeoutSeconds">
            >,
            `NamespaceOffloading "${name}"`,
            value,
          ),
        ),
      );
    const offloading = new OffloadingObject(
      name,
      {
        ...planned("offloading.liqo.io/v1beta1", "NamespaceOffloading", plan, "spec"),
        metadata: withWait(plan.metadata, "jsonpath={.status.offloadingPhase}=Ready"),
        status: undefined,
      },
      { parent: this, provider, existing: new ExistingObjects(cluster), ...timeouts(timeoutSeconds) },
    );

    // The annotation's wait takes an answer to an older spec for one.
    const extended = new WaitFor(
      `${name}-extended`,
      {
        kubeconfig,
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "NamespaceOffloading",
        namespace: namespaceOf(offloading),
        name: offloading.metadata.name,
        field: { path: "{.status.offloadingPhase}", equals: "Ready" },
        triggers: { spec: specDigest(plan) },
        timeoutSeconds,
      },
      { parent: this },
    );

    this.remoteNamespaceName = offloading.status.apply((status) => status?.remoteNamespaceName ?? "");
    this.namespace = after([extended], settings.namespace);
    this.registerOutputs({ remoteNamespaceName: this.remoteNamespaceName, namespace: this.namespace });
  }
}

class OffloadingObject extends KubernetesObject {
  declare readonly status: pulumi.Output<{ remoteNamespaceName?: string } | undefined>;
}
