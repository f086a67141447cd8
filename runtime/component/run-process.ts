import { setImmediate } from "node:timers/promises";

import {
  createContext,
  createLogger,
  type ProbeServer,
  type RuntimeContext,
  sleep,
  startProbeServer,
} from "../kube";
import { readFlags, refuseUnknownFlags, splitCommandLine, UsageError } from "./command-line";
import type { Component } from "./component";
import { untilShutDown } from "./shutdown";
import { processFlags, type ProcessFlags } from "./process-flags";

/** Components by name, each loaded only where it is to run. */
export type ComponentRegistry = Readonly<Record<string, () => Promise<Component>>>;

/** For last answers to arrive, after the end was asked for. */
const goodbyeMs = 500;
const hardExitMs = 10_000;

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
  let plan: Awaited<ReturnType<typeof planOf>>;
  try {
    plan = await planOf(words, registry);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
  // What came while modules were being loaded is told when the event loop turns.
  await setImmediate();
  if (signal.aborted) return 0;
  const { name, flags, starts } = plan;
  const log = createLogger({ level: flags.logLevel, fields: { component: name } });
  process.on("unhandledRejection", (error) => {
    log.error("fault of the program", { error });
    process.exit(1);
  });
  const toldToEnd = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    const context = createContext({
      component: name,
      signal,
      log,
      ...(flags.kubeconfig === "" ? {} : { kubeconfig: flags.kubeconfig }),
    });
    const servers = await startServers(context, flags);
    await Promise.race([startAll(starts, context), toldToEnd]);
    if (!signal.aborted) log.info("started", { pid: process.pid });
    await toldToEnd;
    log.info("ending");
    setTimeout(() => process.exit(0), hardExitMs).unref();
    await Promise.all([sleep(context.clock, goodbyeMs), untilShutDown(context.shutdown, context.clock)]);
    await Promise.all([context.informers.stop(), ...servers.map((server) => server.close())]);
    context.client.close();
    return 0;
  } catch (error) {
    log.error("cannot start", { error });
    return 1;
  }
}

async function startAll(
  starts: readonly ((context: RuntimeContext) => Promise<void>)[],
  context: RuntimeContext,
): Promise<void> {
  for (const start of starts) {
    if (context.signal.aborted) return;
    await start(context);
  }
}

async function planOf(words: readonly string[], registry: ComponentRegistry) {
  const known = Object.keys(registry).sort().join(", ");
  if (["help", "-h", "--help"].includes(words[0] ?? "help")) {
    throw new UsageError(`liqo-runtime <component>[,<component>] --flag=value …\ncomponents: ${known}`);
  }
  const line = splitCommandLine(words);
  const components = await Promise.all(
    line.components.map((name) => {
      const load = Object.hasOwn(registry, name) ? registry[name] : undefined;
      if (load === undefined) throw new UsageError(`"${name}" is not a component; there are ${known}`);
      return load();
    }),
  );
  refuseUnknownFlags(line, [processFlags, ...components.map((component) => component.flags)]);
  const flags = readFlags(line, processFlags);
  const starts = components.map((component) => {
    const values = readFlags(line, component.flags);
    return (context: RuntimeContext) => component.start(context, values);
  });
  return { name: line.components.join(","), flags, starts };
}

async function startServers(
  { health, metrics }: RuntimeContext,
  flags: ProcessFlags,
): Promise<ProbeServer[]> {
  const { metricsAddress, healthProbeAddress } = flags;
  if (metricsAddress === healthProbeAddress) {
    return metricsAddress === ""
      ? []
      : [await startProbeServer({ address: metricsAddress, health, metrics })];
  }
  return await Promise.all([
    ...(metricsAddress === "" ? [] : [startProbeServer({ address: metricsAddress, metrics })]),
    ...(healthProbeAddress === "" ? [] : [startProbeServer({ address: healthProbeAddress, health })]),
  ]);
}
