import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  CertificateError,
  checkCertificate,
  controlPlaneSubject,
  ed25519KeyPair,
  generateKeyPair,
  parseCertificate,
  publicKeyOf,
  renewal,
} from "../../../runtime/identity";
import {
  createCertificateAuthority,
  issueServingCertificate,
} from "../../../runtime/identity/serving-certificate";
import {
  CN,
  extension,
  extensions,
  hostileCertificate,
  O,
  subjectOf,
} from "../../support/hostile-identities";
import { withKeyFile } from "./key-file";

const day = 24 * 60 * 60 * 1000;

describe("certificates", () => {
  it("are read: subject, validity, key", () => {
    const { privateKey, publicKey } = generateKeyPair();
    const pem = withKeyFile(privateKey, (file) =>
      execFileSync("openssl", [
        "req",
        "-x509",
        "-key",
        file,
        "-days",
        "90",
        "-subj",
        "/O=liqo.io/O=second/CN=rome",
      ]),
    );
    const certificate = parseCertificate(pem);
    assert.equal(certificate.commonName, "rome");
    assert.deepEqual(certificate.organizations, ["liqo.io", "second"]);
    assert.equal(certificate.publicKey, publicKey);
    assert.equal(certificate.notAfter.getTime() - certificate.notBefore.getTime(), 90 * day);
    assert.throws(
      () => parseCertificate("-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n"),
      CertificateError,
    );
  });

  const validity = { notBefore: new Date(0), notAfter: new Date(90 * day) };
  it("valid for 90 days: on day 59 not renewed, looked at again after 1.1 days", () => {
    assert.deepEqual(renewal(validity, new Date(59 * day)), {
      due: false,
      checkAgainAfterMs: Math.round(1.1 * day),
    });
  });
  it("valid for 90 days: on day 60 and later renewed", () => {
    assert.deepEqual(renewal(validity, new Date(60 * day)), { due: true });
    assert.deepEqual(renewal(validity, new Date(91 * day)), { due: true });
  });
});

const rome = controlPlaneSubject("rome");
const consumer = ed25519KeyPair(Buffer.alloc(32, 2));
const other = ed25519KeyPair(Buffer.alloc(32, 3));
const good = subjectOf([O, "liqo.io"], [CN, "rome"]);

