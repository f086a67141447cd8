import type { z } from "zod";
import type { RuntimeContext } from "../kube";

/** Flags by their name in camel case; on the command line they are in kebab case. See `flags.ts` for the types. */
export type FlagSchema = z.ZodObject<Record<string, z.ZodType>>;

/** A part of the runtime that can run in a process of its own, or share one with others. */
export interface Component<Schema extends FlagSchema = FlagSchema> {
  /** What the entry point calls it, such as `controller-manager`. */
  name: string;
  flags: Schema;
  /**
   * Starts what the component does and returns once it is under way; it goes on until the context's signal is aborted.
   *
   * @throws when it cannot start: the process then ends
   */
  start(context: RuntimeContext, flags: z.output<Schema>): Promise<void>;
}

/** Gives a component the type of its flags. */
export function defineComponent<Schema extends FlagSchema>(component: Component<Schema>): Component<Schema> {
  return component;
}
