import assert from "node:assert/strict";

import { InvalidObjectError } from "../../../runtime/api";
import { parseArguments } from "../../../runtime/plan/arguments";
import { installationSettingsSchema } from "../../../runtime/plan/installation-settings";
import {
  namespaceOffloadingSchema,
  sliceRequestSchema,
  virtualNodeSchema,
} from "../../../runtime/plan/offloading";

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
