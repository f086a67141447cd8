import assert from "node:assert/strict";

import { InvalidObjectError } from "../../../runtime/api";
import { parseArguments, resourceListSchema } from "../../../runtime/plan/arguments";
import { installationSettingsSchema } from "../../../runtime/plan/installation-settings";
import { networkLinkSchema } from "../../../runtime/plan/networking/peering";
import {
  namespaceOffloadingSchema,
  sliceRequestSchema,
  virtualNodeSchema,
} from "../../../runtime/plan/offloading";

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Wrong arguments, and what the message must name: the property, its value, the way out. */
const cases = [
  {
    what: "a cluster ID with capitals",
    schema: installationSettingsSchema,
    value: { clusterId: "Rome", image: "runtime:1" },
    message: /Installation "x": clusterId: "Rome" .*lower-case letters, digits and inner hyphens/,
  },
  {
    what: "a cluster ID whose tenant namespace would be too long",
    schema: installationSettingsSchema,
    value: { clusterId: "r".repeat(52), image: "runtime:1" },
    message: /clusterId: "r{52}" is longer than 51 characters; .*choose a shorter one/,
  },
  {
    what: "no image",
    schema: installationSettingsSchema,
    value: { clusterId: "rome" },
    message: /image: is required; give a/,
  },
  {
    what: "a pod CIDR without a length",
    schema: installationSettingsSchema,
    value: { clusterId: "rome", image: "runtime:1", podCidrs: ["10.31.0.0/16", "10.31.0.0"] },
    message: /podCidrs\[1\]: "10\.31\.0\.0" is not a CIDR; write an address and a prefix length/,
  },
  {
    what: "a quantity with an unknown suffix",
    schema: installationSettingsSchema,
    value: { clusterId: "rome", image: "runtime:1", defaultNodeResources: { cpu: "4 cores" } },
    message: /defaultNodeResources\.cpu: "4 cores" is not a quantity; give a number/,
  },
  {
    what: "no replica at all",
    schema: installationSettingsSchema,
    value: { clusterId: "rome", image: "runtime:1", replicas: { webhook: 0 } },
    message: /replicas\.webhook: 0 /,
  },
  {
    what: "a property that does not exist",
    schema: installationSettingsSchema,
    value: { clusterId: "rome", image: "runtime:1", clusterID: "rome" },
    message: /unknown fields: clusterID/,
  },
  {
    what: "an enforcement that does not exist",
    schema: installationSettingsSchema,
    value: { clusterId: "rome", image: "runtime:1", limitsEnforcement: "hard" },
    message: /limitsEnforcement: "hard" is not one of "None", "Soft", "Hard"/,
  },
  {
    what: "a slice that asks for a word",
    schema: sliceRequestSchema,
    value: {
      providerClusterId: "milan",
      tenantNamespace: "liqo-tenant-milan",
      sliceName: "milan",
      resources: { memory: "lots" },
    },
    message: /resources\.memory: "lots" is not a quantity/,
  },
  {
    what: "a remote name without its strategy",
    schema: namespaceOffloadingSchema,
    value: { namespace: "shop", remoteNamespaceName: "shop-of-rome" },
    message: /remoteNamespaceName: "shop-of-rome" .*SelectedName/,
  },
  {
    what: "the strategy without a remote name",
    schema: namespaceOffloadingSchema,
    value: { namespace: "shop", namespaceMappingStrategy: "SelectedName" },
    message: /remoteNamespaceName: goes together with .*SelectedName/,
  },
  {
    what: "a node name with an underscore",
    schema: virtualNodeSchema,
    value: {
      providerClusterId: "milan",
      tenantNamespace: "liqo-tenant-milan",
      nodeName: "gpu_pool",
      kubeconfigSecretName: "kubeconfig-gpu",
    },
    message: /nodeName: "gpu_pool" is not an object name/,
  },
  {
    what: "a load balancer's address that is none",
    schema: networkLinkSchema,
    value: { loadBalancerIp: "999.1.1.1" },
    message: /loadBalancerIp: "999\.1\.1\.1" is not an IP address; give one, such as 203\.0\.113\.10/,
  },
  ...["not a host!! :5", "vpn.example:4500", "203.0.113.10:51840", "999.1.1.1", "-vpn.example", "a..b"].map(
    (address) => ({
      what: `an address of the server that is none, ${address}`,
      schema: networkLinkSchema,
      value: { address },
      message: new RegExp(
        `address: "${escaped(address)}" is neither an IP address nor a host name; give one alone, .* and its port as addressPort`,
      ),
    }),
  ),
  {
    what: "no address of the server",
    schema: networkLinkSchema,
    value: { address: "" },
    message: /address: "" is empty; give an address or a name$/,
  },
  ...[
    "bad key with spaces",
    "",
    "a/b/c",
    "-x/y",
    "example.com/",
    "k".repeat(64),
    "under_score.example/x",
  ].map((key) => ({
    what: `an annotation whose key is none, ${key}`,
    schema: networkLinkSchema,
    value: { serviceAnnotations: { "example.com/internal": "true", [key]: "x" } },
    message: new RegExp(
      `serviceAnnotations: have the key "${escaped(key)}", which is no annotation key; use up to 63 letters`,
    ),
  })),
  {
    what: "such a key at the gateways of an installation",
    schema: installationSettingsSchema,
    value: {
      clusterId: "rome",
      image: "runtime:1",
      networking: {
        podCidrs: ["10.31.0.0/16"],
        serviceCidr: "10.131.0.0/16",
        gateway: { serviceAnnotations: { "load balancer": "internal" } },
      },
    },
    message:
      /networking\.gateway\.serviceAnnotations: have the key "load balancer", which is no annotation key/,
  },
  {
    what: "such a key on a virtual node",
    schema: virtualNodeSchema,
    value: {
      providerClusterId: "milan",
      tenantNamespace: "liqo-tenant-milan",
      nodeName: "gpu-pool",
      kubeconfigSecretName: "kubeconfig-gpu",
      annotations: { "owner?": "team-a" },
    },
    message: /annotations: have the key "owner\?", which is no annotation key/,
  },
];

