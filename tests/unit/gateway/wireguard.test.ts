import { spawnSync } from "node:child_process";

import assert from "node:assert/strict";
import type { PublicKey } from "../../../runtime/api";
import { endpointOrder } from "../../../runtime/gateway/server-endpoint";
import { peerKeyOf, wireGuardConfiguration } from "../../../runtime/gateway/wireguard";
import { wireGuardKeyPair } from "../../../runtime/identity";
import { Namespace } from "../networking/namespace";

const rome = wireGuardKeyPair(Buffer.alloc(32, 1));
const milan = wireGuardKeyPair(Buffer.alloc(32, 2));
const turin = wireGuardKeyPair(Buffer.alloc(32, 3));

describe("a WireGuard configuration", () => {
  it("of a server has a port, and a peer without an address", () => {
    const { privateKey } = milan;
    assert.equal(
      wireGuardConfiguration({ privateKey, listenPort: 51840, peer: { publicKey: rome.publicKey } }),
      `[Interface]\nPrivateKey = ${privateKey}\nListenPort = 51840\n\n[Peer]\nPublicKey = ${rome.publicKey}\nAllowedIPs = 0.0.0.0/0\n`,
    );
  });

  it("of a client has the server's address", () => {
    const text = wireGuardConfiguration({
      privateKey: rome.privateKey,
      peer: { publicKey: milan.publicKey, endpoint: { address: "172.30.0.12", port: 31840 } },
    });
    assert.match(text, /^Endpoint = 172\.30\.0\.12:31840$/m);
    assert.doesNotMatch(text, /ListenPort/);
  });

  it("has no peer before its key is known", () => {
    assert.equal(
      wireGuardConfiguration({ privateKey: rome.privateKey }),
      `[Interface]\nPrivateKey = ${rome.privateKey}\n`,
    );
  });

  it("is not made of keys of another length, and does not show them", () => {
    const key = Buffer.alloc(31, 7).toString("base64");
    assert.throws(() => wireGuardConfiguration({ privateKey: key }), {
      message: "the private key has 31 bytes; a WireGuard key has 32, in base64",
    });
  });
});

describe("the key of a PublicKey", () => {
  const object = (publicKey?: string): PublicKey => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "PublicKey",
    metadata: { name: "milan", namespace: "liqo-tenant-milan" },
    spec: publicKey === undefined ? {} : { publicKey },
  });
  it("is its 32 bytes", () => assert.equal(peerKeyOf(object(milan.publicKey)), milan.publicKey));
  for (const [what, key, bytes] of [
    ["missing", undefined, 0],
    ["short", "pOCSkrZRwni5dyxWn1+puxPZ", 18],
  ] as const) {
    it(`is refused when it is ${what}`, () => {
      assert.throws(() => peerKeyOf(object(key)), {
        message: `spec.publicKey of PublicKey liqo-tenant-milan/milan has ${bytes} bytes; a WireGuard key has 32, in base64`,
      });
    });
  }
});

describe("the addresses of a server", () => {
  it("are tried without a name service first", () => {
    assert.deepEqual(
      endpointOrder([
        "lb-1.internal.example",
        "203.0.113.10",
        "",
        "lb-2.example",
        "203.0.113.9",
        "203.0.113.10",
      ]),
      ["203.0.113.10", "203.0.113.9", "lb-1.internal.example", "lb-2.example"],
    );
  });
});

const kernelHasWireGuard =
  spawnSync("unshare", ["-n", "sh", "-c", "command -v wg && ip link add wg0 type wireguard"], {
    stdio: "ignore",
  }).status === 0;
if (kernelHasWireGuard) {
  describe("a WireGuard configuration in the kernel", () => {
    let namespace: Namespace;
    beforeEach(async () => (namespace = await Namespace.open()));
    afterEach(() => namespace.close());

    it("replaces the peer by another, and keeps the learnt address of one that stays", () => {
      const sync = (peer: string, endpoint?: string) =>
        namespace.run(
          "wg syncconf wg0 /dev/stdin; wg show wg0 dump | tail -n +2 | cut -f 1,3,4",
          wireGuardConfiguration({
            privateKey: milan.privateKey,
            listenPort: 51840,
            peer: { publicKey: peer },
          }) + (endpoint ?? ""),
        );
      namespace.run("ip link add wg0 type wireguard");
      assert.equal(sync(rome.publicKey), `${rome.publicKey}\t(none)\t0.0.0.0/0\n`);
      namespace.run(`wg set wg0 peer ${rome.publicKey} endpoint 172.30.0.11:40000`);
      assert.equal(sync(rome.publicKey), `${rome.publicKey}\t172.30.0.11:40000\t0.0.0.0/0\n`);
      assert.equal(sync(turin.publicKey), `${turin.publicKey}\t(none)\t0.0.0.0/0\n`);
      assert.equal(namespace.run("wg show wg0 listen-port").trim(), "51840");
    });
  });
}
