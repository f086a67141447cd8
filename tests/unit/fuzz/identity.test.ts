import assert from "node:assert/strict";

import fc from "fast-check";

import {
  buildKubeconfig,
  CertificateError,
  checkCertificateRequest,
  controlPlaneSubject,
  createCertificateRequest,
  decodePem,
  encodePem,
  generateKeyPair,
  generateNonce,
  InvalidCertificateRequest,
  KubeconfigError as IdentityKubeconfigError,
  parseCertificate,
  parseCertificateRequest,
  parseKubeconfig as parseIdentityKubeconfig,
  publicKeyDer,
  signNonce,
  usableKubeconfig,
  verifyNonce,
} from "../../../runtime/identity";
import { KeyError, readPrivateKey, readPublicKey } from "../../../runtime/identity/keys";
import { createCertificateAuthority } from "../../../runtime/identity/serving-certificate";
import { KubeconfigError, parseKubeconfig } from "../../../runtime/kube";
import { anyText, mutated, mutation, runs, timed } from "./mutation";

const keys = { ed25519: generateKeyPair(), rsa: generateKeyPair("rsa") };
const subject = controlPlaneSubject("rome");

/** What a parser did with an input: took it, or refused it in the words that it promises. */
function outcome(
  parse: () => unknown,
  refusals: readonly (new (...args: never[]) => Error)[],
): "taken" | "refused" {
  try {
    parse();
    return "taken";
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return "refused";
    throw error;
  }
}

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  anyText.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((der) => Buffer.from(encodePem("CERTIFICATE REQUEST", der))),
  fc.uint8Array({ maxLength: 200 }).map((der) => Buffer.from(encodePem("CERTIFICATE", der))),
  fc.uint8Array({ maxLength: 200 }).map((der) => Buffer.from(encodePem("PUBLIC KEY", der))),
);

describe("parsers of identities, given anything", function () {
  this.timeout(180_000);

  for (const [type, pair] of Object.entries(keys)) {
    const request = createCertificateRequest(subject, pair.privateKey);
    const der = decodePem(request)?.der ?? Buffer.alloc(0);
    const expected = { subject, publicKey: pair.publicKey };

    it(`a ${type} certificate request that was changed in any byte is refused`, () => {
      checkCertificateRequest(request, expected);
      fc.assert(
        fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
          const changed = mutated(der, mutations);
          fc.pre(!changed.equals(der));
          const pem = encodePem("CERTIFICATE REQUEST", changed);
          assert.equal(
            outcome(() => checkCertificateRequest(pem, expected), [InvalidCertificateRequest]),
            "refused",
          );
        }),
        runs(400),
      );
    });

    it(`a ${type} certificate request with changed armour is refused, or is the same request`, () => {
      fc.assert(
        fc.property(fc.array(mutation, { minLength: 1, maxLength: 2 }), (mutations) => {
          const changed = mutated(Buffer.from(request), mutations);
          if (
            outcome(() => checkCertificateRequest(changed, expected), [InvalidCertificateRequest]) === "taken"
          ) {
            assert.deepEqual(decodePem(changed.toString())?.der, der);
          }
        }),
        runs(300),
      );
    });

    it(`the signature of a nonce by a ${type} key is for that nonce and that key alone`, () => {
      const nonce = generateNonce();
      const signature = signNonce(nonce, pair.privateKey);
      assert.ok(verifyNonce(nonce, signature, pair.publicKey));
      fc.assert(
        fc.property(
          fc.array(mutation, { minLength: 1, maxLength: 2 }),
          fc.boolean(),
          (mutations, ofNonce) => {
            const original = ofNonce ? Buffer.from(nonce) : signature;
            const changed = mutated(original, mutations);
            fc.pre(!changed.equals(original));
            const valid = ofNonce
              ? verifyNonce(changed, signature, pair.publicKey)
              : verifyNonce(nonce, changed, pair.publicKey);
            assert.equal(valid, false);
          },
        ),
        runs(200),
      );
    });
  }

  it("what is no certificate request, certificate or key is refused in one sentence", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        assert.equal(
          outcome(() => parseCertificateRequest(bytes), [InvalidCertificateRequest]),
          "refused",
        );
        assert.equal(
          outcome(() => parseCertificate(bytes), [CertificateError]),
          "refused",
        );
        assert.equal(
          outcome(() => readPrivateKey(bytes), [KeyError]),
          "refused",
        );
        if (bytes.length !== 32)
          assert.equal(
            outcome(() => readPublicKey(bytes), [KeyError]),
            "refused",
          );
      }),
      runs(400),
    );
  });

  it("any 32 bytes are a raw key, with which nothing verifies that it did not sign", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array(), (key, signature) => {
        assert.equal(publicKeyDer(key).length, 44);
        assert.equal(verifyNonce("nonce", signature, key), false);
      }),
      runs(100),
    );
  });

  it("a changed certificate is refused, or read to the end: dates are dates, the key is a key", () => {
    const { certificate } = createCertificateAuthority(
      { commonName: "rome", organization: "liqo.io" },
      { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2036-01-01T00:00:00Z") },
    );
    const der = decodePem(certificate)?.der ?? Buffer.alloc(0);
    assert.equal(parseCertificate(certificate).commonName, "rome");
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 2 }), (mutations) => {
        const pem = encodePem("CERTIFICATE", mutated(der, mutations));
        outcome(() => {
          const read = parseCertificate(pem);
          assert.ok(read.notAfter.getTime() > read.notBefore.getTime());
          publicKeyDer(read.publicKey);
        }, [CertificateError, KeyError]);
      }),
      runs(400),
    );
  });

  it("PEM keeps what it was given, and takes no other text for it", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.array(mutation, { maxLength: 1 }),
        (der, mutations) => {
          const pem = encodePem("CERTIFICATE", der);
          assert.deepEqual(decodePem(pem)?.der, Buffer.from(der));
          const changed = decodePem(mutated(Buffer.from(pem), mutations).toString("latin1"));
          if (changed === undefined) return;
          assert.equal(encodePem(changed.label, changed.der).length > 0, true);
        },
      ),
      runs(300),
    );
    for (const body of ["A", "A===", "AAAA=AAA", "", "AA=A"])
      assert.equal(decodePem(`-----BEGIN X-----\n${body}\n-----END X-----\n`), undefined, body);
  });

  it("PEM of any size is read in no time", () => {
    for (const text of [
      "-----BEGIN ".repeat(100_000),
      `-----BEGIN ${"A".repeat(1_000_000)}`,
      "-----BEGIN X-----\n".repeat(50_000),
      `-----BEGIN X-----\n${"A".repeat(1_000_000)}`,
    ]) {
      const took = timed(() => decodePem(text));
      assert.ok(took < 1_000, `${text.slice(0, 30)}… took ${took} ms`);
    }
  });
});

