import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import type { Secret, Tenant } from "../../../runtime/api";
import { verifyHandshake } from "../../../runtime/authentication/handshake";
import {
  controlPlaneSubject,
  createCertificateRequest,
  ed25519KeyPair,
  generateKeyPair,
  generateNonce,
  type KeyPair,
  publicKeyDer,
  signNonce,
} from "../../../runtime/identity";

const nonce = generateNonce();
const consumer = ed25519KeyPair(Buffer.alloc(32, 7));
const other = ed25519KeyPair(Buffer.alloc(32, 8));
const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes).toString("base64");

const nonceSecret = (value: string | undefined, name = "liqo-nonce"): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "liqo-tenant-rome" },
  ...(value === undefined ? {} : { data: { nonce: base64(value) } }),
});

function tenant(keys: KeyPair, over: Partial<Tenant["spec"]> = {}): Tenant {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: { name: "rome", namespace: "liqo-tenant-rome" },
    spec: {
      clusterID: "rome",
      authzPolicy: "KeysExchange",
      tenantCondition: "Active",
      publicKey: base64(keys.publicKey),
      csr: base64(createCertificateRequest(controlPlaneSubject("rome"), keys.privateKey)),
      signature: base64(signNonce(nonce, keys.privateKey)),
      ...over,
    },
  };
}

const ecdsa = (namedCurve: string): KeyPair =>
  generateKeyPairSync("ec", {
    namedCurve,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });

describe("the handshake", () => {
  const keys: [string, KeyPair][] = [
    ["Ed25519", consumer],
    ["RSA", generateKeyPair("rsa")],
    ["ECDSA P-256", ecdsa("P-256")],
    ["ECDSA P-384", ecdsa("P-384")],
  ];
  for (const [type, pair] of keys) {
    it(`is verified with a key of type ${type}`, () => {
      assert.deepEqual(verifyHandshake(tenant(pair), [nonceSecret(nonce)]), { outcome: "verified" });
    });
  }

  it("is verified with a raw public key of 32 bytes, as old peers send it", () => {
    const raw = publicKeyDer(consumer.publicKey).subarray(-32);
    assert.equal(raw.length, 32);
    assert.deepEqual(verifyHandshake(tenant(consumer, { publicKey: base64(raw) }), [nonceSecret(nonce)]), {
      outcome: "verified",
    });
  });

  const failures: [string, Tenant, Secret[], string, string, RegExp][] = [
    ["no nonce", tenant(consumer), [], "waiting", "NonceNotFound", /no nonce Secret for cluster "rome"/],
    ["an empty nonce", tenant(consumer), [nonceSecret(undefined)], "waiting", "NonceNotFound", /still empty/],
    [
      "two nonces",
      tenant(consumer),
      [nonceSecret(nonce, "b"), nonceSecret(nonce, "a")],
      "waiting",
      "NonceNotFound",
      /liqo-tenant-rome\/a, liqo-tenant-rome\/b/,
    ],
    [
      "another nonce",
      tenant(consumer),
      [nonceSecret(generateNonce())],
      "refused",
      "SignatureVerificationFailed",
      /spec\.signature/,
    ],
    [
      "the signature of another key",
      tenant(consumer, { signature: base64(signNonce(nonce, other.privateKey)) }),
      [nonceSecret(nonce)],
      "refused",
      "SignatureVerificationFailed",
      /spec\.signature/,
    ],
    [
      "no public key",
      tenant(consumer, { publicKey: undefined }),
      [nonceSecret(nonce)],
      "refused",
      "SignatureVerificationFailed",
      /spec\.publicKey/,
    ],
    [
      "no request",
      tenant(consumer, { csr: undefined }),
      [nonceSecret(nonce)],
      "refused",
      "InvalidCSR",
      /spec\.csr/,
    ],
    [
      "a request for another cluster",
      tenant(consumer, {
        csr: base64(createCertificateRequest(controlPlaneSubject("turin"), consumer.privateKey)),
      }),
      [nonceSecret(nonce)],
      "refused",
      "InvalidCSR",
      /"turin"/,
    ],
    [
      "a request of another key",
      tenant(consumer, {
        csr: base64(createCertificateRequest(controlPlaneSubject("rome"), other.privateKey)),
      }),
      [nonceSecret(nonce)],
      "refused",
      "InvalidCSR",
      /another public key/,
    ],
    [
      "a request for a cluster administrator",
      tenant(consumer, {
        csr: base64(
          createCertificateRequest(
            { commonName: "rome", organization: "system:masters" },
            consumer.privateKey,
          ),
        ),
      }),
      [nonceSecret(nonce)],
      "refused",
      "InvalidCSR",
      /system:masters/,
    ],
  ];
  for (const [title, object, nonces, outcome, reason, message] of failures) {
    it(`${outcome === "waiting" ? "waits" : "is refused"} with ${title}`, () => {
      const result = verifyHandshake(object, nonces);
      assert.ok(result.outcome !== "verified");
      assert.deepEqual([result.outcome, result.reason], [outcome, reason]);
      assert.match(result.message, message);
    });
  }
});
