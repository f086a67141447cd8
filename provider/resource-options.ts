import * as pulumi from "@pulumi/pulumi";

/** The options of a dynamic resource: these outputs are secret too, and no provider of another package goes along. */
export function dynamicOptions(
  options: pulumi.CustomResourceOptions | undefined,
  secretOutputs: readonly string[],
): pulumi.CustomResourceOptions {
  const { provider: _provider, ...own } = options ?? {};
  return pulumi.mergeOptions(own, { additionalSecretOutputs: [...secretOutputs] });
}

/** The module in the type tokens of our dynamic resources: `pulumi-nodejs:dynamic/liqo:WaitFor`. */
export const dynamicModule = "liqo";
