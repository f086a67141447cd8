import assert from "node:assert/strict";

import { tokenKey, tokenSecretName } from "../../../runtime/virtual-kubelet/peer/token-secret";
import { remoteRootCaName } from "../../../runtime/virtual-kubelet/reflection/reflected-metadata";
import { refreshTime, tokenSources } from "../../../runtime/virtual-kubelet/tokens/pod-tokens";

describe("remoteRootCaName", () => {
  for (const [consumer, name] of [
    ["rome", "kube-root-ca.crt.rome"],
    ["cluster1", "kube-root-ca.crt.clust"],
    ["eu-w-1", "kube-root-ca.crt.eu-w-a"],
  ] as const) {
    it(`is ${name} for ${consumer}`, () => assert.equal(remoteRootCaName(consumer), name));
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
