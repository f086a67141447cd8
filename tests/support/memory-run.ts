/** Runs controllers against an API server in memory, once through and with a death after each of their writes. */
import assert from "node:assert/strict";

import type { Kind, KubeObject } from "../../runtime/api/meta";
import type { RuntimeContext } from "../../runtime/kube";
import { MemoryApiServer } from "./memory-api-server";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";

export interface Scenario {
  /** What the cluster holds at the beginning. */
  prepare: (server: MemoryApiServer) => void;
  start: (context: RuntimeContext) => Promise<unknown>;
  /** Whether the controllers have come to their end. */
  done: (server: MemoryApiServer) => boolean;
}

const servers = new Set<MemoryApiServer>();
const contexts = new Set<TestContext>();

/** Ends whatever a test has begun. For `afterEach`, so that it happens after a failure, too. */
export async function endRuns(): Promise<void> {
  await endProcesses();
  for (const server of servers) await server.close();
  servers.clear();
}

async function endProcesses(): Promise<void> {
  for (const context of contexts) await context.end();
  contexts.clear();
}

async function openServer(scenario: Scenario): Promise<MemoryApiServer> {
  const server = await MemoryApiServer.start();
  servers.add(server);
  scenario.prepare(server);
  return server;
}

function openContext(server: MemoryApiServer): TestContext {
  const context = testContext(server.kubeconfig, "test");
  contexts.add(context);
  return context;
}

/** Ends the process that works on a server, and starts another. */
export async function restart(server: MemoryApiServer, start: Scenario["start"]): Promise<void> {
  await endProcesses();
  await start(openContext(server));
}

/** Starts the controllers of a scenario and waits for their end; the test goes on with the server. */
export async function run(scenario: Scenario): Promise<MemoryApiServer> {
  const server = await openServer(scenario);
  await scenario.start(openContext(server));
  await ended(server, scenario);
  return server;
}

async function ended(server: MemoryApiServer, { done }: Scenario): Promise<void> {
  try {
    await until("the controllers' work", () => done(server), { timeoutMs: 20_000, everyMs: 5 });
  } catch (error) {
    throw new Error(`not done after these writes:\n${server.writes.join("\n")}`, { cause: error });
  }
}

/** Nothing is written any more. */
export async function quiet(server: MemoryApiServer): Promise<void> {
  await settled(server);
  const written = server.writes.length;
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.deepEqual(server.writes.slice(written), []);
}

/** What follows the last step that a scenario waits for may still be under way: nothing was written, or looked at, for a while. */
async function settled(server: MemoryApiServer): Promise<void> {
  let before = "";
  for (let same = 0; same < 2;) {
    await new Promise((resolve) => setTimeout(resolve, 80));
    const now = [server.writes.length, ...(await Promise.all([...contexts].map(reconciles)))].join();
    same = now === before ? same + 1 : 0;
    before = now;
  }
}

async function reconciles({ metrics }: TestContext): Promise<number> {
  const counted = await metrics.getSingleMetric("controller_runtime_reconcile_total")?.get();
  return (counted?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}

/**
 * Whichever of a scenario's writes is the last one of a process that dies, the next process comes to the scenario's end, to objects that
 * are right, and to one where a third process has nothing to do.
 *
 * @param right fails where the objects are not what they should be; it is given those of a run without a death, too
 * @param every how many writes lie between two deaths that are tried
 */
export async function survivesEveryDeath(
  scenario: Scenario,
  right: (server: MemoryApiServer, survived: number) => void,
  every = 1,
): Promise<void> {
  const whole = await run(scenario);
  await settled(whole);
  right(whole, Number.POSITIVE_INFINITY);
  const writes = whole.writes.length;
  assert.ok(writes > 0);
  await endRuns();
  for (let survived = 0; survived < writes; survived += every) {
    const server = await openServer(scenario);
    const death = server.dieAfter(survived);
    const started = scenario.start(openContext(server)).catch(() => undefined);
    await death;
    await endProcesses();
    await started;
    server.revive();
    await restart(server, scenario.start);
    await ended(server, scenario);
    await settled(server);
    right(server, survived);
    const written = server.writes.length;
    await restart(server, scenario.start);
    await settled(server);
    assert.deepEqual(server.writes.slice(written), [], `written again after a death at ${survived}`);
    await endRuns();
  }
}

/** Which objects of some kinds there are, and what holds them. */
export function inventory(server: MemoryApiServer, kinds: readonly Kind<KubeObject>[]): string[] {
  return kinds
    .flatMap((kind) => server.list(kind))
    .map(({ kind, metadata: { namespace = "", name, finalizers = [] } }) =>
      [kind, `${namespace}/${name}`, ...finalizers].join(" "),
    )
    .sort();
}

/** Nothing is given twice. */
export function assertDistinct(what: string, list: readonly unknown[]): void {
  assert.deepEqual([...new Set(list)], list, `${what} are given twice`);
}
