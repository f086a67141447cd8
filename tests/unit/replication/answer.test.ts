import assert from "node:assert/strict";

import { type Kind, NamespaceMap, Renew, ResourceSlice } from "../../../runtime/api";
import { createCertificateAuthority } from "../../../runtime/identity/serving-certificate";
import { readAnswer } from "../../../runtime/replication/answer";
import { refusalMessage } from "../../../runtime/replication/refused-answers";
import type { Replicable } from "../../../runtime/replication/copy";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const pem = createCertificateAuthority(
  { commonName: "milan", organization: "liqo.io" },
  { notBefore: new Date("2026-01-01"), notAfter: new Date("2036-01-01") },
).certificate;
const certificate = base64(pem);

const object = (kind: Kind<Replicable>, spec: unknown, status: unknown): Replicable => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name: "pool", namespace: "to-milan" },
  spec,
  status,
});
const read = (kind: Kind<Replicable>, status: unknown, source: { spec?: unknown; status?: unknown } = {}) =>
  readAnswer(kind, object(kind, source.spec ?? {}, source.status), object(kind, {}, status));

/** As a provider with the built-in class writes it (control plane reference 10). */
const granted = {
  conditions: [
    {
      type: "Authentication",
      status: "Accepted",
      lastTransitionTime: "2026-03-01T10:00:00Z",
      reason: "ResourceSliceAuthenticationAccepted",
      message: "ResourceSlice authentication accepted",
    },
    { type: "Resources", status: "Accepted", lastTransitionTime: "2026-03-01T10:00:00.5+01:00" },
  ],
  resources: { cpu: 8, memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi", "nvidia.com/gpu": "0" },
  authParams: { ca: certificate, signedCRT: certificate, apiServer: "https://10.98.0.1:6443" },
  storageClasses: [{ storageClassName: "fast", default: true }, { storageClassName: "local-path" }],
  ingressClasses: [{ ingressClassName: "nginx" }],
  loadBalancerClasses: [{ loadBalancerClassName: "service.k8s.aws/nlb" }],
  nodeLabels: { region: "north", "liqo.io/provider": "eks", "topology.kubernetes.io/zone": "" },
  nodeSelector: { pool: "guests" },
};

describe("the answer to a slice", () => {
  const good: [string, object][] = [
    ["of the built-in class", granted],
    ["before there is one", {}],
    [
      "that denies",
      { conditions: [{ type: "Resources", status: "Denied", reason: "DefaultResourceSliceClassDisabled" }] },
    ],
    ["behind a proxy", { authParams: { ...granted.authParams, proxyURL: "http://10.98.0.9:8118" } }],
    [
      "of a public authority",
      { authParams: { signedCRT: certificate, apiServer: "https://milan.example.org" } },
    ],
    ["with empty fields", { authParams: { ...granted.authParams, ca: "", proxyURL: "" } }],
    [
      "of EKS, whose CA is encoded twice",
      {
        authParams: {
          ca: base64(certificate),
          apiServer: "https://ABC.gr7.eu-west-1.eks.amazonaws.com",
          awsConfig: {
            awsUserArn: "arn:aws:iam::1:user/liqo-x",
            awsAccessKeyID: "AKIA",
            awsSecretAccessKey: "s/+=",
            awsRegion: "eu-west-1",
            awsClusterName: "milan",
          },
        },
      },
    ],
    [
      "with several authorities",
      { authParams: { ...granted.authParams, ca: base64(`${pem}# next\n${pem}`) } },
    ],
    ["that counts generations", { observedGeneration: 3 }],
  ];
  for (const [title, status] of good)
    it(`is taken whole: ${title}`, () =>
      assert.deepEqual(read(ResourceSlice, status), { status, refused: [] }));

  it("is taken without fields that nobody knows", () => {
    const more = { ...granted, nice: "x", authParams: { ...granted.authParams, exec: { command: "sh" } } };
    assert.deepEqual(read(ResourceSlice, more), { status: granted, refused: [] });
  });

  const { authParams } = granted;
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, "x"]));
  const bad: [string, object, RegExp][] = [
    ["a negative amount", { resources: { cpu: "-1" } }, /^resources: cpu: "-1" is negative; give/],
    ["an amount beyond counting", { resources: { cpu: "1e30" } }, /^resources: cpu: .* more than/],
    ["half a pod", { resources: { pods: "1.5" } }, /^resources: pods: .* whole number/],
    ["no amount", { resources: { cpu: "much" } }, /^resources: cpu: "much" is not a quantity/],
    ["no resource", { resources: { "a b": "1" } }, /^resources: "a b" is no name of a resource/],
    ["too many resources", { resources: many(257) }, /^resources: has more than 256 entries/],
    [
      "another condition",
      { conditions: [{ type: "Ready", status: "Accepted" }] },
      /^conditions\[0\]\.type: "Ready"/,
    ],
    [
      "a long message",
      { conditions: [{ type: "Resources", status: "Denied", message: "x".repeat(32_769) }] },
      /message: .* is too big/,
    ],
    [
      "no time",
      { conditions: [{ type: "Resources", status: "Denied", lastTransitionTime: "noon" }] },
      /lastTransitionTime: "noon"/,
    ],
    [
      "many conditions",
      { conditions: Array.from({ length: 17 }, () => granted.conditions[0]) },
      /^conditions: has more than 16/,
    ],
    [
      "no TLS",
      { authParams: { ...authParams, apiServer: "http://10.98.0.1" } },
      /^authParams\.apiServer: is not the URL/,
    ],
    [
      "a login in the URL",
      { authParams: { ...authParams, apiServer: "https://a:b@c" } },
      /^authParams\.apiServer/,
    ],
    ["no URL", { authParams: { ...authParams, apiServer: "10.98.0.1:6443" } }, /^authParams\.apiServer/],
    [
      "a file for a proxy",
      { authParams: { ...authParams, proxyURL: "file:///etc/passwd" } },
      /^authParams\.proxyURL/,
    ],
    ["no CA", { authParams: { ...authParams, ca: base64("hello") } }, /^authParams\.ca: is not a bundle/],
    [
      "a key in the CA",
      {
        authParams: {
          ...authParams,
          ca: base64(`${pem}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n`),
        },
      },
      /^authParams\.ca/,
    ],
    [
      "no certificate",
      { authParams: { ...authParams, signedCRT: base64("hello") } },
      /^authParams\.signedCRT: is not a certificate/,
    ],
    [
      "half an AWS access",
      { authParams: { awsConfig: { awsSecretAccessKey: "s" } } },
      /^authParams\.awsConfig: is not/,
    ],
    ["no object", { authParams: "x" }, /^authParams: /],
    ["no label", { nodeLabels: { "a b": "c" } }, /^nodeLabels/],
    ["no label's value", { nodeLabels: { a: "x".repeat(64) } }, /^nodeLabels\.a/],
    ["many labels", { nodeSelector: many(257) }, /^nodeSelector: has more than 256 entries/],
    ["no class", { storageClasses: [{ storageClassName: "--flag=x" }] }, /^storageClasses\[0\]/],
    ["a list", { resources: ["cpu"] }, /^resources/],
    [
      "too much of all",
      { nodeLabels: { a: "x".repeat(1024 * 1024) } },
      /^has \d+ characters; the maximum is/,
    ],
  ];
  for (const [title, part, fault] of bad)
    it(`is refused as a whole: ${title}`, () => {
      const { status, refused } = read(ResourceSlice, { ...granted, ...part });
      assert.equal(status, undefined);
      assert.match(refused[0] ?? "", fault);
    });

  it("gives no labels that set nodes apart, and the others", () => {
    const reserved = [
      "node-restriction.kubernetes.io/a",
      "x.node-restriction.kubernetes.io/a",
      "node-role.kubernetes.io/b",
      "liqo.io/type",
      "liqo.io/remote-cluster-id",
    ];
    const nodeLabels = { ...granted.nodeLabels, ...Object.fromEntries(reserved.map((key) => [key, "x"])) };
    const { status, refused } = read(ResourceSlice, { nodeLabels });
    assert.deepEqual(status, { nodeLabels: granted.nodeLabels });
    assert.equal(refused.length, reserved.length);
  });

  it("is refused without a word of the credentials in it", () => {
    const secrets = { awsSecretAccessKey: "topsecret", awsAccessKeyID: 7, signedCRT: "topsecret" };
    for (const params of [{ awsConfig: secrets, signedCRT: "topsecret" }, "topsecret", ["topsecret"]]) {
      const answer = read(ResourceSlice, { resources: { cpu: "-1" }, nodeLabels: 7, authParams: params });
      assert.doesNotMatch(refusalMessage("milan", answer), /topsecret/);
    }
  });
});

