/** Against Pulumi's mocks: what the components of the networking register. Whether it works is shown by tests/e2e/network-peering.test.ts. */
import assert from "node:assert/strict";

import * as pulumi from "@pulumi/pulumi";

import {
  Fleet,
  Installation,
  type NetworkingArgs,
  NetworkPeering,
  type NetworkPeeringArgs,
  Peering,
  type PeeringArgs,
} from "../../../components";
import { recordResources, type RecordedResource } from "./recorded-resources";

const DYNAMIC = "pulumi-nodejs:dynamic/liqo:";
const computed = {
  [`${DYNAMIC}ClusterNetworks`]: { podCidrs: ["10.62.0.0/18"], externalCidr: "10.70.0.0/16" },
  [`${DYNAMIC}GatewayRead`]: { publicKey: "a2V5", addresses: ["203.0.113.10"], port: 31840 },
  [`${DYNAMIC}NetworkConnection`]: { since: "2026-05-04T12:00:00Z" },
  [`${DYNAMIC}ProxyRead`]: { url: "http://10.68.0.3:8118" },
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

/** Kind, provider, namespace and name of each Kubernetes object. */
const shown = (resources: RecordedResource[], ...kinds: string[]) =>
  resources
    .filter(({ type }) => type.startsWith("kubernetes:") && kinds.includes(type.split(":").at(-1) ?? ""))
    .map(({ type, provider, inputs }) => {
      const { name = "", namespace = "" } = inputs["metadata"] as { name?: string; namespace?: string };
      return `${type.split(":").at(-1)} ${provider} ${namespace}/${name}`;
    })
    .sort();
const specOf = (resources: RecordedResource[], kind: string) => {
  const found = resources.find(({ type }) => type.endsWith(`:${kind}`));
  return found?.inputs["spec"] as Record<string, unknown> | undefined;
};

describe("the networking of components, with mocks", function () {
  this.timeout(180_000); // Pulumi serialises the provider of each dynamic resource

  const installation = (networking: NetworkingArgs | undefined, preview = false) =>
    recordResources(
      () => {
        const { clusterId } = new Installation("milan", {
          cluster: { kubeconfig: milan.kubeconfig },
          clusterId: "milan",
          namespace: "liqo-system",
          image: "runtime:7",
          ...(networking !== undefined && { networking }),
        });
        return [clusterId];
      },
      { preview, computed },
    );

  for (const preview of [false, true]) {
    it(`is registered with the installation ${preview ? "in a preview" : "in an update"}`, async () => {
      const { resources } = await installation(
        {
          podCidrs: ["10.62.0.0/18", "10.63.0.0/20"],
          serviceCidr: "10.162.64.0/20",
          reservedSubnets: ["172.18.0.0/16"],
        },
        preview,
      );
      assert.deepEqual(
        shown(resources, "Network", "DaemonSet", "WgGatewayServerTemplate", "WgGatewayClientTemplate"),
        [
          "DaemonSet milan liqo-system/liqo-fabric",
          "Network milan liqo-system/external-cidr",
          "Network milan liqo-system/internal-cidr",
          "Network milan liqo-system/pod-cidr-10-62-0-0-18",
          "Network milan liqo-system/pod-cidr-10-63-0-0-20",
          "Network milan liqo-system/reserved-172-18-0-0-16",
          "Network milan liqo-system/service-cidr",
          "WgGatewayClientTemplate milan liqo-system/wireguard-client",
          "WgGatewayServerTemplate milan liqo-system/wireguard-server",
        ],
      );
      assert.ok(shown(resources, "ClusterRole").includes("ClusterRole milan /liqo-fabric"));
    });
  }

  it("is not registered where it was not asked for", async () => {
    const { resources } = await installation(undefined);
    assert.deepEqual(shown(resources, "Network", "DaemonSet"), []);
    assert.ok(!shown(resources, "ClusterRole").includes("ClusterRole milan /liqo-gateway"));
  });

  it("refuses in a preview what cannot work", async () => {
    const overlapping = { podCidrs: ["10.62.0.0/18"], serviceCidr: "10.62.0.0/20" };
    await assert.rejects(
      installation(overlapping, true),
      /serviceCidr: "10\.62\.0\.0\/20" overlaps podCidrs\[0\]/,
    );
    const dual = { podCidrs: ["10.62.0.0/18", "fd00:62::/64"], serviceCidr: "10.162.0.0/20" };
    await assert.rejects(installation(dual, true), /podCidrs\[1\]: "fd00:62::\/64" is an IPv6 network/);
  });

  const peering = (args: Partial<NetworkPeeringArgs> = {}, preview = false) =>
    recordResources(
      () => {
        const { consumerTenantNamespace, providerTenantNamespace } = new NetworkPeering("rome-milan", {
          consumer: { ...rome, tenantNamespace: "to-milan" },
          provider: milan,
          ...args,
        });
        return [consumerTenantNamespace, providerTenantNamespace];
      },
      { preview, computed },
    );
  const kinds = ["Configuration", "GatewayServer", "GatewayClient", "PublicKey"];

  it("connects two clusters, the server at the provider", async () => {
    const { resources, outputs } = await peering();
    assert.deepEqual(shown(resources, ...kinds), [
      "Configuration rome-milan-consumer to-milan/milan",
      "Configuration rome-milan-provider liqo-tenant-rome/rome",
      "GatewayClient rome-milan-consumer to-milan/milan",
      "GatewayServer rome-milan-provider liqo-tenant-rome/rome",
      "PublicKey rome-milan-consumer to-milan/milan",
      "PublicKey rome-milan-provider liqo-tenant-rome/rome",
    ]);
    assert.deepEqual(specOf(resources, "GatewayServer"), {
      mtu: 1340,
      endpoint: { port: 51840, serviceType: "LoadBalancer" },
      serverTemplateRef: {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "WgGatewayServerTemplate",
        name: "wireguard-server",
        namespace: "liqo-system",
      },
    });
    assert.deepEqual(specOf(resources, "GatewayClient"), {
      mtu: 1340,
      endpoint: { addresses: ["203.0.113.10"], port: 31840, protocol: "UDP" },
      clientTemplateRef: {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "WgGatewayClientTemplate",
        name: "wireguard-client",
        namespace: "liqo",
      },
    });
    assert.deepEqual(outputs, ["to-milan", "liqo-tenant-rome"]);
    const waits = resources.filter(({ type }) => type === `${DYNAMIC}NetworkConnection`);
    assert.deepEqual(waits.map(({ inputs }) => inputs["peerClusterId"]).sort(), ["milan", "rome"]);
  });

  it("puts the server at the consumer where asked, and gives the client the address it is told", async () => {
    const link = {
      serviceType: "NodePort",
      nodePort: 31840,
      address: "vpn.rome.example",
      addressPort: 4500,
      mtu: 1400,
    };
    const { resources } = await peering({ server: "consumer", link });
    assert.deepEqual(shown(resources, "GatewayServer", "GatewayClient"), [
      "GatewayClient rome-milan-provider liqo-tenant-rome/rome",
      "GatewayServer rome-milan-consumer to-milan/milan",
    ]);
    const client = specOf(resources, "GatewayClient");
    assert.deepEqual(client?.["endpoint"], { addresses: ["vpn.rome.example"], port: 4500, protocol: "UDP" });
    assert.equal(client["mtu"], 1400);
    assert.equal(specOf(resources, "GatewayServer")?.["mtu"], 1400);
  });

  for (const [what, args, expected] of [
    [
      "a server that only its own cluster reaches",
      { link: { serviceType: "ClusterIP" } },
      /serviceType: "ClusterIP" is reached from inside its own cluster only; take LoadBalancer or NodePort/,
    ],
    ["a side that is none", { server: "milan" }, /server: "milan" is not one of "provider", "consumer"/],
    ["a segment that is too small", { link: { mtu: 900 } }, /mtu: 900 is below 1280/],
    [
      "a node port of a Service that has none",
      { link: { serviceType: "ClusterIP", address: "10.0.0.1", nodePort: 31840 } },
      /nodePort: 31840 is for Services of type NodePort or LoadBalancer/,
    ],
  ] satisfies [string, Partial<NetworkPeeringArgs>, RegExp][]) {
    it(`refuses ${what}, in a preview`, async () => {
      await assert.rejects(peering(args, true), expected);
    });
  }

  it("comes with a peering, in the namespaces that the peering has, unless that is told to leave it", async () => {
    const run = (args: Partial<PeeringArgs> = {}) =>
      recordResources(
        () => [new Peering("rome-milan", { consumer: rome, provider: milan, ...args }).nodeName],
        { computed },
      );
    const { resources } = await run();
    assert.deepEqual(shown(resources, "Configuration", "NamespacePatch"), [
      "Configuration rome-milan-consumer liqo-tenant-milan/milan",
      "Configuration rome-milan-provider liqo-tenant-rome/rome",
      "NamespacePatch rome-milan-consumer /liqo-tenant-milan",
      "NamespacePatch rome-milan-provider /liqo-tenant-rome",
    ]);
    assert.deepEqual(shown((await run({ networking: { enabled: false } })).resources, ...kinds), []);
    assert.equal(specOf(resources, "Tenant")?.["proxyURL"], undefined);
    await assert.rejects(
      run({ networking: { enabled: false }, inBand: true }),
      /inBand: true goes through the tunnel between the networks, which networking.enabled turns off/,
    );
  });

  for (const [what, networking, message] of [
    [
      "of its link",
      { link: { mtu: 900 } },
      'Peering "rome-milan": networking.link.mtu: 900 is below 1280, the least that the tunnel\'s headers leave useful',
    ],
    [
      "of its link, known later",
      { link: pulumi.output({ serviceType: "ClusterIP", address: "10.0.0.1", nodePort: 31840 }) },
      'Peering "rome-milan": networking.link.nodePort: 31840 is for Services of type NodePort or LoadBalancer; the type is ClusterIP',
    ],
    [
      "of its server",
      { server: "milan" },
      'Peering "rome-milan": networking.server: "milan" is not one of "provider", "consumer"; take one of these',
    ],
  ] satisfies [string, PeeringArgs["networking"], string][]) {
    it(`tells a fault ${what} by the name that it has in a peering's arguments`, async () => {
      const run = () => [new Peering("rome-milan", { consumer: rome, provider: milan, networking }).nodeName];
      await assert.rejects(recordResources(run, { preview: true, computed }), { message });
    });
  }

  it("hands the link of a peering on as it was given", async () => {
    const networking = { link: { serviceType: "NodePort", mtu: 1400 } };
    const run = () => [new Peering("rome-milan", { consumer: rome, provider: milan, networking }).nodeName];
    const { resources } = await recordResources(run, { computed });
    assert.deepEqual(
      resources.find(({ type }) => type.endsWith(":NetworkPeering"))?.inputs["link"],
      networking.link,
    );
    assert.equal(specOf(resources, "GatewayServer")?.["mtu"], 1400);
  });

  it("carries what the consumer's controllers say to the provider, where it is in band", async () => {
    const { resources } = await recordResources(
      () => [
        new Peering("rome-milan", {
          consumer: { ...rome, tenantNamespace: "to-milan" },
          provider: milan,
          bidirectional: true,
          inBand: true,
        }).nodeName,
      ],
      { computed },
    );
    const proxies = resources.filter(({ type }) => type === `${DYNAMIC}ProxyRead`);
    assert.deepEqual(
      proxies
        .map(({ name, inputs }) => [name, inputs["providerClusterId"], inputs["tenantNamespace"]])
        .sort(),
      [
        ["rome-milan-proxy", "milan", "to-milan"],
        ["rome-milan-reverse-proxy", "rome", "liqo-tenant-rome"],
      ],
    );
    const tenants = resources.filter(({ type }) => type.endsWith(":Tenant"));
    assert.deepEqual(
      tenants.map(({ inputs }) => (inputs["spec"] as { proxyURL?: string }).proxyURL),
      ["http://10.68.0.3:8118", "http://10.68.0.3:8118"],
    );
  });

  it("is refused in a preview where an installation of the program has no networking, or no proxy for it", async () => {
    const run = (networking: NetworkingArgs | undefined, args: Partial<PeeringArgs>) =>
      recordResources(
        () => {
          const { clusterId } = new Installation("alps", {
            cluster: { kubeconfig: milan.kubeconfig },
            clusterId: "milan",
            image: "runtime:7",
            ...(networking !== undefined && { networking }),
          });
          const provider = { kubeconfig: milan.kubeconfig, clusterId };
          return [new Peering("rome-milan", { consumer: rome, provider, ...args }).nodeName];
        },
        { preview: true, computed },
      );
    const networks = { podCidrs: ["10.62.0.0/18"], serviceCidr: "10.162.64.0/20" };
    await assert.rejects(
      run(undefined, {}),
      /Peering "rome-milan".*provider: has no networking, .* give Installation "alps" the argument networking, or the peering "networking: \{ enabled: false \}"/,
    );
    await assert.rejects(
      run(networks, { inBand: true }),
      /provider: has no proxy, .*: give Installation "alps" "proxy: true"/,
    );
    await run(undefined, { networking: { enabled: false } });
    await run(networks, {});
  });

  for (const without of ["consumer", "provider"] as const) {
    it(`is refused in a preview, networks alone, where the ${without}'s installation of the program has none`, async () => {
      const networks = { podCidrs: ["10.62.0.0/18"], serviceCidr: "10.162.64.0/20" };
      const installed = (cluster: typeof rome, networking: NetworkingArgs | undefined) => {
        const { clusterId } = new Installation(`${cluster.clusterId}-alps`, {
          cluster: { kubeconfig: cluster.kubeconfig },
          clusterId: cluster.clusterId,
          image: "runtime:7",
          ...(networking !== undefined && { networking }),
        });
        return { kubeconfig: cluster.kubeconfig, clusterId };
      };
      const run = (networking: NetworkingArgs | undefined) =>
        recordResources(
          () => {
            const consumer = installed(rome, without === "consumer" ? networking : networks);
            const provider = installed(milan, without === "provider" ? networking : networks);
            return [new NetworkPeering("rome-milan", { consumer, provider }).consumerTenantNamespace];
          },
          { preview: true, computed },
        );
      const subject = `Installation "${without === "consumer" ? "rome" : "milan"}-alps"`;
      await assert.rejects(run(undefined), {
        message: `NetworkPeering "rome-milan": ${without}: has no networking, and the peering connects the networks of the two: give ${subject} the argument networking`,
      });
      await run(networks);
    });
  }

  it("comes with a fleet, and is refused where one of the two clusters has none", async () => {
    const networks = { podCidrs: ["10.31.0.0/16"], serviceCidr: "10.131.0.0/16" };
    const fleet = (romes: NetworkingArgs | undefined) =>
      recordResources(
        () => {
          const { nodeNames } = new Fleet("eu", {
            image: "runtime:7",
            clusters: {
              rome: { kubeconfig: rome.kubeconfig, ...(romes !== undefined && { networking: romes }) },
              milan: { kubeconfig: milan.kubeconfig, networking: networks },
            },
            peerings: { north: { consumer: "rome", provider: "milan", networking: { server: "consumer" } } },
          });
          return [nodeNames];
        },
        { computed },
      );
    const { resources } = await fleet(networks);
    assert.deepEqual(shown(resources, "GatewayServer"), ["GatewayServer eu-rome liqo-tenant-milan/milan"]);
    assert.equal(shown(resources, "DaemonSet").length, 2);
    await assert.rejects(
      fleet(undefined),
      /peerings\.north: connects networks, and cluster rome has no networking; give the cluster the argument networking, or the peering "networking: \{ enabled: false \}"/,
    );
  });
});
