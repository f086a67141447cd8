import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import { ConnectionError, DeadlineError } from "../../runtime/kube";
import {
  deleteUnreachableVariable,
  PartialFailure,
  type ProviderContext,
  type ResourceDefinition,
  type StateOf,
} from "./definition";
import { type CheckedInputs, checkInputs, hasUnknown, isUnknown } from "./input-check";

type Properties = Readonly<Record<string, unknown>>;

export interface Difference {
  changes: boolean;
  replaces: string[];
  deleteBeforeReplace: boolean;
}

export interface Stored {
  id: string;
  outputs: Record<string, unknown>;
}

/** A made resource that is not whole; adapters turn it into the engine's form (`id`, `properties`, `reasons`). */
export class InitFailed extends Error {
  override name = "InitFailed";

  constructor(
    message: string,
    readonly id: string,
    readonly properties: Record<string, unknown>,
    readonly reasons: readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The functions of a kind of resource as every adapter calls them: plain values in, plain values out. */
export interface ResourceFunctions {
  readonly definition: AnyDefinition;
  /** Validates the inputs and their change, and fills their defaults; never throws for what the user wrote. */
  check(olds: Properties, news: Properties): CheckedInputs;
  /** Pure and offline. Never replaces because of a value that is not known yet. */
  diff(id: string, olds: Properties, news: Properties): Difference;
  create(news: Properties, context: ProviderContext): Promise<Stored>;
  /** Undefined: the resource is gone. */
  read(id: string, state: Properties, context: ProviderContext): Promise<Stored | undefined>;
  update(
    id: string,
    olds: Properties,
    news: Properties,
    context: ProviderContext,
  ): Promise<Record<string, unknown>>;
  delete(id: string, state: Properties, context: ProviderContext): Promise<void>;
}

export type AnyDefinition = Pick<
  ResourceDefinition<z.ZodObject, z.ZodObject>,
  | "type"
  | "summary"
  | "inputs"
  | "computed"
  | "secrets"
  | "secretInputs"
  | "secretWith"
  | "replaceOn"
  | "deleteBeforeReplace"
>;

/** The whole set of functions of a kind of resource. */
export function resourceFunctions<Inputs extends z.ZodObject, Computed extends z.ZodObject>(
  definition: ResourceDefinition<Inputs, Computed>,
): ResourceFunctions {
  const { inputs: schema, replaceOn } = definition;
  const parse = (news: Properties): z.output<Inputs> => schema.parse(strip(schema, news));
  const partial = definition.computed.partial();
  /** What is known of inputs; of those of an earlier version of this resource, what is still valid. */
  const known = (properties: Properties): Partial<z.output<Inputs>> => {
    const fields: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
    const valid = Object.entries(strip(schema, properties)).filter(([property, value]) => {
      const field = fields[property];
      return field !== undefined && !hasUnknown(value) && z.safeParse(field, value).success;
    });
    return Object.fromEntries(valid) as Partial<z.output<Inputs>>;
  };
  // The two schemas just checked are what the type is made of; TypeScript cannot follow that through generics.
  const parseState = (state: Properties) =>
    ({ ...parse(state), ...partial.parse(strip(definition.computed, state)) }) as StateOf<Inputs, Computed>;

  return {
    definition,
    check(olds, news) {
      const checked = checkInputs(
        {
          schema,
          secret: definition.secretInputs,
          ...(definition.validate && { across: (inputs) => definition.validate?.(parse(inputs)) ?? [] }),
        },
        news,
      );
      if (checked.failures.length > 0 || definition.validateChange === undefined) return checked;
      const failures = definition.validateChange(known(olds), known(checked.inputs));
      return { inputs: failures.length === 0 ? checked.inputs : { ...news }, failures };
    },
    diff(_id, olds, news) {
      const changed = Object.keys(schema.shape).filter(
        (property) => hasUnknown(news[property]) || !isDeepStrictEqual(olds[property], news[property]),
      );
      const replaces = replaceOn.filter(
        (property) => changed.includes(property) && !hasUnknown(news[property]),
      );
      return {
        changes: changed.length > 0,
        replaces,
        deleteBeforeReplace: replaces.length > 0 && definition.deleteBeforeReplace === true,
      };
    },
    async create(news, context) {
      const inputs = parse(news);
      const { id, computed } = await completely(inputs, () => definition.create(inputs, context));
      return { id, outputs: outputs(inputs, computed) };
    },
    async read(id, state, context) {
      const known = parseState(state);
      const computed = await definition.read(id, known, context);
      return computed && { id, outputs: outputs(parse(state), computed) };
    },
    async update(id, olds, news, context) {
      const inputs = parse(news);
      const known = parseState(olds);
      return outputs(inputs, await completely(inputs, () => definition.update(id, known, inputs, context)));
    },
    async delete(id, state, context) {
      try {
        await definition.delete?.(id, parseState(state), context);
      } catch (error) {
        forgetIfUnreachable(error, context);
      }
    },
  };
}

/**
 * A resource in a cluster that cannot be reached goes from the state alone when the user said so, with the same switch as for the objects
 * of the Kubernetes provider.
 */
function forgetIfUnreachable(error: unknown, context: ProviderContext): void {
  if (!isUnreachable(error)) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  if (!context.deleteUnreachable) {
    const wayOut = `if the cluster is gone for good, set ${deleteUnreachableVariable}=true to forget what was in it`;
    throw new Error(`${reason}; ${wayOut}`, { cause: error });
  }
  context.progress(`forgotten, because its cluster cannot be reached: ${reason}`);
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof DeadlineError) return true;
  return error instanceof Error && isUnreachable(error.cause);
}

/** Adds the inputs to what a partial failure records, so that the next run and a destroy find them. */
async function completely<T>(inputs: object, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof PartialFailure)) throw cause;
    const { id, computed, reasons } = cause.failure;
    throw new InitFailed(cause.message, id, outputs(inputs, computed), reasons, { cause });
  }
}

/** JSON only: the engine takes no `undefined`. */
function outputs(inputs: object, computed: object): Record<string, unknown> {
  const entries: [string, unknown][] = Object.entries({ ...inputs, ...computed });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function strip(schema: z.ZodObject, properties: Properties): Record<string, unknown> {
  const own = Object.entries(properties).filter(([key, value]) => key in schema.shape && !isUnknown(value));
  return Object.fromEntries(own);
}
