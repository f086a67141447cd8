import { setImmediate } from "node:timers/promises";
import { z } from "zod";

import { createLogger, Manager, type RuntimeContext } from "../kube";
import { readFlags, refuseUnknownFlags, splitCommandLine, UsageError } from "./command-line";
import { type FlagSchema, ignored, oneOf, text } from "./flags";

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

/** Components by name, each loaded only where it is to run. */
export type ComponentRegistry = Readonly<Record<string, () => Promise<Component>>>;

/** Flags that every process takes, whatever runs in it. */
const processFlags = z.object({
  /** Of this cluster; the service account of the pod by default. */
  kubeconfig: text(process.env.KUBECONFIG ?? ""),
  /** `host:port` or `:port` of `/metrics`; empty for none. */
  metricsAddress: text(":8082"),
  /** `host:port` or `:port` of `/healthz`, `/livez` and `/readyz`; empty for none. */
  healthProbeAddress: text(":8081"),
  logLevel: oneOf(["debug", "info", "warn", "error"], "info"),

  // Requests are held back by the API server's own answers, not by a rate of ours; each has a deadline.
  clientQps: ignored(),
  clientMaxBurst: ignored(),
  clientTimeout: ignored(),
});

/**
 * Runs the components of a command line until the process is told to end.
 *
 * @param signal aborted when the process is to end; what is being loaded or started then is not waited for
 * @returns the exit status: 0, 1 for a failed start, 2 for a command line that is not understood
 */
export async function runProcess(
  words: readonly string[],
  registry: ComponentRegistry,
  signal: AbortSignal,
): Promise<number> {
  let loaded: Awaited<ReturnType<typeof load>>;
  try {
    loaded = await load(words, registry);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
  // A signal that came while modules were being loaded is handled when the event loop turns.
  await setImmediate();
  if (signal.aborted) return 0;
  const { component, flags, starts } = loaded;
  const { kubeconfig, logLevel, metricsAddress, healthProbeAddress } = flags;
  const log = createLogger({ level: logLevel, fields: { component } });
  process.on("unhandledRejection", (error) => {
    log.error("fault of the program", { error });
    process.exit(1);
  });
  try {
    const manager = new Manager({
      component,
      signal,
      log,
      metricsAddress,
      healthProbeAddress,
      ...(kubeconfig !== "" && { kubeconfig }),
    });
    await manager.run(starts);
    return 0;
  } catch (error) {
    log.error("cannot start", { error });
    return 1;
  }
}

/** @throws UsageError where the command line names no component, or a flag that none of them takes */
async function load(words: readonly string[], registry: ComponentRegistry) {
  const known = Object.keys(registry).sort().join(", ");
  if (["help", "-h", "--help"].includes(words[0] ?? "help")) {
    throw new UsageError(`liqo-runtime <component>[,<component>] --flag=value …\ncomponents: ${known}`);
  }
  const line = splitCommandLine(words);
  const components = await Promise.all(
    line.components.map((name) => {
      const loadComponent = Object.hasOwn(registry, name) ? registry[name] : undefined;
      if (loadComponent === undefined)
        throw new UsageError(`"${name}" is not a component; there are ${known}`);
      return loadComponent();
    }),
  );
  refuseUnknownFlags(line, [processFlags, ...components.map((component) => component.flags)]);
  const flags = readFlags(line, processFlags);
  const starts = components.map((component) => {
    const values = readFlags(line, component.flags);
    return (context: RuntimeContext) => component.start(context, values);
  });
  return { component: line.components.join(","), flags, starts };
}
