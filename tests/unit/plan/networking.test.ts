import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parseAllDocuments } from "yaml";

import {
  GatewayClient,
  GatewayServer,
  Network,
  WgGatewayClient,
  WgGatewayServer,
} from "../../../runtime/api";
import {
  WgGatewayClientTemplate,
  WgGatewayServerTemplate,
} from "../../../runtime/api/networking/wireguard-gateway";
import { packageRoot } from "../../../runtime/api/package-root";
import { readFlags, splitCommandLine } from "../../../runtime/component/command-line";
import {
  controllerManagerFlags,
  ipamOptions,
  networkingOptions,
} from "../../../runtime/controller-manager/flags";
import { renderGateway } from "../../../runtime/networking/template/gateway-template";
import { deployments } from "../../../runtime/plan/deployments";
import { installation } from "../../../runtime/plan/installation";
import {
  installationDataSchema,
  type InstallationSettings,
} from "../../../runtime/plan/installation-settings";
import type { Manifest } from "../../../runtime/plan/manifest";
import { gatewayClient, gatewayServer, networkLinkSchema } from "../../../runtime/plan/networking/peering";

const networking = { podCidrs: ["10.62.0.0/18", "10.63.0.0/20"], serviceCidr: "10.162.64.0/20" };
const settings: InstallationSettings = {
  clusterId: "milan",
  namespace: "liqo-system",
  image: "runtime:7",
  networking,
};

const planned = (overrides: object = {}) =>
  installation({ ...settings, networking: { ...networking, ...overrides } });
const named = (manifests: Manifest[], kind: string, name: string) => {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  assert.ok(found, `${kind} ${name} is planned`);
  return found;
};

