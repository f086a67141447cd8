import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";

import {
  controlPlaneSubject,
  createCertificateRequest,
  generateKeyPair,
  publicKeyDer,
} from "../../../runtime/identity";
import { completeTenant, labelForeignCluster, validateTenant } from "../../../runtime/webhooks/tenant";
import { CN, hostileRequest, O, subjectOf } from "../../support/hostile-identities";
import { admissionRequest } from "./requests";

const key = "liqo.io/remote-cluster-id";
const tenant = (labels: object = { [key]: "rome" }, name = "rome") => ({
  metadata: { name, labels },
  spec: { clusterID: "rome" },
});
const own = { "liqo.io/tenant-namespace": "true", [key]: "rome" };
const addLabel = {
  allowed: true,
  patch: [{ op: "add", path: "/metadata/labels/liqo.io~1remote-cluster-id", value: "rome" }],
};

describe("the label of a Tenant", () => {
  it("is added when it is missing, and never changed", () => {
    assert.deepEqual(completeTenant(admissionRequest({ object: tenant({ a: "b" }) })), addLabel);
    assert.deepEqual(completeTenant(admissionRequest({ object: tenant({ [key]: "turin" }) })), {
      allowed: true,
    });
  });
});

describe("the label of a ForeignCluster", () => {
  it("always says what the spec says", () => {
    assert.deepEqual(labelForeignCluster(admissionRequest({ object: tenant({ [key]: "turin" }) })), addLabel);
    assert.deepEqual(labelForeignCluster(admissionRequest({ object: tenant() })), { allowed: true });
  });
});

describe("the validation of a Tenant", () => {
  const namespace = "liqo-tenant-rome";
  type Row = [
    title: string,
    operation: "CREATE" | "UPDATE",
    object: object,
    labels: Record<string, string> | undefined,
    tenants: { name: string; namespace: string }[],
    refusal: [code: number, message: RegExp] | undefined,
  ];
  const table: Row[] = [
    ["takes the first one of its namespace", "CREATE", tenant(), own, [], undefined],
    [
      "needs the namespace",
      "CREATE",
      tenant(),
      undefined,
      [],
      [400, /must be created in a tenant namespace/],
    ],
    [
      "needs a tenant namespace",
      "CREATE",
      tenant(),
      { ...own, "liqo.io/tenant-namespace": "yes" },
      [],
      [400, /lacks the label liqo\.io\/tenant-namespace=true/],
    ],
    ["needs the label", "CREATE", tenant({}), own, [], [400, /is missing, and spec\.clusterID is "rome"/]],
    [
      "needs the right label",
      "UPDATE",
      tenant({ [key]: "turin" }),
      own,
      [],
      [400, /is "turin", and spec\.clusterID is "rome"/],
    ],
    [
      "needs the namespace of its cluster",
      "CREATE",
      tenant(),
      { ...own, [key]: "turin" },
      [],
      [403, /belongs to cluster "turin"/],
    ],
    [
      "refuses a second one",
      "CREATE",
      tenant(),
      own,
      [{ name: "first", namespace }],
      [
        403,
        /^a Tenant already exists in the tenant namespace: "first" in "liqo-tenant-rome", which has room for one; change that one in place of making "rome", or delete it first$/,
      ],
    ],
    [
      "refuses a name that is taken",
      "CREATE",
      tenant(),
      own,
      [{ name: "rome", namespace: "elsewhere" }],
      [403, /named "rome" already exists in namespace elsewhere/],
    ],
    ["takes an update of itself", "UPDATE", tenant(), own, [{ name: "rome", namespace }], undefined],
    [
      "refuses an update of a namesake",
      "UPDATE",
      tenant(),
      own,
      [
        { name: "rome", namespace },
        { name: "rome", namespace: "elsewhere" },
      ],
      [403, /already exists in namespace elsewhere/],
    ],
    [
      "takes anything that is being deleted",
      "UPDATE",
      { metadata: { name: "rome", deletionTimestamp: "2026-03-01T10:00:00Z" } },
      undefined,
      [],
      undefined,
    ],
  ];
  for (const [title, operation, object, namespaceLabels, tenants, refusal] of table) {
    it(title, () => {
      const verdict = validateTenant(admissionRequest({ operation, namespace, object }), {
        namespaceLabels,
        tenants,
      });
      if (refusal === undefined) return assert.deepEqual(verdict, { allowed: true });
      assert.equal(verdict.allowed, false);
      assert.equal(verdict.code, refusal[0]);
      assert.match(verdict.message, refusal[1]);
    });
  }
});

describe("the condition of a Tenant", () => {
  const namespace = "liqo-tenant-rome";
  const peer = { username: "liqo-peer-user-rome-0a1b", groups: ["liqo.io", "system:authenticated"] };
  const admin = { username: "jane", groups: ["system:authenticated"] };
  const conditioned = (tenantCondition: string | undefined, more: object = {}) => ({
    ...tenant(),
    spec: { clusterID: "rome", ...(tenantCondition && { tenantCondition }), ...more },
  });
  const rows: [who: typeof peer, before: string | undefined, after: string | undefined, refused: boolean][] =
    [
      [peer, "Drained", "Active", true],
      [peer, "Cordoned", undefined, true],
      [peer, "Active", "Cordoned", true],
      [peer, "Active", undefined, false],
      [peer, "Drained", "Drained", false],
      [admin, "Drained", "Active", false],
      [admin, "Active", "Drained", false],
    ];
  it("is put back where a peer changes it, with a warning", () => {
    for (const [who, before, after, isPeers] of rows) {
      const verdict = completeTenant(
        admissionRequest({
          operation: "UPDATE",
          namespace,
          object: conditioned(after),
          oldObject: conditioned(before),
          ...who,
        }),
      );
      const stays = {
        allowed: true,
        patch: [{ op: "add", path: "/spec/tenantCondition", value: before }],
        warnings: [
          `spec.tenantCondition stays "${before}" and does not become "${after ?? "Active"}": only the administrator of this cluster changes it`,
        ],
      };
      assert.deepEqual(verdict, isPeers ? stays : { allowed: true });
    }
  });

  for (const [who, before, after, refused] of rows) {
    it(`${refused ? "stays" : "may change"} from ${before} to ${after} by ${who.username}`, () => {
      const verdict = validateTenant(
        admissionRequest({
          operation: "UPDATE",
          namespace,
          oldObject: conditioned(before),
          object: conditioned(after, { proxyURL: "http://proxy.example.org" }),
          ...who,
        }),
        { namespaceLabels: own, tenants: [{ name: "rome", namespace }] },
      );
      assert.equal(!verdict.allowed, refused);
      if (!verdict.allowed)
        assert.match(
          verdict.message,
          /^spec\.tenantCondition is "\w+" and may not become "\w+" by user "liqo-peer/,
        );
    });
  }
});

