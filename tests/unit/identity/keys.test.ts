import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import nacl from "tweetnacl";
import {
  ed25519KeyPair,
  generateKeyPair,
  generateWireGuardKeyPair,
  KeyError,
  publicKeyDer,
  publicKeyOf,
  readPrivateKey,
  readPublicKey,
  wireGuardKeyPair,
  wireGuardPublicKey,
} from "../../../runtime/identity";

describe("key pairs", () => {
  it("are Ed25519 by default, PKCS#8 and SPKI in PEM", () => {
    const pair = generateKeyPair();
    assert.match(pair.privateKey, /^-----BEGIN PRIVATE KEY-----\n/);
    assert.match(pair.publicKey, /^-----BEGIN PUBLIC KEY-----\n/);
    assert.equal(createPrivateKey(pair.privateKey).asymmetricKeyType, "ed25519");
    assert.equal(publicKeyOf(pair.privateKey), pair.publicKey);
    assert.notEqual(generateKeyPair().privateKey, pair.privateKey);
  });

  it("are RSA with 2048 bits on request", () => {
    const key = readPrivateKey(generateKeyPair("rsa").privateKey);
    assert.equal(key.asymmetricKeyType, "rsa");
    assert.equal(key.asymmetricKeyDetails?.modulusLength, 2048);
  });

  it("of a seed agree with tweetnacl", () => {
    const seed = Buffer.alloc(32, 7);
    const raw = nacl.sign.keyPair.fromSeed(seed).publicKey;
    assert.deepEqual(publicKeyDer(ed25519KeyPair(seed).publicKey).subarray(-32), Buffer.from(raw));
    assert.throws(() => ed25519KeyPair(Buffer.alloc(31)), KeyError);
  });

  it("are read in every encoding that peers use", () => {
    const ec = generateKeyPairSync("ec", { namedCurve: "P-384" });
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    assert.equal(
      readPrivateKey(ec.privateKey.export({ type: "sec1", format: "pem" })).asymmetricKeyType,
      "ec",
    );
    assert.equal(
      readPrivateKey(rsa.privateKey.export({ type: "pkcs1", format: "pem" })).asymmetricKeyType,
      "rsa",
    );
  });

  it("public: the 32 raw bytes of Ed25519 are the same key as its PEM", () => {
    const { publicKey } = generateKeyPair();
    const der = createPublicKey(publicKey).export({ type: "spki", format: "der" });
    assert.deepEqual(publicKeyDer(der.subarray(-32)), der);
    assert.deepEqual(publicKeyDer(Buffer.from(publicKey)), der);
  });

  it("of other types are refused by name, and errors never quote a key", () => {
    const x25519 = generateKeyPairSync("x25519");
    assert.throws(() => readPublicKey(x25519.publicKey), /type x25519: Ed25519, RSA and ECDSA are supported/);
    const broken = generateKeyPair().privateKey.replace("PRIVATE KEY", "PRIVATE SAUSAGE");
    assert.throws(
      () => readPrivateKey(broken),
      (error: unknown) =>
        error instanceof KeyError && !JSON.stringify([error.message, error.cause]).includes("SAUSAGE"),
    );
    assert.throws(() => readPublicKey(Buffer.alloc(31)), KeyError);
  });
});

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
