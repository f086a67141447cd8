import assert from "node:assert/strict";
import type { Tenant } from "../../../runtime/api";
import {
  changedKeyMessage,
  isReplaced,
  isRotated,
  keyReplacement,
} from "../../../runtime/authentication/tenant-key";
import {
  controlPlaneSubject,
  createCertificateRequest,
  generateKeyPair,
  publicKeyDer,
  publicKeyFingerprint,
  publicKeyOf,
} from "../../../runtime/identity";
import { createCertificateAuthority } from "../../../runtime/identity/serving-certificate";

const base64 = (value: string) => Buffer.from(value).toString("base64");
const { certificate, privateKey } = createCertificateAuthority(
  { commonName: "rome", organization: "liqo.io" },
  { notBefore: new Date("2026-01-01"), notAfter: new Date("2027-01-01") },
);
const certified = publicKeyOf(privateKey);
const [present, other] = [generateKeyPair(), generateKeyPair()];
const print = publicKeyFingerprint;

function tenant(
  publicKey: string,
  status: Tenant["status"],
  annotations: Record<string, string> = {},
  spec: Partial<Tenant["spec"]> = {},
): Tenant {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: { name: "rome", namespace: "guests-from-rome", annotations },
    spec: {
      clusterID: "rome",
      authzPolicy: "KeysExchange",
      tenantCondition: "Active",
      publicKey: base64(publicKey),
      ...spec,
    },
    status,
  };
}

describe("whether a Tenant's key came by a rotation", () => {
  const authParams = { signedCRT: base64(certificate) };
  const annotated = (key: string) => ({ "liqo.io/rotated-public-key": print(key) });
  const rows: [title: string, object: Tenant, rotated: boolean][] = [
    ["nothing says so", tenant(present.publicKey, {}), false],
    ["the status says so", tenant(present.publicKey, { rotatedPublicKey: print(present.publicKey) }), true],
    [
      "the status says so of another",
      tenant(present.publicKey, { rotatedPublicKey: print(other.publicKey) }),
      false,
    ],
    [
      "an annotation says so, and nothing else",
      tenant(present.publicKey, {}, annotated(present.publicKey)),
      false,
    ],
    [
      "an annotation says so, and the certificate is of another",
      tenant(present.publicKey, { authParams }, annotated(present.publicKey)),
      false,
    ],
    [
      "an annotation of an earlier version says so of the key that has the certificate",
      tenant(certified, { authParams }, annotated(certified)),
      true,
    ],
    ["it has the certificate, and there was no rotation", tenant(certified, { authParams }), false],
    [
      "between the two writes of a rotation the key before counts, which has the certificate",
      tenant(certified, { authParams, rotatedPublicKey: print(other.publicKey) }),
      true,
    ],
    ["there is no key", tenant("none", { rotatedPublicKey: print(other.publicKey) }), false],
    [
      "the certificate can't be read",
      tenant(certified, { authParams: { signedCRT: "bm9uZQ==" }, rotatedPublicKey: print(other.publicKey) }),
      false,
    ],
  ];
  for (const [title, object, rotated] of rows) {
    it(`${rotated ? "holds" : "does not hold"} where ${title}`, () =>
      assert.equal(isRotated(object), rotated));
  }
});

describe("the key that a Renew brings", () => {
  const sent = (keys = other, consumer = "rome") => ({
    publicKey: base64(keys.publicKey),
    csr: base64(createCertificateRequest(controlPlaneSubject(consumer), keys.privateKey)),
  });

  it("replaces the present one, which is remembered once, with at most four of them", () => {
    const before = ["a", "b", "c", "d"];
    const decision = keyReplacement(tenant(present.publicKey, { replacedPublicKeys: before }), sent());
    assert.deepEqual(decision, {
      outcome: "replace",
      status: {
        rotatedPublicKey: print(other.publicKey),
        replacedPublicKeys: [print(present.publicKey), "a", "b", "c"],
      },
      spec: sent(),
    });
    // Cut off between the two writes, it decides the same again.
    const half = tenant(present.publicKey, decision.outcome === "replace" ? decision.status : {});
    assert.deepEqual(keyReplacement(half, sent()), decision);
  });

  it("is let be where it is there already, not whole, or the Tenant takes none", () => {
    const rows: [Tenant, { publicKey?: string; csr?: string }][] = [
      [tenant(other.publicKey, {}), sent()],
      [tenant(present.publicKey, {}), {}],
      [tenant(present.publicKey, {}, {}, { authzPolicy: "TolerateNoHandshake" }), sent()],
      [tenant(present.publicKey, {}, {}, { tenantCondition: "Drained" }), sent()],
    ];
    for (const [object, renew] of rows) assert.deepEqual(keyReplacement(object, renew), { outcome: "none" });
  });

  it("is refused where the request is not of it, or for another cluster", () => {
    const mixed = { ...sent(), csr: sent(present).csr };
    for (const renew of [mixed, sent(other, "turin")])
      assert.equal(keyReplacement(tenant(present.publicKey, {}), renew).outcome, "refused");
  });

  it("leaves the one before known for the slices that still ask with it", () => {
    const status = {
      rotatedPublicKey: print(other.publicKey),
      replacedPublicKeys: [print(present.publicKey)],
    };
    assert.ok(isReplaced(tenant(other.publicKey, status), present.publicKey));
    assert.ok(!isReplaced(tenant(other.publicKey, status), certified));
    assert.ok(!isReplaced(tenant(generateKeyPair().publicKey, status), present.publicKey));
  });
});

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
