/** Against Pulumi's mocks: what the components register lets nothing be made anew that is still the same. See tests/e2e/changed-arguments.test.ts. */
import assert from "node:assert/strict";

import {
  Installation,
  type InstallationArgs,
  Peering,
  ResourceSlice,
  VirtualNode,
} from "../../../components";
import { Annotation } from "../../../runtime/api";
import type { ManifestMeta } from "../../../runtime/plan/manifest";
import { recordResources, type RecordedResource } from "./recorded-resources";

const DYNAMIC = "pulumi-nodejs:dynamic/liqo:";

/** What the steps of a peering would find. */
const computed = {
  [`${DYNAMIC}NonceRead`]: { nonce: "bm9uY2U=" },
  [`${DYNAMIC}TenantCredentials`]: { publicKey: "a2V5", csr: "Y3Ny", signature: "c2ln" },
  [`${DYNAMIC}IdentityCredentials`]: {
    authParams: { apiServer: "https://192.0.2.7:6443", signedCRT: "Y3J0" },
    tenantNamespace: "liqo-tenant-rome",
  },
  [`${DYNAMIC}WaitFor`]: { value: "kubeconfig-resourceslice-milan" },
  [`${DYNAMIC}ClusterNetworks`]: { podCidrs: ["10.31.0.0/16"], externalCidr: "10.70.0.0/16" },
  [`${DYNAMIC}GatewayRead`]: { publicKey: "a2V5", addresses: ["192.0.2.9"], port: 51840 },
};

const rome = { kubeconfig: "kubeconfig of rome", clusterId: "rome" };
const milan = { kubeconfig: "kubeconfig of milan", clusterId: "milan", liqoNamespace: "liqo-system" };

const ofKind = (resources: RecordedResource[], kind: string) =>
  resources.filter(({ type }) => type.endsWith(`:${kind}`));
const metadataOf = ({ inputs }: RecordedResource) => inputs["metadata"] as ManifestMeta;

describe("arguments that change, with mocks", function () {
  this.timeout(180_000); // Pulumi serialises the provider of each dynamic resource

  for (const preview of [false, true]) {
    describe(preview ? "in a preview" : "in an update", () => {
      const installation = (args: Partial<InstallationArgs> = {}) =>
        recordResources(
          () => {
            const { clusterId } = new Installation("milan", {
              cluster: { kubeconfig: milan.kubeconfig },
              namespace: "liqo-system",
              image: "runtime:7",
              ...args,
            });
            return [clusterId];
          },
          { preview },
        );

      it("tells the Preflight what an installation is, so that it holds a change of it", async () => {
        const { resources } = await installation({ clusterId: "milan-2" });
        assert.deepEqual(
          ofKind(resources, "Preflight").map(({ inputs }) => [inputs["clusterId"], inputs["namespace"]]),
          [["milan-2", "liqo-system"]],
        );
      });

      it("makes the pods of the control plane anew with another ID", async () => {
        const hashes = async (clusterId: string) => {
          const { resources } = await installation({ clusterId });
          const found = ofKind(resources, "Deployment").map(({ inputs }) => {
            const { template } = inputs["spec"] as { template: { metadata: ManifestMeta } };
            return template.metadata.annotations?.[Annotation.clusterIDHash];
          });
          assert.equal(new Set(found).size, 1);
          return found[0];
        };
        const first = await hashes("milan");
        assert.match(first ?? "", /^[0-9a-f]{16}$/);
        assert.equal(await hashes("milan"), first);
        assert.notEqual(await hashes("milan-2"), first);
      });

      it("names every object of a peering, whatever its steps have not told yet", async () => {
        const { resources } = await recordResources(
          () => [
            new Peering("peers", { consumer: rome, provider: milan, bidirectional: true }).nodeName,
            new VirtualNode("more", {
              consumer: rome,
              providerClusterId: "milan",
              nodeName: "milan-more",
              kubeconfigSecretName: new ResourceSlice("slice", {
                consumer: rome,
                providerClusterId: "milan",
                createVirtualNode: false,
              }).kubeconfigSecretName,
            }).nodeName,
          ],
          // In a preview nothing is told: as when credentials of a kubeconfig have changed.
          { preview, computed: preview ? {} : computed },
        );
        const objects = resources.filter(({ type }) => type.startsWith("kubernetes:"));
        assert.ok(objects.length > 15, `${objects.length} objects`);
        for (const object of objects) {
          const { name, namespace } = metadataOf(object);
          assert.ok(name, `${object.name} has no name`);
          assert.ok(object.inputs["kind"] === "Namespace" || namespace, `${object.name} has no namespace`);
        }
      });

      it("names the Deployments, whatever the ID will be", async () => {
        const { resources } = await installation();
        assert.deepEqual(
          ofKind(resources, "Deployment")
            .map((deployment) => metadataOf(deployment).name)
            .sort(),
          ["liqo-controller-manager", "liqo-virtual-kubelet", "liqo-webhook"],
        );
      });
    });
  }
});
