import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey } from "node:crypto";
import fc from "fast-check";
import {
  generateWireGuardKeyPair,
  KeyError,
  wireGuardKeyPair,
  wireGuardPublicKey,
} from "../../../runtime/identity";

/** The public key as OpenSSL computes it. */
function publicKeyByOpenssl(privateKey: string): string {
  const der = Buffer.concat([
    Buffer.from("302e020100300506032b656e04220420", "hex"),
    Buffer.from(privateKey, "base64"),
  ]);
  const key = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
  return key.export({ type: "spki", format: "der" }).subarray(-32).toString("base64");
}

describe("WireGuard keys", () => {
  it("are 44 characters each, and new each time", () => {
    const pair = generateWireGuardKeyPair();
    assert.deepEqual([pair.privateKey.length, pair.publicKey.length], [44, 44]);
    assert.notEqual(generateWireGuardKeyPair().privateKey, pair.privateKey);
  });

  it("agree with OpenSSL bit for bit and are clamped", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        const pair = wireGuardKeyPair(seed);
        assert.equal(pair.publicKey, publicKeyByOpenssl(pair.privateKey));
        assert.equal(wireGuardPublicKey(pair.privateKey), pair.publicKey);
        const bytes = Buffer.from(pair.privateKey, "base64");
        assert.equal((bytes[0] ?? 0) & 7, 0);
        assert.equal((bytes[31] ?? 0) & 0xc0, 0x40);
      }),
      { numRuns: 50 },
    );
  });

  it("of another length are refused", () => {
    assert.throws(() => wireGuardPublicKey("AAAA"), KeyError);
  });
});
