import assert from "node:assert/strict";

import { silentLogger } from "../../../runtime/kube";
import { TestClock } from "../../support/test-clock";
import { ServerEndpoint } from "../../../runtime/gateway/server-endpoint";
import { isTunnelInPlace, parseDump } from "../../../runtime/gateway/wireguard";

const KEY = "cPZ0vEwDRzFtWG1zWUQYJ9KXQfP7RBjOeB7c5Zx7ZV0=";
const PEER = "7yJ3ZgNvV3ZTu2k4mQy0JYf3o9v7qk0m2Jb1kUqk2WQ=";
const dump = (endpoint: string, peers = 1) =>
  [
    `${KEY}\t${PEER}\t51840\toff`,
    ...Array.from(
      { length: peers },
      () => `${PEER}\t(none)\t${endpoint}\t0.0.0.0/0\t1764306000\t1200\t3400\toff`,
    ),
    "",
  ].join("\n");

describe("a tunnel as wg shows it", () => {
  it("is read from its dump", () => {
    assert.deepEqual(parseDump(dump("203.0.113.2:51840")), {
      privateKey: KEY,
      listenPort: 51840,
      peers: [
        {
          publicKey: PEER,
          endpoint: "203.0.113.2:51840",
          allowedIps: ["0.0.0.0/0"],
          handshakeAt: 1764306000,
          receivedBytes: 1200,
          sentBytes: 3400,
        },
      ],
    });
    assert.deepEqual(parseDump("(none)\t(none)\t0\toff\n"), { privateKey: "", listenPort: 0, peers: [] });
    assert.throws(
      () => parseDump(`${KEY}\tbad`),
      (error: Error) => !error.message.includes(KEY),
    );
  });

  const wanted = { privateKey: KEY, listenPort: 51840, peer: { publicKey: PEER } };
  const at = (address: string, port = 51840) => ({
    ...wanted,
    peer: { publicKey: PEER, endpoint: { address, port } },
  });
  const cases: [string, Parameters<typeof isTunnelInPlace>[0], string, boolean][] = [
    ["it has the peer, wherever a server has learnt it to be", wanted, dump("198.51.100.7:40000"), true],
    ["a client's peer is where it should be", at("203.0.113.2"), dump("203.0.113.2:51840"), true],
    ["a client's peer has an IPv6 address", at("2001:db8::2"), dump("[2001:db8::2]:51840"), true],
    ["a client's peer is elsewhere", at("203.0.113.3"), dump("203.0.113.2:51840"), false],
    ["there is no peer", wanted, dump("", 0), false],
    ["there is a peer too many", wanted, dump("203.0.113.2:51840", 2), false],
    ["nobody should be there", { privateKey: KEY }, dump("203.0.113.2:51840"), false],
    ["the key is another one", { ...wanted, privateKey: PEER }, dump("203.0.113.2:51840"), false],
    ["the port is another one", { ...wanted, listenPort: 51841 }, dump("203.0.113.2:51840"), false],
  ];
  for (const [when, settings, text, expected] of cases) {
    it(`is ${expected ? "" : "not "}in place when ${when}`, () => {
      assert.equal(isTunnelInPlace(settings, parseDump(text)), expected);
    });
  }
});

describe("where a client finds its server", () => {
  const endpoint = (addresses: string[], answers: Record<string, string[]>) => {
    const clock = new TestClock();
    const ending = new AbortController();
    const changes: (string | undefined)[] = [];
    const found: ServerEndpoint = new ServerEndpoint({
      addresses,
      port: 51840,
      checkIntervalMs: 300_000,
      clock,
      log: silentLogger,
      signal: ending.signal,
      onChange: () => changes.push(found.current?.address),
      resolve: (name) =>
        answers[name] === undefined ? Promise.reject(new Error("not found")) : Promise.resolve(answers[name]),
    });
    return { found, changes };
  };

  it("is an address before any name, even where the name comes first and cannot be resolved", async () => {
    const { found } = endpoint(["lb-1.internal.example", "203.0.113.10"], {});
    await found.start();
    assert.deepEqual(found.current, { address: "203.0.113.10", port: 51840 });
  });

  it("is the next one when there is no answer, and the first again after the last", async () => {
    const { found, changes } = endpoint(["203.0.113.10", "gw.example"], { "gw.example": ["203.0.113.11"] });
    await found.look();
    await found.tryNext();
    await found.tryNext();
    assert.deepEqual(changes, ["203.0.113.10", "203.0.113.11", "203.0.113.10"]);
  });

  it("stays while the name still has it, and follows when the name has it no more", async () => {
    const answers: Record<string, string[]> = { "gw.example": ["203.0.113.11", "203.0.113.12"] };
    const { found, changes } = endpoint(["gw.example"], answers);
    await found.look();
    answers["gw.example"] = ["203.0.113.12", "203.0.113.11"];
    await found.look();
    assert.equal(found.current?.address, "203.0.113.11");
    answers["gw.example"] = ["203.0.113.13"];
    await found.look();
    delete answers["gw.example"];
    await found.look();
    assert.deepEqual(changes, ["203.0.113.11", "203.0.113.13"]);
  });

  it("is not known while no name has an answer", async () => {
    const { found, changes } = endpoint(["gw.example"], {});
    await found.look();
    assert.deepEqual([found.current, changes], [undefined, []]);
  });
});
