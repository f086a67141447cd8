import { InitFailed, type ResourceFunctions } from "./resource-functions";
import type { ProviderContext } from "./resource-definition";

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
