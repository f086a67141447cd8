import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, sign as signBytes } from "node:crypto";
import {
  checkCertificateRequest,
  certificateRequestDer,
  controlPlaneSubject,
  createCertificateRequest,
  decodePem,
  ed25519KeyPair,
  encodePem,
  generateKeyPair,
  InvalidCertificateRequest,
  parseCertificateRequest,
  peeringUserSubject,
  publicKeyDer,
  resourceSliceSubject,
  resourceSliceUser,
} from "../../../runtime/identity";
import { withKeyFile } from "./key-file";

describe("certificate subjects", () => {
  for (const [slice, consumer, user] of [
    ["mypool", "wispy-firefly", "mypool-c34af51dd912"],
    ["s", "cl-consumer", "s-573ffa690333"],
    ["s", "cl01", "s-ea7d977b605f"],
    ["pool", "rome", "pool-a8a4c692b93b"],
    ["pool", "cluster1", "pool-a140791d2b20"],
  ] as const) {
    it(`slice ${slice} of ${consumer} is ${user}`, () => {
      assert.equal(resourceSliceUser(slice, consumer), user);
      assert.deepEqual(resourceSliceSubject(slice, consumer), { commonName: user, organization: consumer });
    });
  }

  it("control plane and peering user belong to liqo.io", () => {
    assert.deepEqual(controlPlaneSubject("rome"), { commonName: "rome", organization: "liqo.io" });
    assert.deepEqual(peeringUserSubject("rome", Buffer.alloc(16, 0xab)), {
      commonName: `liqo-peer-user-rome-${"ab".repeat(16)}`,
      organization: "liqo.io",
    });
    assert.notDeepEqual(peeringUserSubject("rome"), peeringUserSubject("rome"));
  });
});

describe("certificate requests", () => {
  const pair = ed25519KeyPair(Buffer.alloc(32, 1));
  const subject = controlPlaneSubject("cl01");

  it("of an Ed25519 key have the expected DER: 163 bytes", () => {
    const der = certificateRequestDer(createCertificateRequest(subject, pair.privateKey));
    assert.equal(der?.length, 163);
    const spki = publicKeyDer(pair.publicKey).toString("hex");
    const text = (value: string) => Buffer.from(value).toString("hex");
    const organization = `3110300e060355040a1307${text("liqo.io")}`;
    const commonName = `310d300b06035504031304${text("cl01")}`;
    const info = `30540201003021${organization}${commonName}${spki}a000`;
    const signature = signBytes(null, Buffer.from(info, "hex"), pair.privateKey).toString("hex");
    assert.equal(der.toString("hex"), `3081a0${info}300506032b6570034100${signature}`);
  });

  it("are reproducible with Ed25519 and RSA", () => {
    for (const { privateKey } of [pair, generateKeyPair("rsa")]) {
      assert.equal(
        createCertificateRequest(subject, privateKey),
        createCertificateRequest(subject, privateKey),
      );
    }
  });

  const ec = (curve: string) =>
    generateKeyPairSync("ec", { namedCurve: curve })
      .privateKey.export({ type: "pkcs8", format: "pem" })
      .toString();
  const privateKeys = {
    ed25519: pair.privateKey,
    rsa: generateKeyPair("rsa").privateKey,
    "P-256": ec("P-256"),
    "P-384": ec("P-384"),
    "P-521": ec("P-521"),
  };
  const algorithms = {
    ed25519: "ED25519",
    rsa: "sha256WithRSAEncryption",
    "P-256": "ecdsa-with-SHA256",
    "P-384": "ecdsa-with-SHA384",
    "P-521": "ecdsa-with-SHA512",
  };
  for (const type of Object.keys(privateKeys) as (keyof typeof privateKeys)[]) {
    it(`with ${type}: openssl verifies them and reads the subject`, () => {
      const input = createCertificateRequest(subject, privateKeys[type]);
      const text = execFileSync("openssl", ["req", "-verify", "-noout", "-text", "-nameopt", "RFC2253"], {
        input,
        stdio: ["pipe", "pipe", "pipe"],
      }).toString();
      assert.match(text, /Subject: CN=cl01,O=liqo\.io/);
      assert.ok(text.includes(`Signature Algorithm: ${algorithms[type]}`), text);
      const read = parseCertificateRequest(input);
      assert.deepEqual(
        [read.commonName, read.organizations, read.signatureValid],
        ["cl01", ["liqo.io"], true],
      );
    });
  }

  it("carry alternative names for serving certificates", () => {
    const input = createCertificateRequest(
      { commonName: "system:node:milan", organization: "system:nodes" },
      ec("P-256"),
      {
        dns: ["milan.example"],
        ip: ["10.9.8.7", "fd00::1"],
      },
    );
    const text = execFileSync("openssl", ["req", "-verify", "-noout", "-text"], {
      input,
      stdio: ["pipe", "pipe", "pipe"],
    }).toString();
    assert.match(text, /DNS:milan\.example, IP Address:10\.9\.8\.7, IP Address:FD00:0:0:0:0:0:0:1/);
    assert.throws(
      () => createCertificateRequest(subject, pair.privateKey, { ip: ["10.9.8"] }),
      /"10\.9\.8" is not an IP address/,
    );
  });

  it("made by openssl are read, several organizations and UTF-8 included", () => {
    const made = withKeyFile(generateKeyPair("rsa").privateKey, (file) =>
      execFileSync("openssl", [
        "req",
        "-new",
        "-utf8",
        "-key",
        file,
        "-subj",
        "/C=IT/O=città/O=second/CN=roma",
      ]),
    );
    const read = parseCertificateRequest(made);
    assert.deepEqual(
      [read.commonName, read.organizations, read.signatureValid],
      ["roma", ["città", "second"], true],
    );
  });
});

