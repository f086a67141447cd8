/** Against Pulumi's mocks: what the components register. Whether it works is shown by tests/e2e/components.test.ts. */
import assert from "node:assert/strict";

import {
  AuthenticationPeering,
  clusterProvider,
  Fleet,
  type FleetArgs,
  Installation,
  type InstallationArgs,
  NamespaceOffloading,
  Peering,
  type PeeringArgs,
  ResourceSlice,
} from "../../../components";
import { recordResources, type RecordedResource } from "./recorded-resources";

const DYNAMIC = "pulumi-nodejs:dynamic/liqo:";

/** What the steps of the handshake and the waits would find. */
const computed = {
  [`${DYNAMIC}NonceRead`]: { nonce: "bm9uY2U=" },
  [`${DYNAMIC}TenantCredentials`]: { publicKey: "a2V5", csr: "Y3Ny", signature: "c2ln" },
  [`${DYNAMIC}IdentityCredentials`]: {
    authParams: { apiServer: "https://192.0.2.7:6443", signedCRT: "Y3J0" },
    tenantNamespace: "liqo-tenant-rome",
  },
  [`${DYNAMIC}WaitFor`]: { value: "kubeconfig-resourceslice-milan" },
};

const rome = { kubeconfig: "kubeconfig of rome", clusterId: "rome" };
const milan = { kubeconfig: "kubeconfig of milan", clusterId: "milan", liqoNamespace: "liqo-system" };

const ofKind = (resources: RecordedResource[], kind: string) =>
  resources.filter(({ type }) => type.endsWith(`:${kind}`));
const only = (resources: RecordedResource[], kind: string): RecordedResource => {
  const [found, ...more] = ofKind(resources, kind);
  assert.ok(found !== undefined && more.length === 0, `${more.length + (found ? 1 : 0)} of kind ${kind}`);
  return found;
};
const metadataOf = ({ inputs }: RecordedResource) =>
  inputs["metadata"] as { name?: string; namespace?: string };

