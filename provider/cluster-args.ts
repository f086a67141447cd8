import * as pulumi from "@pulumi/pulumi";

/** The arguments that everything has which looks into a cluster. */
export interface ClusterArgs {
  /** Text of the kubeconfig of the cluster to look into; kept as a secret. */
  kubeconfig: pulumi.Input<string>;
  /** Context of the kubeconfig; the current one by default. */
  context?: pulumi.Input<string>;
}

/** The same arguments with the kubeconfig as a secret, whatever it came as. */
export function withSecretKubeconfig<Args extends ClusterArgs>(args: Args): Args {
  return { ...args, kubeconfig: pulumi.secret(args.kubeconfig) };
}
