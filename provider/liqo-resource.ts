import * as pulumi from "@pulumi/pulumi";

import type { ResourceKey } from "./index";

/**
 * The base of our resources. Two adapters serve them, over the same functions:
 *
 * - In a TypeScript program they are dynamic resources: Pulumi keeps the code that handles them in the state, and the dynamic provider's
 *   process runs it. That code is one line that asks this package for the functions, by its name. So it captures nothing, the state stays
 *   small, a new version of the package shows no change, and the installed version is what runs at refresh and destroy.
 * - In the plugin, which serves programs in other languages, they are resources of the plugin itself: a dynamic provider would look for
 *   this package in the folder of a program that is not Node's.
 */
export abstract class LiqoResource extends pulumi.CustomResource {
  /**
   * @param props inputs, and `undefined` for each output, which makes it exist.
   * @param secretOutputs outputs that are secret whatever the inputs are.
   */
  protected constructor(
    key: ResourceKey,
    name: string,
    props: pulumi.Inputs,
    options: pulumi.CustomResourceOptions | undefined,
    secretOutputs: readonly string[] = [],
  ) {
    const type = typeName(key);
    // A provider of another package, as a component hands it down, is not for this resource.
    const { provider: _provider, ...own } = options ?? {};
    const merged = pulumi.mergeOptions(own, { additionalSecretOutputs: [...secretOutputs] });
    if (pluginVersion === undefined) {
      super(
        `pulumi-nodejs:dynamic/liqo:${type}`,
        name,
        { ...props, __provider: dynamicProviderCode(key) },
        merged,
      );
    } else {
      super(`${packageName}:index:${type}`, name, props, { ...merged, version: pluginVersion });
    }
  }
}

/** Name of the package in type tokens of the plugin. */
export const packageName = "pulumi-liqo";

/** `waitFor` → `WaitFor` */
export function typeName(key: ResourceKey): string {
  return `${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

/**
 * The module that Pulumi stores with a dynamic resource and loads when it handles the resource: in the form of the SDK's own serialiser,
 * a CommonJS module that exports `handler`. It resolves packages from the folder of the program.
 */
export function dynamicProviderCode(key: ResourceKey): string {
  return `exports.handler = () => require("pulumi-liqo/provider").dynamicResourceOf("${key}");\n`;
}

let pluginVersion: string | undefined;

/** Whether resources made in this process are the plugin's own. */
export function isServedFromPlugin(): boolean {
  return pluginVersion !== undefined;
}

/** From now on, resources made in this process are the plugin's own. Called once, when the plugin starts. */
export function serveResourcesFromPlugin(version: string): void {
  pluginVersion = version;
}
