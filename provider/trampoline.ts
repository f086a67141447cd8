import type * as pulumi from "@pulumi/pulumi";

import type { DynamicResource } from "./dynamic-resource";
import type * as registry from "./index";

type Properties = Record<string, unknown>;

/**
 * The provider object that goes into the state of a dynamic resource. Its methods hold no logic: they require this package by its name
 * and call the function there, so the text in the state is small, captures nothing but the key, never changes, and the installed version is
 * what runs at refresh and destroy.
 */
export function trampoline(
  key: registry.ResourceKey,
): pulumi.dynamic.ResourceProvider<Properties, Properties> {
  function resource(): DynamicResource {
    // A plain require, by name: Pulumi stores this text and runs it later, where only the project's packages can be found.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const provider = require("pulumi-liqo/provider") as typeof registry;
    return provider.dynamicResourceOf(key);
  }
  return {
    check: async (olds, news) => resource().check(olds, news),
    diff: async (id, olds, news) => resource().diff(id, olds, news),
    create: async (inputs) => resource().create(inputs),
    read: async (id, props) => resource().read(id, props),
    update: async (id, olds, news) => resource().update(id, olds, news),
    delete: async (id, props) => resource().delete(id, props),
  };
}