describe("a certificate that a signer answers with", () => {
  const expected = { subject: rome, publicKey: consumer.publicKey, purpose: "client" } as const;
  const usual = [extensions.digitalSignature, extensions.client, extensions.noAuthority];
  const whole = { subject: good, publicKey: consumer.publicKey, extensions: usual };

  it("is handed out as it was read: without text around it, with those that follow", () => {
    const pem = hostileCertificate(whole);
    assert.equal(checkCertificate(pem, expected), pem);
    const authority = createCertificateAuthority(rome, {
      notBefore: new Date("2026-01-01"),
      notAfter: new Date("2036-01-01"),
    }).certificate;
    assert.equal(checkCertificate(`of rome\n${pem}of milan\n${authority}`, expected), pem + authority);
    const other = [extensions.client, extensions.unknown];
    assert.ok(checkCertificate(hostileCertificate({ ...whole, extensions: other }), expected));
  });

  it("may have run out, unless it is asked when", () => {
    const pem = hostileCertificate({ ...whole, validity: ["200101000000Z", "210101000000Z"] });
    checkCertificate(pem, expected);
    assert.throws(() => checkCertificate(pem, { ...expected, now: new Date() }), /expired at 2021-01-01T/);
    checkCertificate(pem, { ...expected, now: new Date("2020-06-01") });
  });

  const withSubject = (subject: Buffer) => ({ ...whole, subject });
  const withExtensions = (...list: Buffer[]) => ({ ...whole, extensions: list });
  const refused: [string, Parameters<typeof hostileCertificate>[0], RegExp][] = [
    [
      "another user",
      withSubject(subjectOf([O, "liqo.io"], [CN, "turin"])),
      /common name of the certificate is "turin", expected "rome"/,
    ],
    [
      "one more user",
      withSubject(subjectOf([O, "liqo.io"], [CN, "rome"], [CN, "turin"])),
      /expected "rome" alone/,
    ],
    [
      "another group",
      withSubject(subjectOf([O, "system:masters"], [CN, "rome"])),
      /"system:masters", expected "liqo\.io"/,
    ],
    [
      "one more group",
      withSubject(
        subjectOf(
          [
            [O, "liqo.io"],
            [O, "system:masters"],
          ],
          [CN, "rome"],
        ),
      ),
      /"liqo\.io" alone/,
    ],
    [
      "one more attribute",
      withSubject(subjectOf([O, "liqo.io"], [CN, "rome"], ["2.5.4.5", "7"])),
      /2\.5\.4\.5/,
    ],
    ["another key", { ...whole, publicKey: other.publicKey }, /another public key than its request/],
    [
      "an authority's rights",
      withExtensions(extensions.client, extensions.authority),
      /certificate authority's/,
    ],
    [
      "an authority's usage",
      withExtensions(extensions.client, extensions.signsCertificates),
      /bit 5 of keyUsage/,
    ],
    [
      "no purpose",
      withExtensions(extensions.noAuthority),
      /is for no purpose, expected client authentication alone/,
    ],
    ["a server's purpose", withExtensions(extensions.server), /expected client authentication alone/],
    ["two purposes", withExtensions(extensions.clientAndServer), /expected client authentication alone/],
    ["any purpose", withExtensions(extensions.anyPurpose), /is for 2\.5\.29\.37\.0/],
    ["the purpose twice", withExtensions(extensions.client, extensions.client), /twice/],
    ["a URI", withExtensions(...usual, extensions.uri), /alternative names URI, expected none/],
    [
      "an address",
      withExtensions(...usual, extensions.address),
      /alternative names 10\.0\.0\.7, expected none/,
    ],
    [
      "an unknown critical extension",
      withExtensions(...usual, extensions.unknownCritical),
      /critical extension 1\.3\.6/,
    ],
    ["extensions that are none", withExtensions(extension("2.5.29.37", Buffer.from("x"))), /not readable/],
    ["no end", { ...whole, validity: ["260101000000Z", "99991231235959Z"] }, /a hundred years at most/],
    [
      "an end before its beginning",
      { ...whole, validity: ["360101000000Z", "260101000000Z"] },
      /ends before it begins/,
    ],
  ];
  for (const [title, wanted, words] of refused) {
    it(`is not handed out with ${title}`, () => {
      assert.throws(
        () => checkCertificate(hostileCertificate(wanted), expected),
        (error: unknown) => error instanceof CertificateError && words.test(error.message),
      );
    });
  }

  it("is not handed out where it is none, or another follows it that is none", () => {
    const pem = hostileCertificate(whole);
    const key = "-----BEGIN PRIVATE KEY-----\nAQID\n-----END PRIVATE KEY-----\n";
    for (const text of ["", "garbage", key, pem + key])
      assert.throws(() => checkCertificate(text, expected), /expected a PEM block `CERTIFICATE`/);
  });

  it("of a server is for just the addresses that it asked for", () => {
    const validity = { notBefore: new Date("2026-01-01"), notAfter: new Date("2036-01-01") };
    const node = { commonName: "system:node:milan", organization: "system:nodes" };
    const authority = createCertificateAuthority(rome, validity);
    const issued = issueServingCertificate(authority, node, { ip: ["10.0.0.7", "fd00::7"] }, validity);
    const publicKey = publicKeyOf(issued.privateKey);
    const judge = (...addresses: string[]) =>
      checkCertificate(issued.certificate, { subject: node, publicKey, purpose: "server", addresses });
    assert.equal(judge("fd00:0::7", "10.0.0.7"), issued.certificate);
    assert.throws(() => judge("10.0.0.7"), /alternative names 10\.0\.0\.7, fd00::7, expected 10\.0\.0\.7/);
    assert.throws(() => judge("10.0.0.8", "fd00::7"), /expected 10\.0\.0\.8, fd00::7/);
  });
});
