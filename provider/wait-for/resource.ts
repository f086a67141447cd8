import * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";
import { secretOfWaits } from "../secret-data";

/** What to wait for: exactly one of `condition`, `field` and `absent`. */
export interface WaitForArgs extends ClusterArgs {
  /** API version of the object, as in `apps/v1`. */
  apiVersion: pulumi.Input<string>;
  /** Kind of the object, as in `Deployment`. */
  kind: pulumi.Input<string>;
  /** Name of the object. */
  name: pulumi.Input<string>;
  /** Namespace of the object; none for cluster-scoped kinds. */
  namespace?: pulumi.Input<string>;
  /** Wait for an entry of `status.conditions` that speaks of the present generation. */
  condition?: pulumi.Input<{
    /** Type of the condition. */
    type: pulumi.Input<string>;
    /** Status that it must have; `True` by default. */
    status?: pulumi.Input<string>;
    /** Reason that it must have; any by default. */
    reason?: pulumi.Input<string>;
  }>;
  /** Wait for a field; its value is the output `value`. */
  field?: pulumi.Input<{
    /** JSONPath of the field, as in `{.status.phase}`. */
    path: pulumi.Input<string>;
    /** Value that it must have; by default any but the empty one. */
    equals?: pulumi.Input<string>;
  }>;
  /** Wait until there is no such object. */
  absent?: pulumi.Input<true>;
  /** Give up before the deadline when a field has this value. */
  failOn?: pulumi.Input<{
    /** JSONPath of the field. */
    path: pulumi.Input<string>;
    /** Value by which it says that waiting is in vain. */
    equals: pulumi.Input<string>;
    /** How long it must have this value, in seconds; 0 by default. */
    forSeconds?: pulumi.Input<number>;
  }>;
  /** Arbitrary values: when one changes, wait again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Longest time to wait, in seconds; 300 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Waits until an object of any kind, in any cluster, has a condition or a field, or is gone. A refresh looks again: when it is no longer so,
 * the next run waits anew.
 */
export class WaitFor extends LiqoResource {
  /** The value of the field waited for; empty for other waits. Secret when the object is a Secret. */
  declare readonly value: pulumi.Output<string>;

  constructor(name: string, args: WaitForArgs, options?: pulumi.CustomResourceOptions) {
    const secret = secretOfWaits(args.kind);
    const { field, failOn } = args;
    const compared = {
      ...(secret.includes("field") && field !== undefined && { field: pulumi.secret(field) }),
      ...(secret.includes("failOn") && failOn !== undefined && { failOn: pulumi.secret(failOn) }),
    };
    super("waitFor", name, { value: undefined, ...withSecretKubeconfig(args), ...compared }, options, secret);
  }
}
