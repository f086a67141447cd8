import assert from "node:assert/strict";
import type { Node } from "../../../runtime/api";
import {
  apiServerUrl,
  caBundle,
} from "../../../runtime/authentication/identity-provider/api-server-endpoint";

const node = (name: string, label: string | undefined, addresses: Record<string, string>): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, ...(label === undefined ? {} : { labels: { [label]: "" } }) },
  spec: {},
  status: { addresses: Object.entries(addresses).map(([type, address]) => ({ type, address })) },
});
const controlPlane = "node-role.kubernetes.io/control-plane";
const master = "node-role.kubernetes.io/master";

describe("the URL of the API server for consumers", () => {
  const rows: [string, string, Node[], string][] = [
    ["an override that is a URL", "https://api.milan.example:8443", [], "https://api.milan.example:8443"],
    ["an override without scheme", "api.milan.example:6443", [], "https://api.milan.example:6443"],
    [
      "the type of address counts before the order of nodes",
      "",
      [
        node("cp-1", controlPlane, { InternalIP: "10.0.0.1" }),
        node("cp-2", controlPlane, { InternalIP: "10.0.0.2", ExternalIP: "203.0.113.2" }),
      ],
      "https://203.0.113.2:6443",
    ],
    [
      "the oldest label counts only where there is no newer one",
      "",
      [node("m", master, { ExternalDNS: "m.example" }), node("cp", controlPlane, { Hostname: "cp" })],
      "https://cp:6443",
    ],
    ["masters of old", "", [node("m", master, { InternalIP: "10.0.0.9" })], "https://10.0.0.9:6443"],
    ["an IPv6 address", "", [node("cp", controlPlane, { InternalIP: "fd00::2" })], "https://[fd00::2]:6443"],
  ];
  for (const [title, override, nodes, expected] of rows) {
    it(title, () => {
      assert.equal(apiServerUrl(override, nodes), expected);
    });
  }

  it("names the way out where no control-plane node is visible", () => {
    assert.throws(
      () => apiServerUrl("", [node("w", undefined, { InternalIP: "10.0.0.7" })]),
      /give the Installation apiServer: \{ address: … \}, or set --api-server-address-override/,
    );
  });
});

describe("the CA for consumers", () => {
  const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  const encoded = Buffer.from(pem).toString("base64");
  const none = { caOverride: "", trustedCa: false };

  it("is the same from an override, a padded override and this process's own trust", () => {
    const padded = Buffer.concat([Buffer.from(pem), Buffer.alloc(2)]).toString("base64");
    assert.equal(caBundle(none, pem), encoded);
    assert.equal(caBundle({ ...none, caOverride: encoded }, "other"), encoded);
    assert.equal(caBundle({ ...none, caOverride: padded }, undefined), encoded);
  });

  it("is left out where a public authority is trusted, unless overridden", () => {
    assert.equal(caBundle({ ...none, trustedCa: true }, pem), undefined);
    assert.equal(caBundle({ caOverride: encoded, trustedCa: true }, undefined), encoded);
  });

  it("is left out where there is none", () => {
    assert.equal(caBundle(none, undefined), undefined);
  });
});
