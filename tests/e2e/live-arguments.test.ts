/**
 * Arguments that change on a live stack reach the other side with one `up`, without a refresh: on the real engine, between two control planes with the real
 * controllers. See tests/support/live-arguments.ts for all arguments, and tests/e2e/network-peering.test.ts for the packets.
 */
import assert from "node:assert/strict";

import * as pulumi from "@pulumi/pulumi";

import * as liqo from "../../components";
import {
  Configuration,
  DataKey,
  Deployment,
  GatewayClient,
  GatewayServer,
  Identity,
  kubeconfigSecretName,
  ResourceSlice,
  Secret,
  Service,
  Tenant,
  WgGatewayClient,
} from "../../runtime/api";
import { isRecord } from "../../runtime/api/invalid-object";
import { KubeClient } from "../../runtime/kube";
import type { ManifestMeta } from "../../runtime/plan/manifest";
import { GatewayPlayer } from "../support/gateway-player";
import { ManagedCluster } from "../support/managed-cluster";
import { pulumiProject, type PulumiProject } from "../support/pulumi-project";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

type Side = "rome" | "milan";
const SIDES = ["rome", "milan"] as const;
const PLAN = {
  rome: { namespace: "liqo", podCidr: "10.31.0.0/16", serviceCidr: "10.81.0.0/16", address: "192.0.2.31" },
  milan: {
    namespace: "liqo-system",
    podCidr: "10.62.0.0/18",
    serviceCidr: "10.92.0.0/16",
    address: "192.0.2.62",
  },
} as const;

/** What a program of these tests has; each test changes some of it. */
interface Given {
  peered: boolean;
  server: string;
  link: liqo.NetworkLinkArgs;
  milan: Partial<liqo.InstallationArgs>;
  milanNetworking: Partial<liqo.NetworkingArgs>;
  proxyUrl: string | undefined;
  resources: Record<string, string>;
  timeoutSeconds: number;
}

const FULL: Given = {
  peered: true,
  server: "provider",
  link: {},
  milan: {},
  milanNetworking: {},
  proxyUrl: undefined,
  resources: { cpu: "1" },
  timeoutSeconds: 60,
};

/** There are no nodes: workloads never become ready, and there are no webhooks to ask. */
const withoutNodes: pulumi.ResourceTransformation = ({ type, props, opts }) => {
  if (/:apps\/v1:(Deployment|DaemonSet)$/.test(type)) {
    const metadata = pulumi.output(props["metadata"] as pulumi.Input<ManifestMeta>).apply((value) => ({
      ...value,
      annotations: { ...value.annotations, "pulumi.com/skipAwait": "true" },
    }));
    return { props: { ...props, metadata }, opts };
  }
  if (!/:(Validating|Mutating)WebhookConfiguration$/.test(type)) return undefined;
  const given: unknown = props["webhooks"];
  assert.ok(Array.isArray(given));
  const webhooks = given.map((webhook: unknown) => {
    assert.ok(isRecord(webhook));
    return { ...webhook, failurePolicy: "Ignore", timeoutSeconds: 1 };
  });
  return { props: { ...props, webhooks }, opts };
};

