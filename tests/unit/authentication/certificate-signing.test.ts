import assert from "node:assert/strict";
import type { CertificateSigningRequest } from "../../../runtime/api";
import {
  issuance,
  issuanceName,
} from "../../../runtime/authentication/identity-provider/certificate-signing";

const created = "2026-03-01T10:00:00Z";
const seconds = (count: number) => count * 1000;
const request = (status?: CertificateSigningRequest["status"]): CertificateSigningRequest => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name: "liqo-identity-1", creationTimestamp: created },
  spec: { request: "", signerName: "kubernetes.io/kube-apiserver-client" },
  ...(status === undefined ? {} : { status }),
});
const approved = { conditions: [{ type: "Approved", status: "True" }] };

describe("the issuance of a certificate", () => {
  it("begins with approval", () => {
    assert.deepEqual(issuance(request(), seconds(1)), { state: "unapproved" });
  });

  it("waits for the signer for half a minute", () => {
    assert.deepEqual(issuance(request(approved), seconds(10)), { state: "waiting", remainingMs: 20_000 });
    assert.deepEqual(issuance(request(approved), 0), { state: "waiting", remainingMs: 30_000 });
  });

  it("fails when the cluster has no signer, and says what to do", () => {
    const state = issuance(request(approved), seconds(30));
    assert.ok(state.state === "failed");
    assert.match(state.message, /approved and not signed within 30 s.*use a cloud identity instead/);
  });

  for (const type of ["Denied", "Failed"]) {
    it(`fails when the request is ${type}, and says what to do`, () => {
      const state = issuance(
        request({ conditions: [{ type, status: "True", reason: "No", message: "not today" }] }),
        seconds(1),
      );
      assert.ok(state.state === "failed");
      assert.match(state.message, new RegExp(`is ${type} \\(No: not today\\); delete it`));
    });
  }

  it("ends with the certificate, however late", () => {
    const state = issuance(request({ ...approved, certificate: "Y3J0" }), seconds(3600));
    assert.ok(state.state === "issued");
    assert.equal(state.certificate.toString(), "crt");
  });

  it("has a name that follows from what is asked for and what it replaces", () => {
    const [csr, other] = [Buffer.from("csr"), Buffer.from("other")];
    assert.equal(issuanceName(csr, undefined), issuanceName(csr, undefined));
    assert.match(issuanceName(csr, undefined), /^liqo-identity-[0-9a-f]{20}$/);
    const names = [
      issuanceName(csr, undefined),
      issuanceName(other, undefined),
      issuanceName(csr, Buffer.from("first")),
      issuanceName(csr, Buffer.from("second")),
    ];
    assert.equal(new Set(names).size, names.length);
  });
});
