import assert from "node:assert/strict";

import { silentLogger } from "../../../runtime/kube";
import { readFlags, splitCommandLine } from "../../../runtime/component/command-line";
import { processFlags } from "../../../runtime/virtual-kubelet/settings/flags";
import { FAILURES_UNTIL_LOST, ProviderPing } from "../../../runtime/virtual-kubelet/node/node-heartbeat";
import { TestClock } from "../../support/test-clock";

const INTERVAL_MS = 10_000;

/** A ping of a provider that answers with these statuses, one after the other, and with the last one from then on. */
function pingOf(statuses: readonly number[], failuresUntilLost?: number) {
  const clock = new TestClock();
  const end = new AbortController();
  const rest = [...statuses];
  const events: string[] = [];
  const ping: ProviderPing = new ProviderPing({
    access: {
      pingClient: {
        raw: () => {
          const status = (rest.length > 1 ? rest.shift() : rest[0]) ?? 500;
          return Promise.resolve({ status, headers: {}, body: Buffer.from("") });
        },
      },
      problem: undefined,
      onChange: () => () => undefined,
    },
    foreignCluster: () => undefined,
    clock,
    log: silentLogger,
    intervalMs: INTERVAL_MS,
    timeoutMs: 1_000,
    ...(failuresUntilLost !== undefined && { failuresUntilLost }),
    onChange: () => events.push(ping.reachable ? "reachable" : "lost"),
    onFailure: (problem) => events.push(problem),
  });
  const ended = ping.run(end.signal);
  return { clock, ping, events, stop: () => (end.abort(), ended) };
}

describe("how long a lost provider is waited for", () => {
  it(`is ${FAILURES_UNTIL_LOST} ping; the pings and the waiting of Kubernetes are in docs/project/develop.md`, async () => {
    assert.equal(FAILURES_UNTIL_LOST, 1);
    const { clock, ping, events, stop } = pingOf([200, 503]);
    await clock.advance(0);
    assert.ok(ping.reachable);
    await clock.advance(FAILURES_UNTIL_LOST * INTERVAL_MS);
    assert.equal(ping.problem, "/livez answers 503");
    assert.deepEqual(events, ["reachable", "lost"]);
    await stop();
  });

  it("is told of only once it is over", async () => {
    const { clock, ping, events, stop } = pingOf([200, 503], 3);
    await clock.advance(2 * INTERVAL_MS);
    assert.ok(ping.reachable);
    assert.deepEqual(events, ["reachable"]);
    await clock.advance(INTERVAL_MS);
    assert.deepEqual(events, ["reachable", "lost"]);
    await clock.advance(INTERVAL_MS);
    assert.deepEqual(events, ["reachable", "lost", "/livez answers 503"]);
    await stop();
  });

  it("ends with the first answer", async () => {
    const { clock, ping, events, stop } = pingOf([200, 503, 503, 200]);
    await clock.advance(2 * INTERVAL_MS);
    assert.deepEqual(events, ["reachable", "lost", "/livez answers 503"]);
    await clock.advance(INTERVAL_MS);
    assert.ok(ping.reachable);
    assert.equal(events.at(-1), "reachable");
    await stop();
  });

  it("begins before the first answer: a node that was never alive is not kept alive", async () => {
    const { clock, ping, stop } = pingOf([503, 200]);
    assert.equal(ping.problem, "not asked yet");
    await clock.advance(0);
    assert.equal(ping.problem, "/livez answers 503");
    await stop();
  });

  it("is asked for every 10 s by default, and a ping may take 1 s", () => {
    const { nodePingInterval, nodePingTimeout } = readFlags(
      splitCommandLine(["virtual-kubelet", "--cluster-id=rome"]),
      processFlags,
    );
    assert.deepEqual([nodePingInterval, nodePingTimeout], [10_000, 1_000]);
  });
});
