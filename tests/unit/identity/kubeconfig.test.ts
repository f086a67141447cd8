import assert from "node:assert/strict";
import { parse } from "yaml";
import { buildKubeconfig, KubeconfigError, parseKubeconfig } from "../../../runtime/identity";

const identity = {
  providerClusterId: "milan",
  identityName: "controlplane-milan",
  server: "https://10.90.0.1:6443",
  ca: "CA PEM",
  certificate: "CERTIFICATE PEM",
  privateKey: "KEY PEM",
  namespace: "liqo-tenant-rome",
};
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("the kubeconfig of an identity", () => {
  it("names the cluster after the provider and the user after the identity", () => {
    assert.deepEqual(parse(buildKubeconfig({ ...identity, proxyUrl: "http://10.0.0.9:8118" })), {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "default-context",
      clusters: [
        {
          name: "milan",
          cluster: {
            server: "https://10.90.0.1:6443",
            "certificate-authority-data": base64("CA PEM"),
            "proxy-url": "http://10.0.0.9:8118",
          },
        },
      ],
      users: [
        {
          name: "controlplane-milan",
          user: {
            "client-certificate-data": base64("CERTIFICATE PEM"),
            "client-key-data": base64("KEY PEM"),
          },
        },
      ],
      contexts: [
        {
          name: "default-context",
          context: { cluster: "milan", user: "controlplane-milan", namespace: "liqo-tenant-rome" },
        },
      ],
      preferences: {},
    });
  });

  it("leaves out what is empty", () => {
    const text = buildKubeconfig({ ...identity, ca: "", proxyUrl: "", namespace: "" });
    assert.doesNotMatch(text, /certificate-authority-data|proxy-url|namespace/);
  });

  it("is the same however the CA came, zero padding included", () => {
    const plain = buildKubeconfig(identity);
    assert.equal(buildKubeconfig({ ...identity, ca: Buffer.from("CA PEM") }), plain);
    assert.equal(buildKubeconfig({ ...identity, ca: Buffer.from("CA PEM\0\0\0") }), plain);
  });

  it("is read back", () => {
    assert.deepEqual(parseKubeconfig(buildKubeconfig(identity)), {
      contextName: "default-context",
      clusterName: "milan",
      userName: "controlplane-milan",
      namespace: "liqo-tenant-rome",
      server: "https://10.90.0.1:6443",
      ca: "CA PEM",
      certificate: "CERTIFICATE PEM",
      privateKey: "KEY PEM",
    });
  });

  const broken: [string, string, string | undefined, RegExp][] = [
    ["no YAML", "a: [secret-text", undefined, /not valid YAML/],
    ["no object", "just text", undefined, /malformed at its root/],
    ["no current context", "clusters: []", undefined, /no current-context/],
    ["an unknown context", buildKubeconfig(identity), "other", /no context "other"/],
    [
      "a context without cluster",
      buildKubeconfig(identity).replace("- name: milan", "- name: turin"),
      undefined,
      /cluster "milan", which is not in it/,
    ],
    [
      "a context without user",
      buildKubeconfig(identity).replace("- name: controlplane-milan", "- name: x"),
      undefined,
      /user "controlplane-milan", which is not in it/,
    ],
    [
      "a wrong type",
      buildKubeconfig(identity).replace("server: https://10.90.0.1:6443", "server: 7"),
      undefined,
      /clusters\.0\.cluster\.server/,
    ],
  ];
  for (const [name, text, context, message] of broken) {
    it(`with ${name} is refused`, () => {
      assert.throws(
        () => parseKubeconfig(text, context),
        (error: unknown) =>
          error instanceof KubeconfigError &&
          message.test(error.message) &&
          !/secret-text/.test(error.message) &&
          error.cause === undefined,
      );
    });
  }
});
