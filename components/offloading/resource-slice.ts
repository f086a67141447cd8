import * as pulumi from "@pulumi/pulumi";

import { WaitFor } from "../../provider/wait-for";
import { sliceIdentityName, tenantNamespaceName } from "../../runtime/api/keys";
import { sliceRequestSchema } from "../../runtime/plan/offloading";
import { resourceSlice } from "../../runtime/plan/peering";
import { argument, checkedArguments, installedClusterShape, shape } from "../core/arguments";
import { type ClusterArgs, connected, inState } from "../core/cluster";
import { ExistingObjects } from "../core/existing-objects";
import { KubernetesObject, namespaceOf, planned } from "../core/kubernetes-object";
import { after, readyNode, specDigest, timeouts } from "../core/waiting";

export interface ResourceSliceArgs {
  /** The cluster that asks. */
  consumer: ClusterArgs;
  /** The cluster that is asked. */
  providerClusterId: pulumi.Input<string>;
  /** The consumer's namespace for the provider, from `AuthenticationPeering`; `liqo-tenant-<provider>` by default. */
  tenantNamespace?: pulumi.Input<string>;
  /** Name of the slice, and of the virtual node made of it; the provider's cluster ID by default. Unique in the consumer. */
  sliceName?: pulumi.Input<string>;
  /** Class that decides at the provider; `default` by default. */
  class?: pulumi.Input<string>;
  /** Amounts asked for, such as `{ cpu: "8", memory: "16Gi" }`; the provider's defaults for the rest. */
  resources?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Whether a virtual node is made of what is granted; true by default. */
  createVirtualNode?: boolean;
  /** Longest time for the provider to decide, and for the node to be Ready, in seconds; 120 by default. */
  timeoutSeconds?: number;
}

/** A denial may be of before what was changed in the same run; after so many seconds it stands. */
const DENIAL_STANDS = 15;

export const resourceSliceShape = shape<ResourceSliceArgs>({
  consumer: installedClusterShape,
  providerClusterId: argument.required,
  tenantNamespace: argument.later,
  sliceName: argument.later,
  class: argument.later,
  resources: argument.later,
  createVirtualNode: argument.flag,
  timeoutSeconds: argument.seconds,
});

/**
 * Resources of a provider that a consumer asked for and was granted; with a virtual node, which is Ready.
 *
 * Removing it drains the virtual node: pods on it are evicted and made again elsewhere.
 */
export class ResourceSlice extends pulumi.ComponentResource {
  /** Name of the slice. Whatever takes it waits until the resources are granted. */
  public readonly sliceName: pulumi.Output<string>;
  /** Name of the virtual node, once it is Ready; empty when there is to be none. */
  public readonly nodeName: pulumi.Output<string>;
  /** Secret in the tenant namespace with the kubeconfig for this slice, as virtual nodes take it. */
  public readonly kubeconfigSecretName: pulumi.Output<string>;

  constructor(name: string, args: ResourceSliceArgs, opts?: pulumi.ComponentResourceOptions) {
    checkedArguments(resourceSliceShape, `ResourceSlice "${name}"`, args);
    super("pulumi-liqo:index:ResourceSlice", name, { ...args, consumer: inState(args.consumer) }, opts);
    const { createVirtualNode = true, timeoutSeconds = 120 } = args;
    const consumer = connected(`${name}-consumer`, args.consumer, this);

    const plan = pulumi
      .output({
        providerClusterId: args.providerClusterId,
        tenantNamespace: args.tenantNamespace,
        sliceName: args.sliceName,
        class: args.class,
        resources: args.resources,
      })
      .apply((given) =>
        checkedArguments(sliceRequestSchema, `ResourceSlice "${name}"`, {
          ...given,
          tenantNamespace: given.tenantNamespace ?? tenantNamespaceName(given.providerClusterId),
          sliceName: given.sliceName ?? given.providerClusterId,
        }),
      )
      .apply((request) => resourceSlice(request, createVirtualNode));
    const slice = new KubernetesObject(
      name,
      planned("authentication.liqo.io/v1beta1", "ResourceSlice", plan, "spec"),
      {
        parent: this,
        provider: consumer.provider,
        existing: new ExistingObjects(consumer),
        ...timeouts(timeoutSeconds),
      },
    );

    const about = {
      kubeconfig: consumer.kubeconfig,
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      namespace: namespaceOf(slice),
      name: slice.metadata.name,
      timeoutSeconds,
    };
    // Decided again when something else is asked for.
    const triggers = { spec: specDigest(plan) };
    const decisions = ["Authentication", "Resources"].map((type) => {
      const path = `{.status.conditions[?(@.type=="${type}")].status}`;
      const decided = {
        field: { path, equals: "Accepted" },
        failOn: { path, equals: "Denied", forSeconds: DENIAL_STANDS },
      };
      const args = { ...about, ...decided, triggers };
      return new WaitFor(`${name}-${type.toLowerCase()}`, args, { parent: this });
    });
    this.sliceName = after(decisions, slice.metadata.name);

    const identity = new WaitFor(
      `${name}-identity`,
      {
        ...about,
        kind: "Identity",
        name: this.sliceName.apply(sliceIdentityName),
        field: { path: "{.status.kubeconfigSecretRef.name}" },
        triggers,
      },
      { parent: this },
    );
    this.kubeconfigSecretName = identity.value;
    this.nodeName = createVirtualNode
      ? readyNode(`${name}-node`, this.sliceName, { consumer, timeoutSeconds, triggers }, this)
      : pulumi.output("");
    this.registerOutputs({
      sliceName: this.sliceName,
      nodeName: this.nodeName,
      kubeconfigSecretName: this.kubeconfigSecretName,
    });
  }
}
