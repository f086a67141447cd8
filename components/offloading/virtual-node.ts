import * as pulumi from "@pulumi/pulumi";

import { tenantNamespaceName } from "../../runtime/api/keys";
import { virtualNode, virtualNodeSchema } from "../../runtime/plan/offloading";
import { argument, type Checks, checkedArguments, installedClusterShape, shape } from "../core/arguments";
import { type ClusterArgs, connected, inState } from "../core/cluster";
import { ExistingObjects } from "../core/existing-objects";
import { KubernetesObject, planned } from "../core/kubernetes-object";
import { after, readyNode, specDigest, timeouts } from "../core/waiting";

export interface VirtualNodeArgs {
  /** The cluster that gets the node. */
  consumer: ClusterArgs;
  /** The cluster whose resources the node stands for. */
  providerClusterId: pulumi.Input<string>;
  /** Name of the node; unique in the consumer. */
  nodeName: pulumi.Input<string>;
  /** Secret in the tenant namespace with the kubeconfig for the provider, from a `ResourceSlice`. */
  kubeconfigSecretName: pulumi.Input<string>;
  /** The consumer's namespace for the provider; `liqo-tenant-<provider>` by default. */
  tenantNamespace?: pulumi.Input<string>;
  /** Capacity of the node; 2 cpu, 4Gi memory and 110 pods by default. Together, the nodes of a slice should not exceed what it was granted. */
  resources?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Labels of the node. */
  labels?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Annotations of the node. */
  annotations?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Whether there is a Node object; true by default. Without one only pods that name the node come here. */
  createNode?: boolean;
  /** Whether the node is Ready without a network between the clusters; false by default. */
  disableNetworkCheck?: pulumi.Input<boolean>;
  /** Labels of the provider's nodes that pods of this node may go to; all of them by default. */
  nodeSelector?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Runtime class of the pods at the provider; the provider's default by default. */
  runtimeClassName?: pulumi.Input<string>;
  /** Storage classes of the provider that volumes may have. */
  storageClasses?: pulumi.Input<pulumi.Input<StorageClassArgs>[]>;
  /** Ingress classes of the provider that Ingresses may have. */
  ingressClasses?: pulumi.Input<pulumi.Input<IngressClassArgs>[]>;
  /** Load balancer classes of the provider that Services may have. */
  loadBalancerClasses?: pulumi.Input<pulumi.Input<LoadBalancerClassArgs>[]>;
  /** Longest time for the node to be Ready, in seconds; 120 by default. */
  timeoutSeconds?: number;
}

export interface StorageClassArgs {
  storageClassName: pulumi.Input<string>;
  /** Whether objects that name no class get this one; false by default. */
  default?: pulumi.Input<boolean>;
}

export interface IngressClassArgs {
  ingressClassName: pulumi.Input<string>;
  /** Whether objects that name no class get this one; false by default. */
  default?: pulumi.Input<boolean>;
}

export interface LoadBalancerClassArgs {
  loadBalancerClassName: pulumi.Input<string>;
  /** Whether objects that name no class get this one; false by default. */
  default?: pulumi.Input<boolean>;
}

export const virtualNodeShape = shape<VirtualNodeArgs>({
  consumer: installedClusterShape,
  providerClusterId: argument.required,
  nodeName: argument.required,
  kubeconfigSecretName: argument.required,
  tenantNamespace: argument.later,
  resources: argument.later,
  labels: argument.later,
  annotations: argument.later,
  createNode: argument.flag,
  disableNetworkCheck: argument.later,
  nodeSelector: argument.later,
  runtimeClassName: argument.later,
  storageClasses: argument.later,
  ingressClasses: argument.later,
  loadBalancerClasses: argument.later,
  timeoutSeconds: argument.seconds,
});

/** A virtual node of its own making, beside the one that a `ResourceSlice` brings: with other capacity, labels, or nodes at the provider. */
export class VirtualNode extends pulumi.ComponentResource {
  /** Name of the node, once it is Ready. */
  public readonly nodeName: pulumi.Output<string>;

  constructor(name: string, args: VirtualNodeArgs, opts?: pulumi.ComponentResourceOptions) {
    checkedArguments(virtualNodeShape, `VirtualNode "${name}"`, args);
    super("pulumi-liqo:index:VirtualNode", name, { ...args, consumer: inState(args.consumer) }, opts);
    const { consumer: cluster, timeoutSeconds = 120, ...settings } = args;
    const consumer = connected(`${name}-consumer`, cluster, this);

    const planOf = (given: pulumi.Unwrap<typeof settings>) =>
      virtualNode(
        checkedArguments(
          virtualNodeSchema satisfies Checks<Omit<VirtualNodeArgs, "consumer" | "timeoutSeconds">>,
          `VirtualNode "${name}"`,
          {
            ...given,
            tenantNamespace: given.tenantNamespace ?? tenantNamespaceName(given.providerClusterId),
          },
        ),
      );
    const plan = pulumi.output(settings).apply(planOf);
    const { kubeconfigSecretName: _, ...known } = settings;
    // Not of the whole plan: where a preview does not know the Secret's name, it still is the same object.
    const { metadata } = pulumi
      .output(known)
      .apply((given) => planOf({ ...given, kubeconfigSecretName: "later" }));
    const object = new KubernetesObject(
      name,
      { ...planned("offloading.liqo.io/v1beta1", "VirtualNode", plan, "spec"), metadata },
      {
        parent: this,
        provider: consumer.provider,
        existing: new ExistingObjects(consumer),
        ...timeouts(timeoutSeconds),
      },
    );

    const nodeName = after([object], settings.nodeName);
    this.nodeName =
      (settings.createNode ?? true)
        ? readyNode(
            `${name}-node`,
            nodeName,
            { consumer, timeoutSeconds, triggers: { spec: specDigest(plan) } },
            this,
          )
        : nodeName;
    this.registerOutputs({ nodeName: this.nodeName });
  }
}
