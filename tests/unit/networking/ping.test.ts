import assert from "node:assert/strict";

import { TestClock } from "../../support/test-clock";
import { connectionStatus, formatLatency } from "../../../runtime/networking/connection-status";
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

describe("the status of a Connection", () => {
  const now = Date.UTC(2026, 4, 4, 12, 0, 9, 500);
  const at = (seconds: number) => `2026-05-04T12:00:0${seconds}Z`;
  const connected = { state: "connected", latencyMs: 12.7 } as const;
  const atLeast = (leastMs: number) => ({ ...connected, leastMs });

  it("shows latency as upstream does", () => {
    assert.deepEqual([0, 0.0004, 0.4571, 0.9999, 1, 12.7, 2500].map(formatLatency), [
      "N/A",
      "N/A",
      "457μs",
      "999μs",
      "1ms",
      "12ms",
      "2500ms",
    ]);
  });

  const cases: [string, Parameters<typeof connectionStatus>, ReturnType<typeof connectionStatus>][] = [
    ["begins with Connecting", [{ state: "unknown" }, undefined, now, 10_000], { value: "Connecting" }],
    [
      "goes back to it while a step is missing",
      [{ state: "waiting" }, { value: "Connected", latency: { value: "3ms" } }, now, 10_000],
      { value: "Connecting", latency: { value: "N/A" } },
    ],
    ["says so once", [{ state: "waiting" }, { value: "Connecting" }, now, 10_000], undefined],
    ["stays while nothing is known", [{ state: "unknown" }, { value: "Connected" }, now, 10_000], undefined],
    [
      "is Connected with the first answer",
      [connected, { value: "Connecting" }, now, 10_000],
      { value: "Connected", latency: { value: "12ms", timestamp: at(9) } },
    ],
    [
      "stays while its answers are too few",
      [connected, { value: "Connected", latency: { value: "900ms", timestamp: at(2) } }, now, 5_000],
      undefined,
    ],
    ["stays without a latency for as long", [connected, { value: "Connected" }, now, 5_000], undefined],
    [
      "stays while its latency is younger than the interval",
      [atLeast(90), { value: "Connected", latency: { value: "9ms", timestamp: at(2) } }, now, 10_000],
      undefined,
    ],
    [
      "stays, however old, while the least latency is less than half as long again",
      [atLeast(29), { value: "Connected", latency: { value: "20ms", timestamp: at(2) } }, now, 5_000],
      undefined,
    ],
    [
      "stays while it is longer by less than five milliseconds",
      [atLeast(5.3), { value: "Connected", latency: { value: "412μs", timestamp: at(2) } }, now, 5_000],
      undefined,
    ],
    [
      "tells of a latency that is half as long again",
      [atLeast(30.2), { value: "Connected", latency: { value: "20ms", timestamp: at(2) } }, now, 5_000],
      { value: "Connected", latency: { value: "30ms", timestamp: at(9) } },
    ],
    [
      "tells of one that is as much shorter, such as after a first answer that waited for the handshake",
      [atLeast(0.8), { value: "Connected", latency: { value: "1006ms", timestamp: at(2) } }, now, 5_000],
      { value: "Connected", latency: { value: "800μs", timestamp: at(9) } },
    ],
    [
      "gets a latency where it has none, or one that cannot be read",
      [atLeast(12.7), { value: "Connected", latency: { value: "N/A" } }, now, 5_000],
      { value: "Connected", latency: { value: "12ms", timestamp: at(9) } },
    ],
    [
      "is refreshed when its latency is of a time to come",
      [
        atLeast(90),
        { value: "Connected", latency: { value: "9ms", timestamp: "2027-01-01T00:00:00Z" } },
        now,
        5_000,
      ],
      { value: "Connected", latency: { value: "90ms", timestamp: at(9) } },
    ],
    [
      "is Error when the tunnel is lost",
      [{ state: "lost" }, { value: "Connected", latency: { value: "9ms", timestamp: at(2) } }, now, 10_000],
      { value: "Error", latency: { value: "N/A" } },
    ],
    [
      "says so once itself where its predecessor was Connected",
      [connected, { value: "Connected", latency: { value: "7ms", timestamp: at(2) } }, now, 10_000, false],
      { value: "Connected", latency: { value: "7ms", timestamp: at(9) } },
    ],
    [
      "does not say so before the first answer",
      [{ state: "unknown" }, { value: "Connected" }, now, 10_000, false],
      undefined,
    ],
    ["stays Error", [{ state: "lost" }, { value: "Error" }, now, 10_000], undefined],
  ];
  for (const [what, args, expected] of cases) {
    it(what, () => assert.deepEqual(connectionStatus(...args), expected));
  }
});