describe("the structure of components, with mocks", function () {
  this.timeout(180_000); // Pulumi serialises the provider of each dynamic resource

  for (const preview of [false, true]) {
    describe(preview ? "in a preview" : "in an update", () => {
      const installation = (args: Partial<InstallationArgs> = {}) =>
        recordResources(
          () => {
            const { clusterId, namespace } = new Installation("milan", {
              cluster: { kubeconfig: milan.kubeconfig },
              clusterId: "milan",
              namespace: "liqo-system",
              image: "runtime:7",
              ...args,
            });
            return [clusterId, namespace];
          },
          { preview, computed },
        );

      it("gives every Kubernetes object of an installation the provider of its cluster", async () => {
        const { resources } = await installation();
        const objects = resources.filter(({ type }) => type.startsWith("kubernetes:"));
        assert.ok(objects.length > 20, `${objects.length} objects`);
        assert.deepEqual(new Set(objects.map(({ provider }) => provider)), new Set(["milan"]));
        assert.deepEqual(
          ofKind(resources, "Deployment")
            .map((deployment) => metadataOf(deployment).name)
            .sort(),
          ["liqo-controller-manager", "liqo-virtual-kubelet", "liqo-webhook"],
        );
      });

      it("knows the provider by its name, not by the text of the kubeconfig or by the cluster ID", async () => {
        const { resources } = await installation({ clusterId: "milan-2" });
        const { inputs } = only(resources, "kubernetes");
        assert.equal(inputs["clusterIdentifier"], "milan");
        assert.equal(inputs["enableSecretMutable"], "true");
      });

      it("makes no provider where one is given", async () => {
        const { resources } = await recordResources(
          () => {
            const provider = clusterProvider("shared", {
              kubeconfig: milan.kubeconfig,
              clusterIdentifier: "milan",
            });
            return [
              new Installation("milan", {
                cluster: { kubeconfig: milan.kubeconfig, provider },
                clusterId: "milan",
                image: "runtime:7",
              }).clusterId,
            ];
          },
          { preview, computed },
        );
        assert.equal(only(resources, "kubernetes").name, "shared");
        const objects = resources.filter(({ type }) => type.startsWith("kubernetes:"));
        assert.deepEqual(new Set(objects.map(({ provider }) => provider)), new Set(["shared"]));
      });

      it("draws a cluster ID that stays, where none is given", async () => {
        const { resources } = await recordResources(
          () => [
            new Installation("milan", { cluster: { kubeconfig: milan.kubeconfig }, image: "runtime:7" })
              .clusterId,
          ],
          { preview },
        );
        assert.equal(only(resources, "RandomPet").name, "milan-cluster-id");
      });

      it("draws a name for telemetry that stays, where telemetry is asked for", async () => {
        const off = await installation();
        assert.deepEqual(ofKind(off.resources, "RandomUuid"), []);
        const { resources } = await installation({ telemetry: { endpoint: "https://reports.example" } });
        assert.equal(only(resources, "RandomUuid").name, "milan-telemetry-identity");
        const maps = ofKind(resources, "ConfigMap").map(({ name }) => name);
        assert.ok(maps.includes("milan-telemetry-identity"), maps.join(", "));
      });

      it("does not wait for the webhook's Services before there is a webhook", async () => {
        const { resources } = await installation();
        const services = ofKind(resources, "Service");
        assert.deepEqual(services.map((service) => metadataOf(service).name).sort(), [
          "liqo-webhook",
          "liqo-webhook-leader",
        ]);
        for (const { inputs } of services) {
          const { annotations } = inputs["metadata"] as { annotations: Record<string, string> };
          assert.equal(annotations["pulumi.com/skipAwait"], "true");
        }
      });

      it("has a proxy, a metric agent and the map of AWS users only where they are asked for", async () => {
        const names = async (args: Partial<InstallationArgs>) =>
          (await installation(args)).resources
            .map((resource) => `${resource.type.split(":").at(-1)} ${metadataOf(resource)?.name ?? ""}`)
            .filter((name) => /proxy|metric|aws/.test(name));
        assert.deepEqual(await names({}), []);
        const aws = { region: "eu-south-1", clusterName: "milan", credentialsSecret: "aws" };
        assert.deepEqual((await names({ proxy: true, metricAgent: true, aws })).sort(), [
          "APIService v1beta1.metrics.liqo.io",
          "ClusterRole liqo-metric-agent",
          "ClusterRoleBinding liqo-metric-agent",
          "Deployment liqo-metric-agent",
          "Deployment liqo-proxy",
          "Role liqo-controller-manager-aws-auth",
          "RoleBinding liqo-controller-manager-aws-auth",
          "RoleBinding liqo-metric-agent",
          "Service liqo-metric-agent",
          "Service liqo-proxy",
          "ServiceAccount liqo-metric-agent",
          "ServiceAccount liqo-proxy",
        ]);
      });

      it("knows the cluster ID and the namespace", async () => {
        const { outputs } = await installation();
        assert.deepEqual(outputs, ["milan", "liqo-system"]);
      });

      const refusals: [what: string, args: Partial<InstallationArgs>, message: RegExp][] = [
        [
          "a namespace that is none",
          { namespace: "Liqo" },
          /Installation "milan": namespace: "Liqo" is not a namespace name/,
        ],
        [
          "a cluster ID that is none",
          { clusterId: "Milano!" },
          /Installation "milan".*"Milano!" is not a cluster ID/,
        ],
        ["an image that is empty", { image: "" }, /image: "" is empty; give the runtime's image/],
        [
          "a pod CIDR that is none",
          { podCidrs: ["10.62.0.0"] },
          /podCidrs\[0\]: "10\.62\.0\.0" is not a CIDR/,
        ],
      ];
      for (const [what, args, message] of refusals) {
        it(`refuses ${what}`, async () => {
          await assert.rejects(installation(args), (error) => {
            assert.match(String(error), message);
            return true;
          });
        });
      }

      it("puts each object of the handshake into its cluster", async () => {
        const { resources } = await recordResources(
          () => {
            const { consumerTenantNamespace, providerTenantNamespace } = new AuthenticationPeering("peers", {
              consumer: rome,
              provider: milan,
            });
            return [consumerTenantNamespace, providerTenantNamespace];
          },
          { preview, computed },
        );
        const objects = resources.filter(({ type }) => type.startsWith("kubernetes:"));
        const providers = Object.fromEntries(objects.map(({ name, provider }) => [name, provider]));
        assert.equal(providers["peers-consumer-tenant-namespace"], "peers-consumer");
        assert.equal(providers["peers-provider-tenant-namespace"], "peers-provider");
        assert.equal(providers["peers-nonce"], "peers-provider");
        assert.equal(providers["peers-signed-nonce"], "peers-consumer");
        assert.equal(providers["peers-tenant"], "peers-provider");
        assert.equal(providers["peers-identity"], "peers-consumer");
        // A secret, to the engine, is an object with the value inside.
        const kubeconfigs = Object.fromEntries(
          resources.map(({ name, inputs }) => [
            name,
            (inputs["kubeconfig"] as { value?: string } | undefined)?.value,
          ]),
        );
        assert.equal(kubeconfigs["peers-nonce-read"], milan.kubeconfig);
        assert.equal(kubeconfigs["peers-tenant-credentials"], rome.kubeconfig);
        assert.equal(kubeconfigs["peers-identity-credentials"], milan.kubeconfig);
      });

      it("has two tenant namespaces for both directions", async () => {
        const peering = (args: Partial<PeeringArgs>) =>
          recordResources(
            () => {
              const { nodeName, reverseNodeName } = new Peering("peers", {
                consumer: rome,
                provider: milan,
                networking: { enabled: false },
                ...args,
              });
              return [nodeName, reverseNodeName];
            },
            { preview, computed },
          );
        const oneWay = await peering({});
        assert.equal(ofKind(oneWay.resources, "TenantNamespace").length, 2);
        assert.equal(ofKind(oneWay.resources, "Tenant").length, 1);
        assert.equal(oneWay.outputs[1], "");
        const both = await peering({ bidirectional: true });
        assert.equal(ofKind(both.resources, "TenantNamespace").length, 2);
        // Stacks of before have the namespaces of the plugin under these names.
        assert.deepEqual(
          ofKind(both.resources, "NamespacePatch").map(({ name }) => name),
          ["peers-consumer-tenant-namespace", "peers-provider-tenant-namespace"],
        );
        assert.equal(ofKind(both.resources, "Namespace").length, 0);
        assert.deepEqual(
          ofKind(both.resources, "Tenant").map(({ name }) => name),
          ["peers-tenant", "peers-reverse-tenant"],
        );
        assert.deepEqual(
          ofKind(both.resources, "ResourceSlice")
            .filter(({ type }) => type.startsWith("kubernetes:"))
            .map((slice) => metadataOf(slice).name),
          ["milan", "rome"],
        );
      });

      it("asks for nothing where it is told to", async () => {
        const { resources, outputs } = await recordResources(
          () => [
            new Peering("peers", {
              consumer: rome,
              provider: milan,
              networking: { enabled: false },
              createResourceSlice: false,
            }).nodeName,
          ],
          { preview, computed },
        );
        assert.deepEqual(ofKind(resources, "ResourceSlice"), []);
        assert.deepEqual(outputs, [""]);
      });

      it("gives up on a slice at once when the provider denies it", async () => {
        const { resources } = await recordResources(
          () => [new ResourceSlice("slice", { consumer: rome, providerClusterId: "milan" }).nodeName],
          { preview, computed },
        );
        const waits = ofKind(resources, "WaitFor").filter(({ inputs }) => inputs["failOn"] !== undefined);
        assert.deepEqual(
          waits.map(({ inputs }) => (inputs["failOn"] as { equals: string }).equals),
          ["Denied", "Denied"],
        );
      });

      const fleet = (peerings: FleetArgs["peerings"]) =>
        recordResources(
          () => {
            const { nodeNames } = new Fleet("fleet", {
              image: "runtime:7",
              clusters: {
                rome: { kubeconfig: rome.kubeconfig },
                milan: { kubeconfig: milan.kubeconfig, namespace: "liqo-system" },
                turin: { kubeconfig: "kubeconfig of turin" },
              },
              ...(peerings === undefined ? {} : { peerings }),
            });
            return [nodeNames];
          },
          { preview, computed },
        );

      it("makes a fleet's clusters and peerings, with one provider for each cluster", async () => {
        const { resources } = await fleet({
          north: { consumer: "rome", provider: "milan", networking: { enabled: false } },
          west: { consumer: "rome", provider: "turin", bidirectional: true, networking: { enabled: false } },
        });
        assert.deepEqual(
          ofKind(resources, "kubernetes")
            .map(({ name }) => name)
            .sort(),
          ["fleet-milan", "fleet-rome", "fleet-turin"],
        );
        assert.equal(ofKind(resources, "Installation").length, 3);
        assert.deepEqual(
          ofKind(resources, "Tenant")
            .map(({ name, provider }) => [name, provider])
            .sort(),
          [
            ["fleet-north-tenant", "fleet-milan"],
            ["fleet-west-reverse-tenant", "fleet-rome"],
            ["fleet-west-tenant", "fleet-turin"],
          ],
        );
      });

      for (const [what, peerings, message] of [
        [
          "a peering with a cluster that is not there",
          { north: { consumer: "rome", provider: "genoa" } },
          /peerings\.north\.provider.* is no cluster of the fleet; take one of rome, milan, turin/,
        ],
        [
          "two peerings between the same clusters",
          { a: { consumer: "rome", provider: "milan" }, b: { consumer: "milan", provider: "rome" } },
          /peerings\.b.* is between the same clusters as a; make a bidirectional/,
        ],
        [
          "a cluster as its own peer",
          { self: { consumer: "rome", provider: "rome" } },
          /a cluster cannot peer with itself/,
        ],
      ] as const) {
        it(`refuses ${what}`, async () => {
          await assert.rejects(fleet(peerings), (error) => {
            assert.match(String(error), message);
            return true;
          });
        });
      }

      it("waits until an offloaded namespace is ready", async () => {
        const { resources } = await recordResources(
          () => [new NamespaceOffloading("shop", { cluster: rome, namespace: "shop" }).namespace],
          { preview, computed },
        );
        const [object] = ofKind(resources, "NamespaceOffloading").filter(({ type }) =>
          type.startsWith("kubernetes:"),
        );
        assert.ok(object);
        const { inputs } = object;
        const { annotations } = inputs["metadata"] as { annotations: Record<string, string> };
        assert.equal(annotations["pulumi.com/waitFor"], "jsonpath={.status.offloadingPhase}=Ready");
        assert.deepEqual((inputs["spec"] as Record<string, unknown>)["clusterSelector"], {
          nodeSelectorTerms: [],
        });
      });
    });
  }
});
