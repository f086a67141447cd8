import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { CertificateError, generateKeyPair, parseCertificate, renewal } from "../../../runtime/identity";
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
