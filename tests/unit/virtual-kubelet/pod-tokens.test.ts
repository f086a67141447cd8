import assert from "node:assert/strict";

import type { Pod, Secret } from "../../../runtime/api/kubernetes";
import { tokenKey, tokenSecretName } from "../../../runtime/virtual-kubelet/peer/token-secret";
import {
  holdsEarlierTokens,
  refreshTime,
  tokenSources,
} from "../../../runtime/virtual-kubelet/tokens/pod-tokens";
import { tokenMetadata } from "../../support/token-metadata";

describe("the token Secret that a pod of the same name left", () => {
  const pair = { origin: "rome", destination: "milan" };
  const secretOf = (podUid: string, of = pair): Secret => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "web-0-token",
      ...tokenMetadata(of, { podUid }),
    },
  });
  const pod = (fields: { annotations?: Record<string, string>; tokens?: boolean } = {}): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-0", uid: "new", annotations: fields.annotations },
    spec: {
      containers: [],
      volumes:
        fields.tokens === false
          ? []
          : [{ name: "api", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }],
    },
  });
  const foreign: Secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "web-0-token" } };

  const cases: [what: string, held: boolean, secret: Secret | undefined, pod: Pod, isOffered: boolean][] = [
    ["holds up one that mounts tokens", true, secretOf("old"), pod(), true],
    ["holds up nobody once the tokens are the pod's own", false, secretOf("new"), pod(), true],
    ["holds up nobody when it is gone", false, undefined, pod(), true],
    ["holds up nobody who mounts no token", false, secretOf("old"), pod({ tokens: false }), true],
    ["holds up nobody where no tokens are given", false, secretOf("old"), pod(), false],
    [
      "holds up nobody who talks to the provider",
      false,
      secretOf("old"),
      pod({ annotations: { "liqo.io/api-server-support": "remote" } }),
      true,
    ],
    [
      "holds up nobody when another pair made it",
      false,
      secretOf("old", { origin: "turin", destination: "milan" }),
      pod(),
      true,
    ],
    ["holds up nobody when it is a stranger's", false, foreign, pod(), true],
  ];
  for (const [what, held, secret, local, isOffered] of cases) {
    it(what, () => assert.equal(holdsEarlierTokens(secret, local, isOffered, pair), held));
  }
});

describe("token names", () => {
  it("keys a token by its volume and path", () => {
    assert.equal(tokenKey("kube-api-access-x2k9p", "token"), "kube-api-access-x2k9p-3c469e");
  });

  it("names the Secret after the pod", () => assert.equal(tokenSecretName("web-0"), "web-0-token"));

  it("keeps long names within bounds and apart", () => {
    const [a, b] = [tokenSecretName(`${"a".repeat(252)}x`), tokenSecretName(`${"a".repeat(252)}y`)];
    assert.equal(a.length, 253);
    assert.notEqual(a, b);
    assert.match(a, /-token$/);
  });

  it("finds every token that a pod mounts", () => {
    const volumes = [
      { name: "data", emptyDir: {} },
      {
        name: "kube-api-access-x2k9p",
        projected: {
          sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 3607 } }, { downwardAPI: {} }],
        },
      },
      {
        name: "vault",
        projected: { sources: [{ serviceAccountToken: { path: "vault-token", audience: "vault" } }] },
      },
    ];
    assert.deepEqual(tokenSources({ volumes }), [
      { key: "kube-api-access-x2k9p-3c469e", audiences: [], expirationSeconds: 3607 },
      { key: tokenKey("vault", "vault-token"), audiences: ["vault"], expirationSeconds: 3600 },
    ]);
    assert.deepEqual(tokenSources({}), []);
  });

  it("is renewed a fifth of its lifetime before it expires", () => {
    const expiresAt = Date.parse("2026-03-04T06:00:00Z");
    const hour = 3_600_000;
    const beforeExpiry = (lifetimeMs: number | undefined, requestedSeconds: number) =>
      expiresAt - refreshTime({ expiresAt, lifetimeMs }, requestedSeconds);
    assert.equal(beforeExpiry(hour, 3600), 720_000, "granted as requested");
    assert.equal(beforeExpiry(24 * hour, 30 * 24 * 3600), 4.8 * hour, "granted for less than requested");
    assert.equal(beforeExpiry(365 * 24 * hour, 3607), 721_400, "granted for more than requested");
    assert.equal(beforeExpiry(undefined, 3600), 720_000, "the granted lifetime is not known");
  });
});
