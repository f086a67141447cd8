import assert from "node:assert/strict";
import { generateKeyPairSync, verify } from "node:crypto";
import {
  generateKeyPair,
  generateNonce,
  publicKeyDer,
  signNonce,
  verifyNonce,
} from "../../../runtime/identity";

describe("nonces", () => {
  it("are the base64 text of 64 bytes", () => {
    const nonce = generateNonce();
    assert.equal(nonce.length, 88);
    assert.equal(Buffer.from(nonce, "base64").length, 64);
    assert.notEqual(generateNonce(), nonce);
  });

  const ec = (namedCurve: string) => {
    const pair = generateKeyPairSync("ec", { namedCurve });
    return {
      privateKey: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      publicKey: pair.publicKey.export({ type: "spki", format: "pem" }).toString(),
    };
  };
  const pairs = {
    ed25519: generateKeyPair(),
    rsa: generateKeyPair("rsa"),
    "ecdsa p-256": ec("P-256"),
    "ecdsa p-521": ec("P-521"),
  };

  for (const [type, pair] of Object.entries(pairs)) {
    it(`signed with ${type} verify against that key, that text and no other`, () => {
      const nonce = generateNonce();
      const signature = signNonce(nonce, pair.privateKey);
      assert.equal(verifyNonce(nonce, signature, pair.publicKey), true);
      assert.equal(verifyNonce(Buffer.from(nonce), signature, Buffer.from(pair.publicKey)), true);
      assert.equal(verifyNonce(generateNonce(), signature, pair.publicKey), false);
      assert.equal(verifyNonce(nonce, signature.subarray(1), pair.publicKey), false);
      assert.equal(verifyNonce(nonce, signature, generateKeyPair().publicKey), false);
      assert.equal(
        verifyNonce(Buffer.from(nonce, "base64"), signature, pair.publicKey),
        false,
        "the text is signed, not its bytes",
      );
    });
  }

  it("are signed the way peers verify: pure Ed25519 of 64 bytes, SHA-256 for RSA and for every curve", () => {
    const nonce = generateNonce();
    assert.equal(signNonce(nonce, pairs.ed25519.privateKey).length, 64);
    for (const type of ["rsa", "ecdsa p-521"] as const) {
      const { privateKey, publicKey } = pairs[type];
      assert.equal(verify("sha256", Buffer.from(nonce), publicKey, signNonce(nonce, privateKey)), true);
    }
  });

  it("are the same signature each time with Ed25519 and RSA, also against a raw key", () => {
    const nonce = generateNonce();
    for (const { privateKey } of [pairs.ed25519, pairs.rsa]) {
      assert.deepEqual(signNonce(nonce, privateKey), signNonce(nonce, privateKey));
    }
    const raw = publicKeyDer(pairs.ed25519.publicKey).subarray(-32);
    assert.equal(verifyNonce(nonce, signNonce(nonce, pairs.ed25519.privateKey), raw), true);
  });
});
