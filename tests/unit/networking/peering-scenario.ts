/** A peering in a cluster in memory, and what the controllers have made of it, for the tests of this folder. */
import assert from "node:assert/strict";

import {
  Configuration,
  FirewallConfiguration,
  GatewayClient,
  GeneveTunnel,
  IP,
  Network,
  Node,
  Pod,
  RouteConfiguration,
  Service,
} from "../../../runtime/api";
import { DEFAULT_POOLS } from "../../../runtime/ipam/pools";
import { startIpam } from "../../../runtime/ipam/start";
import type { RuntimeContext } from "../../../runtime/kube";
import type { NetworkingOptions } from "../../../runtime/networking/networking-context";
import { startNetworking } from "../../../runtime/networking/start";
import type { MemoryApiServer } from "../../support/memory-api-server";
import type { Scenario } from "../../support/memory-run";
import { network } from "../ipam/objects";
import { describedFirewall, describedRoutes } from "./described";
import { options } from "./objects";

export const starts =
  (over: Partial<NetworkingOptions> = {}) =>
  async (context: RuntimeContext) => {
    const { liqoNamespace, global } = options;
    await startIpam(context, { liqoNamespace, pools: DEFAULT_POOLS, syncIntervalMs: 0, global });
    await startNetworking(context, { ...options, ...over });
  };

export const networking = { apiVersion: "networking.liqo.io/v1beta1" } as const;
export const labels = { "liqo.io/remote-cluster-id": "milan" };
export const namespace = "liqo-tenant-milan";
export const createNode = (server: MemoryApiServer, name: string, type?: string) =>
  server.create(Node, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, ...(type !== undefined && { labels: { "liqo.io/type": type } }) },
    spec: {},
  });
export const createPod = (
  server: MemoryApiServer,
  name: string,
  node: string,
  podIP: string,
  podLabels = {},
) =>
  server.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", labels: podLabels },
    spec: { nodeName: node, containers: [] },
    status: { phase: "Running", podIP },
  });

/** The cluster cl01 of the packet walks (networking reference 15), whose peer here is milan, with the gateway's pod running on n2. */
export const scenario: Scenario = {
  prepare: (server) => {
    const installed = { preinstalled: true, pinned: true, shared: true };
    server.create(
      Network,
      network({ name: "pod-cidr", type: "pod-cidr", cidr: "10.243.0.0/16", ...installed }),
    );
    server.create(
      Network,
      network({ name: "service-cidr", type: "service-cidr", cidr: "10.95.0.0/16", ...installed }),
    );
    server.create(
      Network,
      network({
        name: "external-cidr",
        type: "external-cidr",
        cidr: "10.70.0.0/16",
        preAllocated: 1,
        preinstalled: true,
      }),
    );
    server.create(
      Network,
      network({ name: "internal-cidr", type: "internal-cidr", cidr: "10.80.0.0/16", preinstalled: true }),
    );
    for (const name of ["n1", "n2"]) createNode(server, name);
    createNode(server, "milan", "virtual-node");
    server.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kubernetes", namespace: "default" },
      spec: { clusterIP: "10.95.0.1" },
    });
    createPod(server, "a", "n1", "10.243.1.10");
    createPod(server, "offloaded", "milan", "10.71.1.20", { "liqo.io/shadowPod": "true" });
    server.create(GatewayClient, {
      ...networking,
      kind: "GatewayClient",
      metadata: { name: "milan", namespace, labels },
      spec: { mtu: 1340, endpoint: { addresses: ["172.19.0.2"], port: 31840 } },
      status: { internalEndpoint: { ip: "10.243.2.5", node: "n2" } },
    });
    server.create(Configuration, {
      ...networking,
      kind: "Configuration",
      metadata: { name: "milan", namespace, labels },
      spec: { remote: { cidr: { pod: ["10.243.0.0/16"], external: ["10.70.0.0/16"] } } },
    });
  },
  start: starts(),
  done: (server) =>
    server.get(RouteConfiguration, "liqo-tenant-milan/milan-gw-ext")?.spec.table.rules.length === 4 &&
    server.list(GeneveTunnel).length === 2 &&
    server.list(IP).length === 3 &&
    server.list(IP).every(({ status }) => status?.ip) &&
    server.list(FirewallConfiguration).length === 9 &&
    server.list(RouteConfiguration).length === 8,
};

export const routes = (server: MemoryApiServer, key: string) => {
  const found = server.get(RouteConfiguration, key);
  assert.ok(found, key);
  const { name, namespace: where = "", labels: audience = {} } = found.metadata;
  return describedRoutes({ ...found, metadata: { name, namespace: where, labels: audience } });
};
export const firewall = (server: MemoryApiServer, key: string) => {
  const found = server.get(FirewallConfiguration, key);
  assert.ok(found, key);
  const { name, namespace: where = "", labels: audience = {} } = found.metadata;
  return describedFirewall({ ...found, metadata: { name, namespace: where, labels: audience } });
};
