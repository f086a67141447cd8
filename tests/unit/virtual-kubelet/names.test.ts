import assert from "node:assert/strict";

import { remoteRootCaName } from "../../../runtime/virtual-kubelet/reflection/root-ca";
import { refreshTime } from "../../../runtime/virtual-kubelet/tokens/token-refresh";
import {
  tokenKey,
  tokenSecretName,
  tokenSources,
} from "../../../runtime/virtual-kubelet/tokens/token-source";

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
    const expiry = Date.parse("2026-03-04T06:00:00Z");
    assert.equal(refreshTime(expiry, 3600), expiry - 720_000);
  });
});