describe("the key material of a Tenant", () => {
  const namespace = "liqo-tenant-rome";
  const base64 = (value: string | Uint8Array) => Buffer.from(value).toString("base64");
  const holding = (credentials: object) => ({ ...tenant(), spec: { clusterID: "rome", ...credentials } });
  const judge = (object: object, oldObject?: object) => {
    const operation = oldObject === undefined ? "CREATE" : "UPDATE";
    const verdict = validateTenant(admissionRequest({ operation, namespace, object, oldObject }), {
      namespaceLabels: own,
      tenants: oldObject === undefined ? [] : [{ name: "rome", namespace }],
    });
    return verdict.allowed ? "allowed" : `${verdict.code} ${verdict.message}`;
  };
  const nonce = Buffer.from("bm9uY2U=");
  const ecdsa = (namedCurve: string) =>
    generateKeyPairSync("ec", {
      namedCurve,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
  const pairs = {
    Ed25519: generateKeyPair(),
    RSA: generateKeyPair("rsa"),
    "P-256": ecdsa("prime256v1"),
    "P-521": ecdsa("secp521r1"),
  };
  const signatures = Object.entries(pairs).map(([type, { privateKey }]) => ({
    type,
    signature: base64(sign(type === "Ed25519" ? null : "sha256", nonce, privateKey)),
  }));

  for (const [type, { publicKey, privateKey }] of Object.entries(pairs)) {
    it(`of type ${type} passes, whole and in parts`, () => {
      const csr = base64(createCertificateRequest(controlPlaneSubject("rome"), privateKey));
      const signature = signatures.find((one) => one.type === type)?.signature;
      const whole = { publicKey: base64(publicKey), csr, signature };
      for (const part of [whole, { publicKey: whole.publicKey }, { csr }, { signature }])
        assert.equal(judge(holding(part)), "allowed");
    });
  }

  it("passes as the raw bytes of an Ed25519 key, and while it is empty", () => {
    const raw = base64(publicKeyDer(pairs.Ed25519.publicKey).subarray(-32));
    assert.equal(judge(holding({ publicKey: raw })), "allowed");
    assert.equal(judge(holding({ publicKey: "", csr: "", signature: "" })), "allowed");
  });

  it("is refused where it can't be read, and never quoted", () => {
    const answer = judge(holding({ publicKey: "AAAA", csr: "AAAA", signature: "AAAA" }));
    assert.match(answer, /^403 Tenant "liqo-tenant-rome\/rome": spec\.publicKey: public key is not readable/);
    assert.match(answer, /spec\.publicKey: [^;]*; give the base64 of the consumer's key/);
    assert.match(answer, /spec\.csr: certificate request holds no PEM block; give/);
    assert.match(answer, /spec\.signature: its 3 bytes are no signature by a key of type Ed25519.*; give/);
    assert.doesNotMatch(answer, /AAAA/);
  });

  it("is refused where the request is for anybody else, or for somebody else besides", () => {
    const { privateKey } = pairs.Ed25519;
    const double = subjectOf([O, "liqo.io"], [CN, "rome"], [CN, "system:kube-controller-manager"]);
    for (const [csr, words] of [
      [createCertificateRequest(controlPlaneSubject("turin"), privateKey), /"turin", expected "rome"/],
      [hostileRequest(privateKey, { subject: double }), /expected "rome" alone; give/],
    ] as const)
      assert.match(judge(holding({ csr: base64(csr) })), words);
  });

  it("is refused where the signature is of another type than the key", () => {
    const { publicKey } = pairs.Ed25519;
    for (const { type, signature } of signatures) {
      const expected =
        type === "Ed25519" ? /^allowed$/ : /no signature by a key of the type that spec\.publicKey has; give/;
      assert.match(judge(holding({ publicKey: base64(publicKey), signature })), expected);
    }
  });

  it("is refused where it is the private key", () => {
    const { privateKey } = pairs.Ed25519;
    const answer = judge(holding({ publicKey: base64(privateKey) }));
    assert.match(answer, /spec\.publicKey: holds a private key, which must never leave its cluster; give/);
    assert.ok(!answer.includes(privateKey.split("\n")[1] ?? ""));
  });

  it("may stay unreadable while other fields change, and may not become so", () => {
    const before = holding({ publicKey: "AAAA" });
    assert.equal(judge(holding({ publicKey: "AAAA", tenantCondition: "Drained" }), before), "allowed");
    assert.match(
      judge(holding({ publicKey: "AAAA", csr: "AAAA" }), before),
      /"liqo-tenant-rome\/rome": spec\.csr/,
    );
    assert.match(judge(before, tenant()), /spec\.publicKey: public key is not readable/);
  });
});
