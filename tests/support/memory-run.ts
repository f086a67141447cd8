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
  /** Kinds whose objects are compared between runs. */
  compare: readonly Kind<KubeObject>[];
}

const open = new Set<() => Promise<void>>();

/** Ends whatever a test has begun. For `afterEach`, so that it happens after a failure, too. */
export async function endRuns(): Promise<void> {
  const ends = [...open].reverse();
  open.clear();
  for (const end of ends) await end();
}

async function openServer(scenario: Scenario): Promise<MemoryApiServer> {
  const server = await MemoryApiServer.start();
  open.add(() => server.close());
  scenario.prepare(server);
  return server;
}

function openContext(server: MemoryApiServer): TestContext {
  const context = testContext(server.kubeconfig, "test");
  open.add(() => context.end());
  return context;
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

/** What follows the last step that a scenario waits for may still be under way. */
async function settled(server: MemoryApiServer): Promise<void> {
  for (let before = -1; before !== server.writes.length;) {
    before = server.writes.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The scenario ends in the same objects, whichever of its writes is the last one of a process that dies. */
export async function survivesEveryDeath(scenario: Scenario): Promise<void> {
  const whole = await run(scenario);
  await settled(whole);
  const expected = contents(whole, scenario.compare);
  const writes = whole.writes.length;
  assert.ok(writes > 0);
  await endRuns();
  for (let survived = 0; survived < writes; survived += 1) {
    const server = await openServer(scenario);
    const death = server.dieAfter(survived);
    const first = openContext(server);
    const started = scenario.start(first).catch(() => undefined);
    await death;
    await first.end();
    await started;
    server.revive();
    await scenario.start(openContext(server));
    await ended(server, scenario);
    await settled(server);
    assert.deepEqual(contents(server, scenario.compare), expected, `dead after ${survived} writes`);
    await endRuns();
  }
}

/** All objects of some kinds, without what differs between two runs in any case. */
export function contents(server: MemoryApiServer, kinds: readonly Kind<KubeObject>[]): unknown[] {
  const differs = ["uid", "resourceVersion", "creationTimestamp", "lastTransitionTime"];
  return kinds
    .flatMap((kind) => server.list(kind))
    .map((object) =>
      JSON.stringify(object, (key, value: unknown) => (differs.includes(key) ? undefined : value)),
    )
    .sort()
    .map((object): unknown => JSON.parse(object));
}