describe("the checks of a peer's certificate request", () => {
  const consumer = ed25519KeyPair(Buffer.alloc(32, 2));
  const other = ed25519KeyPair(Buffer.alloc(32, 3));
  const rome = controlPlaneSubject("rome");
  const good = createCertificateRequest(rome, consumer.privateKey);
  const expected = { subject: rome, publicKey: consumer.publicKey };

  it("pass for the right one, whatever encoding the tenant's key has", () => {
    assert.equal(checkCertificateRequest(good, expected).commonName, "rome");
    checkCertificateRequest(Buffer.from(good), {
      subject: rome,
      publicKey: publicKeyDer(consumer.publicKey).subarray(-32),
    });
    checkCertificateRequest(createCertificateRequest(rome, other.privateKey), { subject: rome });
  });

  const der = certificateRequestDer(good) ?? Buffer.alloc(0);
  const tampered = Buffer.from(der);
  tampered[tampered.length - 1] = (tampered.at(-1) ?? 0) ^ 1;
  const failures: [string, string, RegExp][] = [
    ["no PEM block", "hello", /holds no PEM block/],
    [
      "another label",
      good.replaceAll("CERTIFICATE REQUEST", "CERTIFICATE"),
      /labelled "CERTIFICATE", expected "CERTIFICATE REQUEST"/,
    ],
    ["text after the block", `${good}x`, /1 characters after its PEM block/],
    ["a second block", good + good, /after its PEM block/],
    ["no PKCS#10", encodePem("CERTIFICATE REQUEST", der.subarray(0, 100)), /not valid PKCS#10/],
    [
      "another name",
      createCertificateRequest(controlPlaneSubject("milan"), consumer.privateKey),
      /common name .* is "milan", expected "rome"/,
    ],
    [
      "another organization",
      createCertificateRequest({ ...rome, organization: "rome" }, consumer.privateKey),
      /organization .* is "rome", expected "liqo.io"/,
    ],
    [
      "no organization",
      createCertificateRequest({ ...rome, organization: "" }, consumer.privateKey),
      /organization .* is missing, expected "liqo.io"/,
    ],
    ["another key", createCertificateRequest(rome, other.privateKey), /another public key than the tenant's/],
    ["a broken signature", encodePem("CERTIFICATE REQUEST", tampered), /not signed with the key it is for/],
  ];
  for (const [name, pem, message] of failures) {
    it(`refuse ${name}`, () => {
      assert.throws(
        () => checkCertificateRequest(pem, expected),
        (error: unknown) => error instanceof InvalidCertificateRequest && message.test(error.message),
      );
    });
  }

  it("look at the name before the organization before the key", () => {
    const wrongInAll = createCertificateRequest({ commonName: "milan", organization: "x" }, other.privateKey);
    assert.throws(() => checkCertificateRequest(wrongInAll, expected), /common name/);
    const wrongInTwo = createCertificateRequest({ commonName: "rome", organization: "x" }, other.privateKey);
    assert.throws(() => checkCertificateRequest(wrongInTwo, expected), /organization/);
  });

  it("PEM keeps what follows the block", () => {
    assert.deepEqual(decodePem("noise\n-----BEGIN A-----\nAQID\n-----END A-----\nrest"), {
      label: "A",
      der: Buffer.from([1, 2, 3]),
      before: "noise\n",
      rest: "rest",
    });
    assert.equal(decodePem("-----BEGIN A-----\nAQID\n-----END B-----\n"), undefined);
  });
});
