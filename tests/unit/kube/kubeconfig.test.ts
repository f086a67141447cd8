import assert from "node:assert/strict";

import { stringify } from "yaml";

import { KubeconfigError, parseKubeconfig } from "../../../runtime/kube";

const pem = (what: string) =>
  Buffer.from(`-----BEGIN ${what}-----\nsecret-${what}\n-----END ${what}-----\n`).toString("base64");

function kubeconfig(
  changes: { cluster?: object; user?: object; context?: object; top?: object } = {},
): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "rome",
    clusters: [
      { name: "rome-cluster", cluster: { server: "https://rome.example:6443", ...changes.cluster } },
    ],
    users: [{ name: "rome-admin", user: { token: "t0ken", ...changes.user } }],
    contexts: [
      {
        name: "rome",
        context: { cluster: "rome-cluster", user: "rome-admin", namespace: "liqo", ...changes.context },
      },
    ],
    ...changes.top,
  };
}

describe("kubeconfig", () => {
  it("reads the current context, as YAML and as JSON", () => {
    const config = kubeconfig({
      cluster: {
        "certificate-authority-data": pem("CERTIFICATE"),
        "tls-server-name": "kubernetes",
        "proxy-url": "http://10.80.0.3:8118",
      },
    });
    for (const text of [stringify(config), JSON.stringify(config)]) {
      const connection = parseKubeconfig(text, { source: "rome.yaml" });
      assert.equal(connection.server.href, "https://rome.example:6443/");
      assert.equal(connection.proxy?.host, "10.80.0.3:8118");
      assert.equal(connection.tlsServerName, "kubernetes");
      assert.equal(connection.insecureSkipTlsVerify, false);
      assert.equal(connection.namespace, "liqo");
      assert.deepEqual(connection.credentials, { type: "token", token: "t0ken" });
      assert.ok("inline" in (connection.certificateAuthority ?? {}));
    }
  });

  it("takes another context on request", () => {
    const milan = { name: "milan", context: { cluster: "rome-cluster" } };
    const config = kubeconfig();
    config.contexts = [...(config.contexts as object[]), milan];
    const connection = parseKubeconfig(JSON.stringify(config), { context: "milan" });
    assert.deepEqual(connection.credentials, { type: "none" });
  });

  it("resolves relative files and prefers the token file to the inline token", () => {
    const text = JSON.stringify(
      kubeconfig({
        cluster: { "certificate-authority": "pki/ca.crt" },
        user: { tokenFile: "tokens/rome", "client-certificate": "/etc/rome.crt", "client-key": "rome.key" },
      }),
    );
    const connection = parseKubeconfig(text, { baseDirectory: "/var/lib/rome" });
    assert.deepEqual(connection.certificateAuthority, { file: "/var/lib/rome/pki/ca.crt" });
    assert.deepEqual(connection.credentials, { type: "token-file", file: "/var/lib/rome/tokens/rome" });
    assert.deepEqual(connection.clientCertificate, {
      certificate: { file: "/etc/rome.crt" },
      key: { file: "/var/lib/rome/rome.key" },
    });
  });

  const faults: { it: string; config: unknown; field: string; problem: RegExp }[] = [
    { it: "no text at all", config: null, field: "", problem: /expected object/i },
    {
      it: "no current context",
      config: kubeconfig({ top: { "current-context": undefined } }),
      field: "current-context",
      problem: /is missing/,
    },
    {
      it: "a context that is not there",
      config: kubeconfig({ top: { "current-context": "turin" } }),
      field: "contexts",
      problem: /no context "turin"; it has: rome/,
    },
    {
      it: "a cluster that is not there",
      config: kubeconfig({ context: { cluster: "turin" } }),
      field: "contexts[rome].context.cluster",
      problem: /clusters has no "turin"/,
    },
    {
      it: "a user that is not there",
      config: kubeconfig({ context: { user: "turin" } }),
      field: "contexts[rome].context.user",
      problem: /users has no "turin"/,
    },
    {
      it: "a server that is no URL",
      config: kubeconfig({ cluster: { server: "rome:6443:1" } }),
      field: "clusters[rome-cluster].cluster.server",
      problem: /scheme|is not a URL/,
    },
    {
      it: "a server of another scheme",
      config: kubeconfig({ cluster: { server: "ftp://rome" } }),
      field: "clusters[rome-cluster].cluster.server",
      problem: /scheme ftp is not one of https, http/,
    },
    {
      it: "a CA that is not PEM",
      config: kubeconfig({ cluster: { "certificate-authority-data": "c2VjcmV0" } }),
      field: "clusters[rome-cluster].cluster.certificate-authority-data",
      problem: /is not PEM/,
    },
    {
      it: "a certificate without its key",
      config: kubeconfig({ user: { "client-certificate-data": pem("CERTIFICATE") } }),
      field: "users[rome-admin].user.client-key-data",
      problem: /is missing/,
    },
    {
      it: "a key without its certificate",
      config: kubeconfig({ user: { "client-key-data": pem("PRIVATE KEY") } }),
      field: "users[rome-admin].user.client-certificate-data",
      problem: /is missing/,
    },
    {
      it: "a token that is no text",
      config: kubeconfig({ user: { token: 12345 } }),
      field: "users[rome-admin].user.token",
      problem: /expected string/,
    },
    {
      it: "an auth provider of old",
      config: kubeconfig({ user: { token: undefined, "auth-provider": { name: "gcp" } } }),
      field: "users[rome-admin].user.auth-provider.name",
      problem: /"gcp" is not supported; use an exec plugin/,
    },
    {
      it: "a proxy of an unknown scheme",
      config: kubeconfig({ cluster: { "proxy-url": "quic://p" } }),
      field: "clusters[rome-cluster].cluster.proxy-url",
      problem: /scheme quic/,
    },
  ];
  for (const { it: name, config, field, problem } of faults) {
    it(`names the field and quotes no credential: ${name}`, () => {
      assert.throws(
        () => parseKubeconfig(JSON.stringify(config), { source: "rome.yaml" }),
        (error) => {
          assert.ok(error instanceof KubeconfigError);
          assert.equal(error.field, field);
          assert.match(error.message, /^rome\.yaml: /);
          assert.match(error.message, problem);
          assert.doesNotMatch(error.message, /secret|c2VjcmV0|t0ken|12345/);
          return true;
        },
      );
    });
  }

  const outside: [string, object, RegExp][] = [
    [
      "an exec plugin",
      { user: { exec: { command: "/bin/plugin" } } },
      /exec plugin "\/bin\/plugin" is not run/,
    ],
    ["a token file", { user: { tokenFile: "/etc/shadow" } }, /tokenFile: is a file of this machine/],
    ["a CA file", { cluster: { "certificate-authority": "ca.crt" } }, /certificate-authority: is a file/],
    [
      "certificate files",
      { user: { "client-certificate": "a", "client-key": "b" } },
      /client-certificate: is a file/,
    ],
  ];
  for (const [name, changes, problem] of outside) {
    it(`of somebody else reaches nothing of this machine: ${name}`, () => {
      const text = JSON.stringify(kubeconfig(changes));
      assert.ok(parseKubeconfig(text));
      assert.throws(() => parseKubeconfig(text, { selfContained: true }), problem);
    });
  }

  it("does not quote text that it cannot parse", () => {
    for (const text of ["{ token: secret-1", "a: b: secret-2\n\t- x"]) {
      assert.throws(
        () => parseKubeconfig(text),
        (error: Error) => {
          assert.equal(error.message, "kubeconfig: is neither YAML nor JSON");
          assert.equal(error.cause, undefined);
          return true;
        },
      );
    }
  });
});
