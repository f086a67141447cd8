import * as pulumi from "@pulumi/pulumi";

import type { ProviderContext, ResourceKey } from "./definition";
import { InitFailed, type ResourceFunctions } from "./lifecycle";

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

type Properties = Record<string, unknown>;

/** The functions of a resource in the form that Pulumi's dynamic providers have. */
export interface DynamicResource {
  check(
    olds: Properties,
    news: Properties,
  ): Promise<{ inputs: Properties; failures: { property: string; reason: string }[] }>;
  diff(
    id: string,
    olds: Properties,
    news: Properties,
  ): Promise<{ changes: boolean; replaces: string[]; deleteBeforeReplace: boolean }>;
  create(news: Properties): Promise<{ id: string; outs: Properties }>;
  read(id: string, state?: Properties): Promise<{ id?: string; props?: Properties }>;
  update(id: string, olds: Properties, news: Properties): Promise<{ outs: Properties }>;
  delete(id: string, state: Properties): Promise<void>;
}

/** Adapts resource functions to Pulumi's dynamic providers. Every call gets a context of its own. */
export function dynamicResource(
  functions: ResourceFunctions,
  context: (type: string) => ProviderContext,
): DynamicResource {
  const fresh = () => context(functions.definition.type);
  return {
    check: (olds, news) => Promise.resolve(functions.check(olds, news)),
    diff: (id, olds, news) => Promise.resolve(functions.diff(id, olds, news)),
    create: (news) =>
      engineErrors(news, async () => {
        const { id, outputs } = await functions.create(news, fresh());
        return { id, outs: outputs };
      }),
    async read(id, state = {}) {
      const stored = await functions.read(id, state, fresh());
      // The engine takes an answer without an id for: it is gone.
      return stored === undefined ? {} : { id: stored.id, props: stored.outputs };
    },
    update: (id, olds, news) =>
      engineErrors(news, async () => ({ outs: await functions.update(id, olds, news, fresh()) })),
    delete: (id, state) => functions.delete(id, state, fresh()),
  };
}

/**
 * The engine recognises a partial failure by the fields `id`, `properties` and `reasons` of the error. It shows the reasons only, and the
 * code that later updates or deletes the resource must be among the properties, which the SDK adds to results but not to failures.
 */
async function engineErrors<T>(news: Properties, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InitFailed)) throw error;
    const { message, id, reasons } = error;
    const properties = { ...error.properties, __provider: news["__provider"] };
    throw Object.assign(new Error(message), { id, properties, reasons: [message, ...reasons] });
  }
}
