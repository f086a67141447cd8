import * as pulumi from "@pulumi/pulumi";

import type { ManifestMeta } from "../runtime/plan/manifest";

/**
 * Metadata with the annotation by which `@pulumi/kubernetes` waits for an object.
 *
 * @param conditions each as `kubectl wait --for` takes it; all must hold
 */
export function withWait(
  metadata: pulumi.Input<ManifestMeta>,
  ...conditions: string[]
): pulumi.Output<ManifestMeta> {
  const wait = conditions.length === 1 ? conditions[0] : JSON.stringify(conditions);
  return pulumi.output(metadata).apply((value) => ({
    ...value,
    annotations: { ...value.annotations, "pulumi.com/waitFor": wait ?? "" },
  }));
}

/** How long making, changing and removing an object may take; removal waits for finalizers, so it gets twice the time. */
export function timeouts(seconds: number): Pick<pulumi.CustomResourceOptions, "customTimeouts"> {
  return {
    customTimeouts: { create: `${seconds}s`, update: `${seconds}s`, delete: `${2 * seconds}s` },
  };
}

/** The value, for whoever must wait for the resources too. In a preview it is as known as it was. */
export function after(resources: pulumi.Resource[], value: pulumi.Input<string>): pulumi.Output<string> {
  return pulumi.all(resources.map(({ urn }) => urn)).apply(() => pulumi.output(value));
}