describe("the networking of an installation", () => {
  it("is not there unless asked for", () => {
    const { networking: _, ...without } = settings;
    const names = installation(without).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    for (const absent of ["DaemonSet liqo-fabric", "ClusterRole liqo-gateway", "Network service-cidr"]) {
      assert.ok(!names.includes(absent), absent);
    }
    const plan = deployments({ namespace: "liqo", ...installationDataSchema.parse({ image: "runtime:7" }) });
    const args = plan.controllerManager.spec?.template?.spec?.containers?.[0]?.args ?? [];
    assert.ok(args.includes("--networking-enabled=false"));
  });

  it("says what networks there are, and which of them may be moved", () => {
    const networks = planned({ internalCidr: "10.81.0.0/16", reservedSubnets: ["172.18.0.0/16"] }).filter(
      ({ kind }) => kind === "Network",
    );
    const rows = networks.map((manifest) => {
      const { metadata, spec } = Network.parse(manifest);
      const label = (key: string) => metadata.labels?.[`ipam.liqo.io/${key}`] ?? "";
      return [
        metadata.name,
        spec.cidr,
        label("network-type"),
        label("network-not-remapped"),
        label("network-shared"),
        spec.preAllocated ?? 0,
        metadata.annotations?.["liqo.io/preinstalled"],
      ].join(" ");
    });
    assert.deepEqual(rows, [
      "pod-cidr-10-62-0-0-18 10.62.0.0/18 pod-cidr true true 0 true",
      "pod-cidr-10-63-0-0-20 10.63.0.0/20 pod-cidr true true 0 true",
      "service-cidr 10.162.64.0/20 service-cidr true true 0 true",
      "reserved-172-18-0-0-16 172.18.0.0/16 reserved true true 0 true",
      "external-cidr 10.70.0.0/16 external-cidr   1 true",
      "internal-cidr 10.81.0.0/16 internal-cidr true  0 true",
    ]);
  });

  it("reaches the controllers", () => {
    const plan = deployments({
      namespace: "liqo",
      ...installationDataSchema.parse({
        image: "runtime:7",
        networking: {
          ...networking,
          pools: ["10.0.0.0/8"],
          apiServerBy: "endpoints",
          fabric: { fullMasquerade: true, routeRulePriority: 101, overlayPort: 6092 },
          gateway: { mssClamp: false },
        },
      }),
    });
    const words = (plan.controllerManager.spec?.template?.spec?.containers?.[0]?.args ?? [])
      .map(String)
      .map((word) => word.replace("$(CLUSTER_ID)", "milan").replace("$(POD_NAMESPACE)", "liqo-system"));
    const flags = readFlags(splitCommandLine(words), controllerManagerFlags);
    assert.equal(flags.networkingEnabled, true);
    assert.deepEqual(ipamOptions(flags).pools, ["10.0.0.0/8"]);
    assert.deepEqual(networkingOptions(flags), {
      liqoNamespace: "liqo-system",
      fullMasquerade: true,
      fabricRulePriority: 101,
      gatewayMasqueradeBypass: false,
      genevePort: 6092,
      segmentSizeClamp: undefined,
      overlayWithoutTracking: false,
      apiServerBy: "endpoints",
      exportProxy: true,
      gatewayClusterRole: "liqo-gateway",
      offloadingEnabled: true,
      global: { labels: {}, annotations: {} },
    });
  });

  it("tells the virtual kubelet and the webhook the pods' networks, unless others are given", () => {
    const argsOf = (extra: object) => {
      const plan = deployments({
        namespace: "liqo",
        ...installationDataSchema.parse({ image: "runtime:7", networking, ...extra }),
      });
      return plan.virtualKubelet.spec?.template?.spec?.containers?.[0]?.args ?? [];
    };
    assert.ok(argsOf({}).includes("--local-podcidr=10.63.0.0/20"));
    assert.ok(argsOf({ podCidrs: ["10.64.0.0/16"] }).includes("--local-podcidr=10.64.0.0/16"));
    assert.ok(!argsOf({ podCidrs: ["10.64.0.0/16"] }).includes("--local-podcidr=10.63.0.0/20"));
  });

  it("gives gateways and agents the right to administer the network, and no more", () => {
    const agent = JSON.stringify(named(planned(), "DaemonSet", "liqo-fabric"));
    const gateway = JSON.stringify(named(planned(), "WgGatewayServerTemplate", "wireguard-server"));
    for (const text of [agent, gateway]) {
      assert.match(text, /"capabilities":\{"drop":\["ALL"\],"add":\["NET_ADMIN","NET_RAW"\]\}/);
      assert.doesNotMatch(text, /"privileged"/);
    }
    const role = JSON.stringify(named(planned(), "ClusterRole", "liqo-gateway"));
    assert.doesNotMatch(role, /secrets/, "keys reach gateways by a volume");
  });

  it("has gateways and agents pull their image with the same credentials as the rest", () => {
    const privately = installation({ ...settings, imagePullSecrets: ["registry"] });
    for (const [kind, name] of [
      ["DaemonSet", "liqo-fabric"],
      ["WgGatewayServerTemplate", "wireguard-server"],
      ["WgGatewayClientTemplate", "wireguard-client"],
    ] as const) {
      const credentials = /"imagePullSecrets":\[\{"name":"registry"\}\]/;
      assert.match(JSON.stringify(named(privately, kind, name)), credentials, name);
      assert.doesNotMatch(JSON.stringify(named(planned(), kind, name)), /registry/, name);
    }
  });

  const labels = { "liqo.io/remote-cluster-id": "rome" };
  const container = (deployment: WgGatewayServer["spec"]["deployment"]) =>
    deployment.spec?.template.spec?.containers[0];

  it("makes a server of a GatewayServer", () => {
    const template = WgGatewayServerTemplate.parse(
      named(planned(), "WgGatewayServerTemplate", "wireguard-server"),
    );
    const server = GatewayServer.parse({
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "GatewayServer",
      metadata: { name: "to-rome", namespace: "guests", uid: "u-1", labels },
      spec: { mtu: 1300, endpoint: { port: 51900, serviceType: "NodePort", nodePort: 31900 } },
    });
    const { spec } = WgGatewayServer.parse(renderGateway(server, template));
    assert.equal(spec.service.spec?.type, "NodePort");
    assert.deepEqual(spec.service.spec?.ports, [
      { name: "tunnel", port: 51900, targetPort: 51900, protocol: "UDP", nodePort: 31900 },
    ]);
    assert.equal(spec.service.spec?.selector?.["networking.liqo.io/active"], "true");
    const args = container(spec.deployment)?.args ?? [];
    for (const word of ["--mode=server", "--listen-ports=51900", "--mtu=1300", "--remote-cluster-id=rome"]) {
      assert.ok(args.includes(word), word);
    }
    assert.equal(spec.deployment.spec?.template.metadata?.labels?.["networking.liqo.io/active"], "true");
    const secret = spec.deployment.spec?.template.spec?.volumes?.find(
      ({ name }) => name === "wireguard-config",
    );
    assert.equal(secret?.secret?.secretName, "gw-to-rome");
  });

  it("opens a TCP port beside the tunnel's, after it, for load balancers that check by TCP alone", () => {
    const template = WgGatewayServerTemplate.parse(
      named(planned({ gateway: { healthPort: 8090 } }), "WgGatewayServerTemplate", "wireguard-server"),
    );
    const server = GatewayServer.parse({
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "GatewayServer",
      metadata: { name: "to-rome", namespace: "guests", uid: "u-1", labels },
      spec: { mtu: 1300, endpoint: { port: 51900, serviceType: "LoadBalancer" } },
    });
    const { spec } = WgGatewayServer.parse(renderGateway(server, template));
    assert.deepEqual(spec.service.spec?.ports, [
      { name: "tunnel", port: 51900, targetPort: 51900, protocol: "UDP" },
      { name: "health", port: 8090, targetPort: 8081, protocol: "TCP" },
    ]);
    const probe = container(spec.deployment)?.readinessProbe?.httpGet;
    assert.equal(probe?.port, 8081, "what is checked is what the kubelet checks");
  });

  it("makes a client of a GatewayClient, with all addresses of the server; of several pods none is active before it leads", () => {
    const template = WgGatewayClientTemplate.parse(
      named(planned({ gateway: { replicas: 2 } }), "WgGatewayClientTemplate", "wireguard-client"),
    );
    const client = GatewayClient.parse({
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "GatewayClient",
      metadata: { name: "rome", namespace: "guests", uid: "u-2", labels },
      spec: { mtu: 1340, endpoint: { addresses: ["203.0.113.10", "gw.rome.example"], port: 51840 } },
    });
    const { spec } = WgGatewayClient.parse(renderGateway(client, template));
    const args = container(spec.deployment)?.args ?? [];
    for (const word of [
      "--endpoint-address=203.0.113.10,gw.rome.example",
      "--endpoint-ports=51840",
      "--leader-election=true",
    ]) {
      assert.ok(args.includes(word), word);
    }
    assert.equal(spec.deployment.spec?.replicas, 2);
    assert.equal(spec.deployment.spec?.template.metadata?.labels?.["networking.liqo.io/active"], undefined);
  });
});

