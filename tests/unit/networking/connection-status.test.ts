import assert from "node:assert/strict";

import {
  connectionStatus,
  type DecidedStatus,
  formatLatency,
  type TunnelObservation,
} from "../../../runtime/networking/connection-status";

type Present = Parameters<typeof connectionStatus>[1];

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

  const cases: [
    string,
    [TunnelObservation, Present, now: number, refreshIntervalMs: number, confirmed?: boolean],
    DecidedStatus | undefined,
  ][] = [
    [
      "begins with Connecting",
      [{ state: "unknown" }, undefined, now, 10_000],
      { value: "Connecting", latency: undefined },
    ],
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
    [
      "is Connected, without a latency, where nobody pings",
      [{ state: "configured" }, { value: "Connecting" }, now, 10_000],
      { value: "Connected", latency: undefined },
    ],
    [
      "is Error where the gateway that left Connected does not run",
      [{ state: "gatewayDown" }, { value: "Connected", latency: { value: "9ms" } }, now, 0],
      { value: "Error", latency: { value: "N/A" } },
    ],
    [
      "stays Connecting where the gateway does not run",
      [{ state: "gatewayDown" }, { value: "Connecting" }, now, 0],
      undefined,
    ],
  ];
  for (const [what, [observation, present, time, refreshIntervalMs, confirmed], expected] of cases) {
    it(what, () =>
      assert.deepEqual(
        connectionStatus(observation, present, { now: time, refreshIntervalMs, confirmed }),
        expected,
      ),
    );
  }
});