describe("parsers of kubeconfigs, given anything", function () {
  this.timeout(180_000);
  const { certificate, privateKey } = createCertificateAuthority(
    { commonName: "rome", organization: "liqo.io" },
    { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2036-01-01T00:00:00Z") },
  );
  const good = buildKubeconfig({
    providerClusterId: "milan",
    identityName: "controlplane-milan",
    server: "https://192.0.2.7:6443",
    ca: certificate,
    certificate,
    privateKey,
    namespace: "guests-from-rome",
  });
  const secret = Buffer.from(privateKey).toString("base64");

  const readAll = (text: string) => {
    outcome(() => parseKubeconfig(text, { selfContained: true }), [KubeconfigError]);
    outcome(() => parseIdentityKubeconfig(text), [IdentityKubeconfigError]);
    usableKubeconfig({ kubeconfig: Buffer.from(text).toString("base64") }, new Date());
  };

  it("refuse in their own words, or take", () => {
    readAll(good);
    fc.assert(fc.property(anyText, readAll), runs(150));
    fc.assert(
      fc.property(fc.json(), (json) => readAll(json)),
      runs(100),
    );
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) =>
        readAll(mutated(Buffer.from(good), mutations).toString("latin1")),
      ),
      runs(150),
    );
  });

  it("never repeat a key that stands in them, whatever is wrong", () => {
    const warnings: string[] = [];
    const listen = (warning: Error) => warnings.push(warning.message);
    process.on("warning", listen);
    const broken = [
      good.replace("client-key-data: ", "client-key-data: !unknown "),
      good.replace("client-key-data: ", "client-key-data: &a [*a, "),
      good.replace("client-key-data: ", "client-key-data: {"),
      good.replace("client-key-data: ", "client-key-data: \t"),
      good.replace("client-key-data: ", "token: *"),
      `{${good}`,
    ];
    for (const text of broken) {
      for (const parse of [() => parseKubeconfig(text), () => parseIdentityKubeconfig(text)]) {
        try {
          parse();
        } catch (error) {
          assert.ok(error instanceof Error && error.cause === undefined);
          assert.ok(!error.message.includes(secret.slice(0, 20)), error.message);
        }
      }
    }
    return new Promise<void>((resolve, reject) =>
      setImmediate(() => {
        process.removeListener("warning", listen);
        const told = warnings.filter((warning) => warning.includes(secret.slice(0, 20)));
        if (told.length === 0) resolve();
        else reject(new Error(`${told.length} warnings quote the key`));
      }),
    );
  });

  it("do not unfold what aliases multiply", () => {
    const rows = Array.from(
      { length: 30 },
      (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}*a${index}]`,
    );
    const bomb = `a0: &a0 x\n${rows.join("\n")}\ncurrent-context: *a30\n`;
    const took = timed(() => readAll(bomb));
    assert.ok(took < 2_000, `${took} ms`);
  });
});