describe("settings of the networking", () => {
  const refused: [string, object, RegExp][] = [
    [
      "gateways of more pods than can be of use",
      { gateway: { replicas: 6 } },
      /networking\.gateway\.replicas: 6 is above 5/,
    ],
    ["gateways without a pod", { gateway: { replicas: 0 } }, /networking\.gateway\.replicas: 0 is below 1/],
    [
      "pods and services in one range",
      { serviceCidr: "10.62.32.0/20" },
      /networking\.serviceCidr: "10\.62\.32\.0\/20" overlaps podCidrs\[0\] 10\.62\.0\.0\/18; choose networks apart/,
    ],
    [
      "two pod networks, one in the other",
      { podCidrs: ["10.62.0.0/18", "10.62.16.0/20"] },
      /podCidrs\[1\]: "10\.62\.16\.0\/20" overlaps podCidrs\[0\]/,
    ],
    ["IPv6", { podCidrs: ["fd00:62::/64"] }, /"fd00:62::\/64" is an IPv6 network; .* carry IPv4 only/],
    [
      "no pods",
      { podCidrs: [] },
      /networking\.podCidrs: a list is empty; give the networks that the cluster's pods have addresses of/,
    ],
    [
      "no pools",
      { pools: [] },
      /networking\.pools: a list is empty; give at least one, such as 10\.0\.0\.0\/8/,
    ],
    [
      "pools that overlap",
      { pools: ["10.0.0.0/8", "10.64.0.0/10"] },
      /pools 10\.0\.0\.0\/8 and 10\.64\.0\.0\/10 overlap/,
    ],
    [
      "link-local services",
      { serviceCidr: "169.254.64.0/20" },
      /link-local addresses.*choose a private range/,
    ],
    [
      "bits beyond the prefix",
      { podCidrs: ["10.62.0.1/18"] },
      /bits beyond its prefix; write 10\.62\.0\.0\/18/,
    ],
    [
      "an external network outside the pools",
      { externalCidr: "100.64.0.0/16" },
      /externalCidr: "100\.64\.0\.0\/16" lies in none of the pools/,
    ],
    [
      "a single address for services",
      { serviceCidr: "10.162.64.7/32" },
      /serviceCidr: .* has 1 address only; .* \/29/,
    ],
    ["an external network too small", { externalCidr: "10.70.0.0/28" }, /has 16 addresses only/],
    [
      "an internal network in reserved space",
      { internalCidr: "172.18.0.0/20", reservedSubnets: ["172.16.0.0/12"] },
      /internalCidr: "172\.18\.0\.0\/20" overlaps reservedSubnets\[0\] 172\.16\.0\.0\/12/,
    ],
    [
      "a reserved network twice",
      { reservedSubnets: ["172.18.0.0/16", "192.168.7.0/24", "172.18.0.0/16"] },
      /reservedSubnets\[2\]: "172\.18\.0\.0\/16" is reservedSubnets\[0\] once more; leave one of the two out/,
    ],
    [
      "one range for both of the cluster's own",
      { externalCidr: "10.70.0.0/16", internalCidr: "10.70.128.0/17" },
      /internalCidr: .* overlaps externalCidr 10\.70\.0\.0\/16/,
    ],
    [
      "pools without room for the external network",
      { pools: ["172.16.0.0/24"] },
      /networking\.pools: 172\.16\.0\.0\/24 have no 65536 addresses \(\/16\) in a row that are free for the cluster's external network; add a pool, or give externalCidr a smaller network/,
    ],
    [
      "pools without room for the internal network beside the external one",
      { pools: ["10.70.0.0/16"] },
      /networking\.pools: 10\.70\.0\.0\/16 have no 65536 addresses .* internal network; add a pool, or give internalCidr a smaller/,
    ],
    [
      "pools that pods, Services and what is reserved fill",
      { pools: ["10.62.0.0/16", "10.80.0.0/16"], reservedSubnets: ["10.80.7.0/24"] },
      /networking\.pools: 10\.62\.0\.0\/16, 10\.80\.0\.0\/16 have no 65536 addresses .* external network/,
    ],
    [
      "an internal network where the external one goes",
      { internalCidr: "10.70.16.0/20" },
      /networking\.internalCidr: "10\.70\.16\.0\/20" is where the cluster's external network goes; choose another network, or give externalCidr/,
    ],
    [
      "reserved space inside of the pods'",
      { reservedSubnets: ["172.18.0.0/16", "10.63.8.0/24"] },
      /networking\.reservedSubnets\[1\]: "10\.63\.8\.0\/24" lies in podCidrs\[1\] 10\.63\.0\.0\/20, .*; leave it out/,
    ],
    [
      "reserved space that is the Services'",
      { reservedSubnets: ["10.162.64.0/20"] },
      /networking\.reservedSubnets\[0\]: "10\.162\.64\.0\/20" lies in serviceCidr 10\.162\.64\.0\/20/,
    ],
    ["a port that is none", { fabric: { overlayPort: 70_000 } }, /overlayPort: 70000 is no port/],
    ["what it does not know", { podCIDR: "10.62.0.0/18" }, /unknown fields: podCIDR/],
  ];
  for (const [what, change, expected] of refused) {
    it(`refuse ${what}`, () => assert.throws(() => planned(change), expected));
  }

  it("take networks of any prefix length, and default ranges that are taken: those are moved", () => {
    assert.ok(planned({ podCidrs: ["10.64.0.0/10"], serviceCidr: "172.20.0.0/27" }).length > 0);
  });

  for (const [what, change] of [
    ["pools that hold both of the cluster's own, and no more", { pools: ["172.16.0.0/15"] }],
    [
      "small pools with small networks",
      { pools: ["172.16.0.0/24"], externalCidr: "172.16.0.0/25", internalCidr: "172.16.0.128/26" },
    ],
    [
      "an internal network at the external one's default place, where that has another",
      { externalCidr: "10.71.0.0/16", internalCidr: "10.70.0.0/16" },
    ],
    ["reserved space around the cluster's own", { reservedSubnets: ["10.62.0.0/15", "10.160.0.0/12"] }],
  ] satisfies [string, object][])
    it(`take ${what}`, () => assert.ok(planned(change).length > 0));
});