describe("the answer to a Renew", () => {
  it("is its credentials", () => {
    const { authParams } = granted;
    assert.deepEqual(read(Renew, { authParams, more: 1 }), { status: { authParams }, refused: [] });
  });
  it("is refused where they are none", () => {
    assert.equal(read(Renew, { authParams: { signedCRT: "AAAA" } }).status, undefined);
  });
});

describe("the answer to a map", () => {
  const shop = { remoteNamespace: "shop-rome", phase: "Accepted" };
  const source = { spec: { desiredMapping: { shop: "shop-rome", tea: "tea-rome" } } };
  const knownShop = { ...source, status: { currentMapping: { shop } } };
  const left: { spec: object; status: object } = { spec: {}, status: { currentMapping: { shop } } };
  type Entries = Record<string, unknown>;
  const rows: [string, Entries, typeof source | typeof left, Entries, RegExp | undefined][] = [
    ["accepts what was asked", { shop }, source, { shop }, undefined],
    [
      "fails what was asked",
      { shop: { ...shop, phase: "CreationLoopBackOff" } },
      source,
      { shop: { ...shop, phase: "CreationLoopBackOff" } },
      undefined,
    ],
    [
      "says that it goes",
      { shop: { ...shop, phase: "Terminating" } },
      left,
      { shop: { ...shop, phase: "Terminating" } },
      undefined,
    ],
    ["still has what is asked no more", { shop }, left, { shop }, undefined],
    [
      "is about to remove what it never told of",
      { x: { ...shop, phase: "Terminating" } },
      source,
      { x: { ...shop, phase: "Terminating" } },
      undefined,
    ],
    [
      "has no phase yet",
      { shop: { remoteNamespace: "shop-rome" } },
      source,
      { shop: { remoteNamespace: "shop-rome" } },
      undefined,
    ],
    ["knows a field more", { shop: { ...shop, uid: "7" } }, source, { shop }, undefined],
    [
      "accepts what nobody asked for",
      { "kube-system": shop, shop },
      source,
      { shop },
      /^currentMapping\["kube-system"\]: was not asked for$/,
    ],
    [
      "accepts what nobody asked for, once it said that it goes",
      { x: shop },
      { spec: {}, status: { currentMapping: { x: { ...shop, phase: "Terminating" } } } },
      { x: { ...shop, phase: "Terminating" } },
      /not asked for/,
    ],
    [
      "redirects",
      { shop: { ...shop, remoteNamespace: "trap" } },
      source,
      {},
      /"trap" is not "shop-rome", which was asked for/,
    ],
    [
      "redirects what it had accepted",
      { shop: { ...shop, remoteNamespace: "trap" } },
      knownShop,
      { shop },
      /"trap"/,
    ],
    [
      "has another phase",
      { shop: { ...shop, phase: "Owned" }, tea: { remoteNamespace: "tea-rome" } },
      source,
      { tea: { remoteNamespace: "tea-rome" } },
      /^currentMapping\["shop"\]\.phase: "Owned"/,
    ],
    ["has no name of a namespace", { "../x": shop }, source, {}, /is no name of a namespace/],
    [
      "has no remote name of a namespace",
      { shop: { ...shop, remoteNamespace: "a/../b" } },
      source,
      {},
      /remoteNamespace/,
    ],
    ["has text for an entry", { shop: "Accepted" }, source, {}, /^currentMapping\["shop"\]/],
    ["means the prototype", { constructor: shop }, source, {}, /not asked for/],
  ];
  for (const [title, currentMapping, before, expected, fault] of rows)
    it(`is ${fault === undefined ? "taken" : "refused"} where it ${title}`, () => {
      const { status, refused } = read(NamespaceMap, { currentMapping, more: 1 }, before);
      assert.deepEqual(status, { currentMapping: expected });
      if (fault === undefined) assert.deepEqual(refused, []);
      else assert.match(refused.join("\n"), fault);
    });

  it("is refused as a whole where it is no map, or far too long a one", () => {
    const entries = Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`n${i}`, { phase: "X" }]));
    for (const currentMapping of ["shop", ["shop"], entries])
      assert.equal(read(NamespaceMap, { currentMapping }, source).status, undefined);
  });

  it("is told in few words, whatever there is to refuse", () => {
    const entries = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`n${i}`, shop]));
    const message = refusalMessage("milan", read(NamespaceMap, { currentMapping: entries }, source));
    assert.ok(message.length < 1_024);
    assert.match(message, /and 4995 more; its administrator has to put it right there$/);
  });
});
