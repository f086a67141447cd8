import assert from "node:assert/strict";

import type { Tenant } from "../../../runtime/api";
import { changedKeyMessage } from "../../../runtime/authentication/changed-key";
import { generateKeyPair, publicKeyDer, publicKeyFingerprint } from "../../../runtime/identity";
import { createCertificateAuthority } from "../../../runtime/identity/serving-certificate";

describe("the key of a Tenant", () => {
  const base64 = (value: string | Uint8Array) => Buffer.from(value).toString("base64");
  const { certificate, privateKey } = createCertificateAuthority(
    { commonName: "rome", organization: "liqo.io" },
    { notBefore: new Date("2026-01-01"), notAfter: new Date("2027-01-01") },
  );
  const tenant = (publicKey: string | undefined, signedCRT?: string, status = {}): Tenant => ({
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: { name: "rome", namespace: "guests-from-rome" },
    spec: {
      clusterID: "rome",
      authzPolicy: "KeysExchange",
      tenantCondition: "Active",
      ...(publicKey === undefined ? {} : { publicKey }),
    },
    status: signedCRT === undefined ? {} : { authParams: { signedCRT }, ...status },
  });
  const certified = base64(publicKeyDer(privateKey));
  const other = generateKeyPair().publicKey;
  const crt = base64(certificate);

  it("that has a certificate is not told of, in any form", () => {
    assert.equal(changedKeyMessage(tenant(certified, crt)), undefined);
  });
  it("that is another one is told of", () => {
    assert.match(changedKeyMessage(tenant(base64(other), crt)) ?? "", /^spec\.publicKey .* cluster "rome"/);
  });
  it("that came by a rotation is not", () => {
    const rotated = { rotatedPublicKey: publicKeyFingerprint(other) };
    assert.equal(changedKeyMessage(tenant(base64(other), crt, rotated)), undefined);
  });
  it("is not told of before there is a certificate, nor where either cannot be read", () => {
    assert.equal(changedKeyMessage(tenant(base64(other))), undefined);
    assert.equal(changedKeyMessage(tenant(undefined, crt)), undefined);
    assert.equal(changedKeyMessage(tenant("bm8ga2V5", crt)), undefined);
    assert.equal(changedKeyMessage(tenant(base64(other), "bm8gY2VydGlmaWNhdGU=")), undefined);
  });
});