/** Whose manifests for a kind stand in the page, as they are copied. */
function manifestOfPage(kind: string): unknown {
  const page = readFileSync(join(packageRoot(), "docs/user/network.md"), "utf8");
  const found = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)]
    .flatMap(([, text = ""]) => parseAllDocuments(text))
    .filter((document) => document.get("kind") === kind)
    .map((document): unknown => document.toJS());
  assert.equal(found.length, 1, `docs/user/network.md has one ${kind}`);
  return found[0];
}

describe("the manifests of docs/user/network.md", () => {
  const link = networkLinkSchema.parse({ serviceType: "NodePort", nodePort: 31840 });
  const atMilan = { side: { clusterId: "milan", tenantNamespace: "liqo-tenant-rome" }, peer: "rome" };
  const atRome = { side: { clusterId: "rome", tenantNamespace: "liqo-tenant-milan" }, peer: "milan" };
  const told = { addresses: ["203.0.113.10"], port: 31840 };
  for (const [kind, api, written] of [
    ["GatewayServer", GatewayServer, gatewayServer(atMilan, link, "liqo-system")],
    ["GatewayClient", GatewayClient, gatewayClient(atRome, link, "liqo", told)],
  ] as const)
    it(`have the ${kind} that the component writes, as the API takes it`, () => {
      const manifest = manifestOfPage(kind);
      assert.deepEqual(manifest, written);
      assert.doesNotThrow(() => api.parse(manifest));
    });
});
