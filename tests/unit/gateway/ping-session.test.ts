import assert from "node:assert/strict";

import { TestClock } from "../../support/test-clock";
import {
  decodeMessage,
  encodeMessage,
  messageTime,
  nanoseconds,
  type PingMessage,
  PingSession,
  pongTo,
} from "../../../runtime/gateway/ping-session";

const WIRE = '{"clusterID":"cl02","msgType":"PING","timeStamp":"2025-05-06T07:08:09.123456789Z"}';
const decoded = (text: string) => decodeMessage(Buffer.from(text));

describe("messages of the ping protocol", () => {
  it("are what upstream sends, byte by byte", () => {
    const message = decoded(WIRE);
    assert.ok(message);
    assert.equal(encodeMessage(message).toString(), WIRE);
    assert.equal(encodeMessage(pongTo(message)).toString(), WIRE.replace("PING", "PONG"));
  });

  it("carry the time to the nanosecond, in any zone and with any number of digits", () => {
    assert.equal(nanoseconds("2025-05-06T07:08:09.123456789Z"), 1746515289123456789n);
    assert.equal(nanoseconds("2025-05-06T09:08:09.123456789+02:00"), 1746515289123456789n);
    assert.equal(nanoseconds("2025-05-06T07:08:09.1Z"), 1746515289100000000n);
    assert.equal(nanoseconds("2025-05-06T07:08:09Z"), 1746515289000000000n);
    assert.equal(nanoseconds(messageTime(1746515289123)), 1746515289123000000n);
    for (const text of ["", "now", "2025-05-06", "2025-05-06T07:08:09", "2025-13-06T07:08:09Z"]) {
      assert.equal(nanoseconds(text), undefined, text);
    }
  });

  const refused = [
    "",
    "PING",
    "[]",
    '"PING"',
    WIRE.replace("PING", "PANG"),
    WIRE.replace("timeStamp", "timestamp"),
    WIRE.replace("2025-05", "then"),
    WIRE.replace('"cl02"', "2"),
    WIRE + " ".repeat(1024),
  ];
  for (const text of refused)
    it(`are not ${text.slice(0, 60)}`, () => assert.equal(decoded(text), undefined));
});

describe("a ping session", () => {
  const start = () => {
    const clock = new TestClock(1746515289123);
    return { clock, session: new PingSession({ peer: "milan" }, clock) };
  };
  /** The answer of a peer that writes times in Go: without the zeros at the end. */
  const answer = (ping: PingMessage): PingMessage => ({
    ...pongTo(ping),
    timeStamp: ping.timeStamp.replace(/\.?0+Z$/, "Z"),
  });

  const state = (session: PingSession): string => session.reachability.state;

  it("knows nothing before the first answer, and gives up after ten seconds", async () => {
    const { clock, session } = start();
    assert.deepEqual([session.intervalMs, session.observeEveryMs], [2000, 1000]);
    for (let second = 1; second <= 10; second += 1) {
      await clock.advance(1000);
      if (second % 2 === 0) session.ping();
      session.observe();
      assert.equal(state(session), "unknown");
    }
    await clock.advance(1);
    session.observe();
    assert.equal(state(session), "lost");
  });

  it("measures the latency of each answer", async () => {
    const { clock, session } = start();
    const ping = session.ping();
    assert.deepEqual(ping, {
      clusterID: "milan",
      msgType: "PING",
      timeStamp: "2025-05-06T07:08:09.123000000Z",
    });
    await clock.advance(12);
    assert.equal(session.pong(answer(ping)), "accepted");
    assert.deepEqual(session.reachability, { state: "connected", latencyMs: 12 });
  });

  it("tells the least latency of a minute of answers, once half a minute of them has come", async () => {
    const { clock, session } = start();
    const answered = async (latencies: number[]) => {
      for (const latency of latencies) {
        const ping = session.ping();
        await clock.advance(latency);
        assert.equal(session.pong(answer(ping)), "accepted");
      }
    };
    const of = (count: number, latency: number) => Array.from({ length: count }, () => latency);
    await answered([1006, ...of(13, 4)]);
    assert.deepEqual(session.reachability, { state: "connected", latencyMs: 4 });
    await answered([9]);
    assert.deepEqual(session.reachability, { state: "connected", latencyMs: 9, leastMs: 4 });
    await answered([...of(1, 4), ...of(29, 50)]);
    assert.deepEqual(session.reachability, { state: "connected", latencyMs: 50, leastMs: 4 });
    await answered(of(1, 50));
    assert.deepEqual(session.reachability, { state: "connected", latencyMs: 50, leastMs: 50 });
    await clock.advance(10_001);
    session.observe();
    await answered([7]);
    assert.deepEqual(session.reachability, { state: "connected", latencyMs: 7 });
  });

  it("is lost ten seconds after the last answer, and back with the next", async () => {
    const { clock, session } = start();
    session.pong(answer(session.ping()));
    await clock.advance(10_000);
    session.observe();
    assert.equal(state(session), "connected");
    await clock.advance(1);
    session.observe();
    assert.equal(state(session), "lost");
    const ping = session.ping();
    await clock.advance(30);
    session.observe();
    assert.equal(state(session), "lost");
    session.pong(answer(ping));
    assert.deepEqual(session.reachability, { state: "connected", latencyMs: 30 });
  });

  it("takes no answer that it did not ask for", async () => {
    const { clock, session } = start();
    const ping = session.ping();
    assert.equal(session.pong({ ...answer(ping), clusterID: "rome" }), "other cluster");
    assert.equal(session.pong({ ...answer(ping), timeStamp: "2025-05-06T07:08:09.124Z" }), "not asked");
    assert.equal(session.pong({ ...answer(ping), timeStamp: "then" }), "not asked");
    assert.equal(session.pong(answer(ping)), "accepted");
    assert.equal(session.pong(answer(ping)), "not asked");
    const old = session.ping();
    await clock.advance(10_001);
    session.ping();
    assert.equal(session.pong(answer(old)), "not asked");
  });

  it("drops answers that were overtaken", async () => {
    const { clock, session } = start();
    const first = session.ping();
    await clock.advance(2000);
    const second = session.ping();
    await clock.advance(5);
    assert.equal(session.pong(answer(second)), "accepted");
    assert.equal(session.pong(answer(first)), "late");
    assert.deepEqual(session.reachability, { state: "connected", latencyMs: 5 });
  });

  it("tells pings of the same millisecond apart", () => {
    const { session } = start();
    const [first, second] = [session.ping(), session.ping()];
    assert.notEqual(first.timeStamp, second.timeStamp);
    assert.deepEqual([session.pong(answer(first)), session.pong(answer(second))], ["accepted", "accepted"]);
  });
});
