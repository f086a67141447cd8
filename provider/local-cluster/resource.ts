import type * as pulumi from "@pulumi/pulumi";

import { LiqoResource } from "../core/liqo-resource";

export interface LocalClusterArgs {
  /** Names the cluster, the context of its kubeconfig and its nodes (`<name>-1`, …): 1 to 20 lower-case letters, digits, hyphens. */
  name: pulumi.Input<string>;
  /** Number of nodes, 1 to 5; 1 by default. The first runs the control plane too. */
  nodes?: pulumi.Input<number>;
  /** Range of the pods' addresses; 10.200.0.0/16 by default. */
  podCidr?: pulumi.Input<string>;
  /** Range of the services' addresses; 10.96.0.0/16 by default. */
  serviceCidr?: pulumi.Input<string>;
  /** Kubernetes version; 1.34.4 by default, the only one of the native backend. */
  kubernetesVersion?: pulumi.Input<string>;
  /** `kind` on Docker, `native` as root without a container engine, or `auto` (default): kind where it is usable. */
  backend?: pulumi.Input<"auto" | "kind" | "native">;
  /** Image archives to load into every node, as paths. */
  images?: pulumi.Input<pulumi.Input<string>[]>;
  /** Whether the API server writes one line a request to a file; native backend only. */
  auditLog?: pulumi.Input<boolean>;
}

/** A real Kubernetes cluster on this machine. */
export class LocalCluster extends LiqoResource {
  /** Administrator's kubeconfig; secret. */
  declare readonly kubeconfig: pulumi.Output<string>;
  /** The API server as this machine reaches it. */
  declare readonly apiServerUrl: pulumi.Output<string>;
  /** The API server as pods of other local clusters reach it. */
  declare readonly peerApiServerUrl: pulumi.Output<string>;
  declare readonly nodeNames: pulumi.Output<string[]>;
  /** The backend in use. */
  declare readonly runsOn: pulumi.Output<"kind" | "native">;
  declare readonly podCidr: pulumi.Output<string>;
  declare readonly serviceCidr: pulumi.Output<string>;

  constructor(name: string, args: LocalClusterArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "localCluster",
      name,
      {
        kubeconfig: undefined,
        apiServerUrl: undefined,
        peerApiServerUrl: undefined,
        nodeNames: undefined,
        runsOn: undefined,
        ...args,
      },
      options,
      ["kubeconfig"],
    );
  }
}