describe("arguments that change on a live stack", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: PLAN.rome.serviceCidr, controllerManager: true, definitions: "absent" },
    milan: { serviceCidr: PLAN.milan.serviceCidr, controllerManager: true, definitions: "absent" },
  });
  const clusters: Partial<Record<Side, ManagedCluster>> = {};
  const players: GatewayPlayer[] = [];
  let project: PulumiProject;

  const at = (side: Side) => clusters[side]?.admin ?? assert.fail(`${side} is not there`);

  before(async function () {
    this.timeout(30 * 60_000); // the first run on a machine builds the engine
    project = await pulumiProject("live-arguments", {
      resourcePlugins: ["kubernetes", "random"],
      progress: console.log,
    });
    const installing = (await stack({ peered: false })).up();
    await Promise.all([installing, ...SIDES.map(startControllers)]);
    for (const side of SIDES) players.push(new GatewayPlayer(at(side), PLAN[side].address));
    await (await stack({})).up();
  });
  after(async () => {
    for (const player of players) player.end();
    await Promise.all(Object.values(clusters).map((cluster) => cluster.end()));
    project?.remove();
  });

  /** As soon as the installation has its last Deployment, which comes after all rights: its networks wait for them. */
  async function startControllers(side: Side): Promise<void> {
    const { namespace } = PLAN[side];
    const admin = KubeClient.fromKubeconfig(controlPlane(side).kubeconfig);
    const ref = { name: "liqo-virtual-kubelet", namespace };
    await until(`${side} has its Deployments`, () => admin.get(Deployment, ref), { timeoutMs: 200_000 });
    admin.close();
    const cluster = await ManagedCluster.install({
      controlPlane: controlPlane(side),
      clusterId: side,
      liqoNamespace: namespace,
      networking: true,
    });
    clusters[side] = cluster;
    await cluster.start();
  }

  function stack(changes: Partial<Given>) {
    return project.stack("live", () => Promise.resolve(program({ ...FULL, ...changes })));
  }

  function program(given: Given): Record<string, pulumi.Output<unknown>> {
    const installed = (
      side: Side,
      more: Partial<liqo.InstallationArgs>,
      networks: Partial<liqo.NetworkingArgs>,
    ) => {
      const { kubeconfig, url } = controlPlane(side);
      const provider = liqo.clusterProvider(side, { kubeconfig });
      const { podCidr, serviceCidr, namespace } = PLAN[side];
      const installation = new liqo.Installation(
        side,
        {
          cluster: { kubeconfig, provider },
          clusterId: side,
          namespace,
          image: "registry.example/runtime:7",
          apiServer: { address: url },
          networking: { podCidrs: [podCidr], serviceCidr, ...networks },
          ...more,
        },
        { transformations: [withoutNodes] },
      );
      return {
        kubeconfig,
        provider,
        clusterId: installation.clusterId,
        liqoNamespace: installation.namespace,
      };
    };
    const rome = installed("rome", {}, {});
    const milan = installed("milan", given.milan, given.milanNetworking);
    if (!given.peered) return {};
    const { timeoutSeconds } = given;
    const network = new liqo.NetworkPeering("net", {
      consumer: rome,
      provider: milan,
      server: given.server,
      link: given.link,
      timeoutSeconds,
    });
    const authentication = new liqo.AuthenticationPeering("auth", {
      consumer: { ...rome, tenantNamespace: network.consumerTenantNamespace },
      provider: { ...milan, tenantNamespace: network.providerTenantNamespace },
      createTenantNamespaces: false,
      ...(given.proxyUrl !== undefined && { proxyUrl: given.proxyUrl }),
      timeoutSeconds,
    });
    const slice = new liqo.ResourceSlice("slice", {
      consumer: rome,
      providerClusterId: milan.clusterId,
      tenantNamespace: authentication.consumerTenantNamespace,
      createVirtualNode: false,
      resources: given.resources,
      timeoutSeconds,
    });
    return { sliceName: slice.sliceName };
  }

  /** One run without a refresh. */
  async function up(changes: Partial<Given>): Promise<void> {
    await (await stack(changes)).up();
  }

  /** One run without a refresh, after which nothing is left to do. */
  async function upAndRest(changes: Partial<Given>): Promise<void> {
    await up(changes);
    await (await stack(changes)).preview({ expectNoChanges: true });
  }

  const client = async () =>
    (await at("rome").get(GatewayClient, { name: "milan", namespace: "liqo-tenant-milan" })) ?? assert.fail();
  const told = async () => {
    const found = await at("rome").get(Configuration, { name: "milan", namespace: "liqo-tenant-milan" });
    return found?.spec.remote?.cidr?.pod;
  };
  const resources = async () => {
    const found = await at("milan").get(ResourceSlice, { name: "milan", namespace: "liqo-tenant-rome" });
    return found?.status?.resources;
  };
  const identity = async () => {
    const name = "controlplane-milan";
    const namespace = "liqo-tenant-milan";
    const found = await at("rome").get(Identity, { name, namespace });
    const secret = await at("rome").get(Secret, { name: kubeconfigSecretName(name), namespace });
    const kubeconfig = Buffer.from(secret?.data?.[DataKey.kubeconfig] ?? "", "base64").toString();
    return [found?.spec.authParams?.proxyURL, /proxy-url: "?([^"\n]+)/.exec(kubeconfig)?.[1]];
  };

  it("are at rest before", async () => {
    await (await stack({})).preview({ expectNoChanges: true });
    assert.deepEqual((await client()).spec.endpoint, {
      addresses: [PLAN.milan.address],
      port: 51_840,
      protocol: "UDP",
    });
    assert.deepEqual(await told(), [PLAN.milan.podCidr]);
    assert.deepEqual(await identity(), [undefined, undefined]);
  });

  // Three runs carry all of these changes: to other values, to others again, and back.
  const PROXIES = ["http://10.68.0.3:8118", "http://10.68.0.4:8118"] as const;
  const POD_CIDRS = [PLAN.milan.podCidr, "10.63.0.0/20"];
  const BY_HAND = { serviceType: "ClusterIP", address: "vpn.milan.example", addressPort: 4500 } as const;

  it("carry a server's port and address, and the packets' size, to the client", async () => {
    const link = { port: 51_871, mtu: 1400, serviceAnnotations: { "example.com/zone": "south" } };
    const milanNetworking = { podCidrs: POD_CIDRS, reservedSubnets: ["172.30.0.0/15"] };
    await upAndRest({ link, milanNetworking, proxyUrl: PROXIES[0] });
    const { spec } = await client();
    assert.deepEqual(spec.endpoint, { addresses: [PLAN.milan.address], port: 51_871, protocol: "UDP" });
    assert.equal(spec.mtu, 1400);
    const made = await at("rome").get(WgGatewayClient, { name: "milan", namespace: "liqo-tenant-milan" });
    assert.match(JSON.stringify(made?.spec.deployment), /--endpoint-ports=51871/);
    const ref = { name: "gw-rome", namespace: "liqo-tenant-rome" };
    const service = await at("milan").get(Service, ref);
    assert.equal(service?.metadata.annotations?.["example.com/zone"], "south");
  });

  it("carry a further pod network to the peer, and take it back", async () => {
    assert.deepEqual(await told(), POD_CIDRS);
    assert.deepEqual(await identity(), [PROXIES[0], PROXIES[0]]);
    await up({ link: BY_HAND, proxyUrl: PROXIES[1] });
    assert.deepEqual(await told(), [PLAN.milan.podCidr]);
  });

  it("carry a kind of Service, and an address that is given by hand", async () => {
    assert.deepEqual((await client()).spec.endpoint, {
      addresses: ["vpn.milan.example"],
      port: 4500,
      protocol: "UDP",
    });
    assert.deepEqual(await identity(), [PROXIES[1], PROXIES[1]]);
    await upAndRest({});
    assert.deepEqual((await client()).spec.endpoint, {
      addresses: [PLAN.milan.address],
      port: 51_840,
      protocol: "UDP",
    });
  });

  it("switch the proxy of a consumer's credentials on, to another, and off", async () => {
    // On and to another: asserted after the runs above.
    assert.deepEqual(await identity(), [undefined, undefined]);
  });

  it("carry what is asked for to the provider; what it denies fails with its reason, and is gone on from", async () => {
    await up({ resources: { cpu: "2", memory: "3Gi" } });
    assert.deepEqual(await resources().then((all) => [all?.["cpu"], all?.["memory"]]), ["2", "3Gi"]);
    const milan = clusters.milan ?? assert.fail();
    await milan.stop();
    await milan.start(["--default-resource-slice-class-enabled=false"]);
    await assert.rejects((await stack({ resources: { cpu: "5" } })).up(), (error) => {
      assert.match(String(error), /Resources.*Denied/);
      assert.match(String(error), /DefaultResourceSliceClassDisabled/);
      return true;
    });
    await milan.stop();
    await milan.start();
    await up({ resources: { cpu: "5" } });
    assert.equal((await resources())?.["cpu"], "5");
  });

  it("cannot turn the tunnel round: refused in the preview, and nothing is touched", async () => {
    const before = (await client()).metadata.uid;
    await assert.rejects((await stack({ server: "consumer" })).preview(), /Put "server" back as it was/);
    await assert.rejects((await stack({ server: "consumer" })).up(), /Put "server" back as it was/);
    assert.equal((await client()).metadata.uid, before);
    assert.deepEqual(await at("rome").list(GatewayServer), []);
  });

  it("are in their own cluster what they are to be, whatever else changes", async () => {
    const milan = {
      image: "registry.example/runtime:8",
      imagePullPolicy: "Always",
      imagePullSecrets: ["registry"],
      clusterLabels: { zone: "north" },
      podCidrs: [PLAN.milan.podCidr],
      defaultNodeResources: { cpu: "7" },
      enforceResources: false,
      limitsEnforcement: "Soft",
      offloading: { priorityClasses: ["batch"] },
      peerPingIntervalSeconds: 44,
      replicas: { controllerManager: 2 },
      resources: { webhook: { requests: { cpu: "33m" } } },
      timeoutSeconds: 299,
    };
    const milanNetworking = {
      pools: ["10.0.0.0/8"],
      apiServerBy: "endpoints",
      fabric: { overlayPort: 6099 },
      gateway: { serviceAnnotations: { "example.com/kind": "fast" } },
    };
    await upAndRest({ resources: { cpu: "5" }, milan, milanNetworking, timeoutSeconds: 61 });
    const deployments = JSON.stringify(await at("milan").list(Deployment, { namespace: "liqo-system" }));
    for (const trace of [
      "runtime:8",
      "Always",
      "registry",
      "zone=north",
      "cpu=7",
      "batch",
      "44",
      '"replicas":2',
      "33m",
      "10.0.0.0/8",
    ])
      assert.ok(deployments.includes(trace), trace);
    assert.equal((await at("milan").list(Tenant)).length, 1);
  });
});