describe("arguments of components", () => {
  for (const { what, schema, value, message } of cases) {
    it(`names the property, the value and the way out: ${what}`, () => {
      assert.throws(
        () => parseArguments(schema, 'Installation "x"', value),
        (error) => {
          assert.ok(error instanceof InvalidObjectError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  for (const link of [
    { address: "vpn.example" },
    { address: "Gateway-1.vpn.example." },
    { address: "milan" },
    { address: "203.0.113.10", addressPort: 4500 },
    { address: "2001:db8::7" },
    { loadBalancerIp: "203.0.113.10" },
    { loadBalancerIp: "2001:db8::7" },
    { serviceAnnotations: { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb", "my_Key.1": "" } },
  ])
    it(`takes a link with ${JSON.stringify(link)}`, () => {
      const parsed = parseArguments(networkLinkSchema, "NetworkPeering", link);
      assert.deepEqual({ ...parsed, ...link }, parsed);
    });

  it("takes the longest cluster ID there is", () => {
    const clusterId = "r".repeat(51);
    const parsed = parseArguments(installationSettingsSchema, "Installation", { clusterId, image: "i:1" });
    assert.equal(`liqo-tenant-${parsed.clusterId}`.length, 63);
  });

  it("fills the defaults", () => {
    const parsed = parseArguments(installationSettingsSchema, "Installation", {
      clusterId: "rome",
      image: "i:1",
    });
    assert.equal(parsed.namespace, "liqo");
    assert.deepEqual(parsed.replicas, { controllerManager: 1, virtualKubelet: 1, webhook: 1 });
    assert.deepEqual(parsed.defaultNodeResources, {
      cpu: "4",
      memory: "8Gi",
      pods: "110",
      "ephemeral-storage": "20Gi",
    });
  });
});

describe("amounts of resources", () => {
  it("are taken as text or number", () => {
    assert.deepEqual(resourceListSchema.parse({ cpu: 8, memory: "16Gi" }), { cpu: "8", memory: "16Gi" });
  });

  for (const [value, fault] of [
    ["-1", "is negative; give an amount of zero or more"],
    [-2, "is negative; give an amount of zero or more"],
    ["-", "is not a quantity; give a number with an optional suffix, such as 500m, 2 or 1.5Gi"],
    ["8 cores", "is not a quantity; give a number with an optional suffix, such as 500m, 2 or 1.5Gi"],
  ] as const) {
    it(`refuse ${JSON.stringify(value)}`, () => {
      const issues = resourceListSchema.safeParse({ cpu: value }).error?.issues ?? [];
      assert.deepEqual(
        issues.map(({ message }) => message),
        [fault],
      );
    });
  }
});
