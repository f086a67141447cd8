/** Against Pulumi's mocks: which waits and reads are repeated when an argument changes. What they then find is shown by tests/e2e/live-arguments.test.ts. */
import assert from "node:assert/strict";

import { Installation, type InstallationArgs, Peering, type PeeringArgs } from "../../../components";
import { digest } from "../../../components/core/waiting";
import { recordResources } from "./recorded-resources";

const DYNAMIC = "pulumi-nodejs:dynamic/liqo:";
const computed = {
  [`${DYNAMIC}NonceRead`]: { nonce: "bm9uY2U=" },
  [`${DYNAMIC}TenantCredentials`]: { publicKey: "a2V5", csr: "Y3Ny", signature: "c2ln" },
  [`${DYNAMIC}IdentityCredentials`]: {
    authParams: { apiServer: "https://192.0.2.7:6443", signedCRT: "Y3J0" },
    tenantNamespace: "liqo-tenant-rome",
  },
  [`${DYNAMIC}WaitFor`]: { value: "kubeconfig-resourceslice-milan" },
  [`${DYNAMIC}ClusterNetworks`]: { podCidrs: ["10.62.0.0/18"], externalCidr: "10.70.0.0/16" },
  [`${DYNAMIC}GatewayRead`]: { publicKey: "a2V5", addresses: ["192.0.2.9"], port: 51840 },
  [`${DYNAMIC}NetworkConnection`]: { since: "2026-05-04T12:00:00Z" },
  [`${DYNAMIC}ProxyRead`]: { url: "http://10.68.0.3:8118" },
};
const rome = { kubeconfig: "kubeconfig of rome", clusterId: "rome" };
const networks = { podCidrs: ["10.62.0.0/18"], serviceCidr: "10.162.64.0/20" };

interface Given {
  milan?: Partial<InstallationArgs>;
  peering?: Partial<PeeringArgs>;
}

/** What each of our resources is asked, without how its cluster is reached. */
async function asked({ milan, peering }: Given): Promise<Map<string, string>> {
  const { resources } = await recordResources(
    () => {
      const { clusterId } = new Installation("milan", {
        cluster: { kubeconfig: "kubeconfig of milan" },
        clusterId: "milan",
        image: "runtime:7",
        networking: networks,
        proxy: true,
        ...milan,
      });
      const provider = { kubeconfig: "kubeconfig of milan", clusterId };
      return [new Peering("peers", { consumer: rome, provider, ...peering }).nodeName];
    },
    { computed },
  );
  return new Map(
    resources
      .filter(({ type, name }) => type.startsWith(DYNAMIC) && name.startsWith("peers"))
      .map(({ name, inputs }) => {
        const { kubeconfig: _, __provider: _code, ...rest } = inputs;
        return [name, digest(rest)];
      }),
  );
}

describe("waits and reads, with mocks", function () {
  this.timeout(180_000); // Pulumi serialises the provider of each dynamic resource
  let first: Map<string, string>;
  before(async () => {
    first = await asked({});
  });

  const connections = ["peers-consumer-connection", "peers-provider-connection"];
  const cases: [string, Given, string[]][] = [
    ["nothing", {}, []],
    ["credentials", { peering: { consumer: { ...rome, kubeconfig: "another" } } }, []],
    ["the image", { milan: { image: "runtime:8" } }, []],
    [
      "the server's port",
      { peering: { networking: { link: { port: 51_871 } } } },
      [...connections, "peers-provider-gateway"],
    ],
    [
      "the packets' size",
      { peering: { networking: { link: { mtu: 1400 } } } },
      [...connections, "peers-consumer-gateway", "peers-provider-gateway"],
    ],
    [
      "a further pod network",
      { milan: { networking: { ...networks, podCidrs: ["10.62.0.0/18", "10.63.0.0/20"] } } },
      ["peers-provider-networks"],
    ],
    [
      "annotations of the gateways' Services",
      { milan: { networking: { ...networks, gateway: { serviceAnnotations: { kind: "fast" } } } } },
      ["peers-provider-gateway"],
    ],
    [
      "the address of the API server",
      { milan: { apiServer: { address: "milan.example" } } },
      ["peers-identity-credentials"],
    ],
    ["the way to it", { peering: { inBand: true } }, ["peers-identity-credentials", "peers-proxy"]],
    [
      "the amounts asked for",
      { peering: { resources: { cpu: "3" } } },
      ["peers-authentication", "peers-identity", "peers-node", "peers-resources"],
    ],
  ];
  for (const [what, given, expected] of cases) {
    it(`are repeated with ${what}: ${expected.join(", ") || "none"}`, async () => {
      const after = await asked(given);
      const changed = [...after].filter(([name, inputs]) => first.get(name) !== inputs).map(([name]) => name);
      assert.deepEqual(changed.sort(), [...expected].sort());
    });
  }

  it("have the same digest whatever the order of keys", () => {
    assert.equal(digest({ a: 1, b: [{ c: 2, d: 3 }] }), digest({ b: [{ d: 3, c: 2 }], a: 1 }));
    assert.notEqual(digest({ a: [1, 2] }), digest({ a: [2, 1] }));
    assert.equal(digest(undefined).length, 16);
  });
});
