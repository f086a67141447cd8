import { version } from "@pulumi/kubernetes/package.json";
import * as pulumi from "@pulumi/pulumi";

import type { Manifest, ManifestMeta } from "../../runtime/plan/manifest";
import type { ExistingObjects } from "./existing-objects";

/** A manifest, of which all but the kind may be known later. */
export interface KubernetesObjectArgs {
  apiVersion: string;
  kind: string;
  metadata: pulumi.Input<ManifestMeta>;
  /** `spec`, `data`, `rules`, …: whatever fields the kind has. A field that is undefined becomes an output only. */
  [field: string]: unknown;
}

export type ClusterResourceOptions = pulumi.CustomResourceOptions & {
  /** There is no default: an object without a provider would land in whichever cluster the operator's kubeconfig points at. */
  provider: pulumi.ProviderResource;
  /** Looks before the object is made whether it is there already; without it, the plugin decides what that means. */
  existing?: ExistingObjects;
};

/** API versions that `@pulumi/kubernetes` files under another name in its type tokens. */
const MODULES: Readonly<Record<string, string>> = { v1: "core/v1" };

/**
 * Any Kubernetes object as a resource of the package `@pulumi/kubernetes`, from a manifest. It is the same resource, with the same type in
 * the state, as the package's own class for the kind; only the choice of the class is left out, so that planned manifests can be registered
 * in a loop.
 */
export class KubernetesObject extends pulumi.CustomResource {
  declare readonly metadata: pulumi.Output<ManifestMeta>;

  constructor(name: string, manifest: KubernetesObjectArgs, { existing, ...opts }: ClusterResourceOptions) {
    const { apiVersion, kind } = manifest;
    const type = `kubernetes:${MODULES[apiVersion] ?? apiVersion}:${kind}`;
    const hooks = existing?.beforeObject(type, name);
    super(type, name, manifest, pulumi.mergeOptions(opts, { version, ...(hooks && { hooks }) }));
  }
}

/**
 * Labels and annotations of a namespace that is there: a resource of the same package again. The namespace is not of the stack alone, so removing this
 * takes nothing away.
 */
export class NamespaceLabels extends pulumi.CustomResource {
  declare readonly metadata: pulumi.Output<ManifestMeta>;

  constructor(name: string, metadata: pulumi.Input<ManifestMeta>, opts: ClusterResourceOptions) {
    super(
      "kubernetes:core/v1:NamespacePatch",
      name,
      { apiVersion: "v1", kind: "Namespace", metadata },
      pulumi.mergeOptions(opts, {
        version,
        retainOnDelete: true,
        // Stacks of before have the whole namespace under this name. It becomes this, and nothing is removed.
        aliases: [{ type: "kubernetes:core/v1:Namespace" }],
      }),
    );
  }
}

/** The arguments for a manifest that is planned later, with those of its fields that the kind has. */
export function planned<M extends Manifest>(
  apiVersion: M["apiVersion"],
  kind: M["kind"],
  manifest: pulumi.Output<M>,
  ...fields: Exclude<keyof M & string, keyof Manifest>[]
): KubernetesObjectArgs {
  return {
    apiVersion,
    kind,
    metadata: manifest.apply(({ metadata }): ManifestMeta => metadata),
    ...Object.fromEntries(fields.map((field) => [field, manifest.apply((value) => value[field])])),
  };
}

/** The namespace of an object, for whoever must wait for the object too. */
export function namespaceOf(object: KubernetesObject): pulumi.Output<string> {
  return object.metadata.apply(({ namespace = "" }) => namespace);
}
