import { Identity, ResourceSlice } from "../../api/authentication";
import type { ForeignCluster } from "../../api/core";
import { controlPlaneIdentityName, Label, LabelValue } from "../../api/keys";
import { Configuration, GatewayClient, GatewayServer } from "../../api/networking";
import { VirtualNode } from "../../api/offloading";
import type { Cluster } from "../cluster/cluster";
import { findTenantNamespace } from "../cluster/tenant-namespace";
import { type Run, readOrWarn } from "../run";

/** What `liqoctl info peer` tells of one peer (control plane reference 17.12). */

export interface PeerInfo {
  info: { clusterID: string; role: string };
  network: PeerNetwork;
  authentication: PeerAuthentication;
  offloading: PeerOffloading;
}

interface ModuleInfo {
  status: ModuleStatus;
  alerts?: string[];
}

interface PeerNetwork extends ModuleInfo {
  CIDRs?: { remote: CidrLists; remapped?: CidrLists };
  /** The peer's gateway. */
  gateway?: { address?: string[]; port?: number; role: "Server" | "Client" };
}

interface CidrLists {
  pod?: string[];
  external?: string[];
}

interface PeerAuthentication extends ModuleInfo {
  APIServerAddr?: string;
  resourceSlices?: {
    name: string;
    action: "Consuming" | "Providing";
    accepted: boolean;
    alerts?: string[];
    resources?: Record<string, string>;
  }[];
}

interface PeerOffloading extends ModuleInfo {
  virtualNodes?: {
    name: string;
    status: "Healthy" | "Unhealthy";
    secret?: string;
    resourceSlice?: string;
    resources?: Record<string, string>;
  }[];
}

/** Problems are told, and the rest is still shown. */
export async function peerInfo(run: Run, cluster: Cluster, peer: ForeignCluster): Promise<PeerInfo> {
  const { clusterID } = peer.spec;
  const namespace = await readOrWarn(run, `the tenant namespace of ${clusterID}`, undefined, () =>
    findTenantNamespace(run, cluster, clusterID),
  );
  const modules = peer.status?.modules;
  const place = namespace === undefined ? undefined : { namespace };
  const [network, authentication, offloading] = await Promise.all([
    readOrWarn(run, `the network of ${clusterID}`, {}, () => networkOf(run, cluster, place)),
    readOrWarn(run, `the authentication of ${clusterID}`, {}, () =>
      authenticationOf(run, cluster, peer, place),
    ),
    readOrWarn(run, `the offloading of ${clusterID}`, {}, () => offloadingOf(run, cluster, peer, place)),
  ]);
  return {
    info: { clusterID, role: peer.status?.role ?? "Unknown" },
    network: { ...moduleInfo(modules?.networking), ...network },
    authentication: { ...moduleInfo(modules?.authentication), ...authentication },
    offloading: { ...moduleInfo(modules?.offloading), ...offloading },
  };
}

function moduleInfo(module: Parameters<typeof moduleStatus>[0]): ModuleInfo {
  const { status, alerts } = moduleStatus(module);
  return { status, ...(alerts.length > 0 && { alerts }) };
}

type Place = { namespace: string } | undefined;

async function networkOf(run: Run, { client }: Cluster, place: Place): Promise<Omit<PeerNetwork, "status">> {
  if (place === undefined) return {};
  const [[configuration], [server], [caller]] = await Promise.all([
    client.list(Configuration, place, run.call),
    client.list(GatewayServer, place, run.call),
    client.list(GatewayClient, place, run.call),
  ]);
  const remapped = configuration?.status?.remote?.cidr;
  return {
    ...(configuration !== undefined && {
      CIDRs: {
        remote: lists(configuration.spec.remote?.cidr),
        ...(remapped !== undefined && { remapped: lists(remapped) }),
      },
    }),
    ...(server !== undefined
      ? { gateway: { ...endpoint(server.status?.endpoint), role: "Client" as const } }
      : caller !== undefined && { gateway: { ...endpoint(caller.spec.endpoint), role: "Server" as const } }),
  };
}

function lists(cidr: { pod?: string[]; external?: string[] } | undefined): CidrLists {
  return {
    ...(cidr?.pod !== undefined && { pod: cidr.pod }),
    ...(cidr?.external !== undefined && { external: cidr.external }),
  };
}

function endpoint(value: { addresses?: string[]; port?: number } | undefined): {
  address?: string[];
  port?: number;
} {
  return {
    ...(value?.addresses !== undefined && { address: value.addresses }),
    ...(value?.port !== undefined && { port: value.port }),
  };
}

async function authenticationOf(
  run: Run,
  { client }: Cluster,
  peer: ForeignCluster,
  place: Place,
): Promise<Omit<PeerAuthentication, "status">> {
  if (place === undefined) return {};
  const { clusterID } = peer.spec;
  const [identity, slices] = await Promise.all([
    client.get(Identity, { name: controlPlaneIdentityName(clusterID), ...place }, run.call),
    client.list(ResourceSlice, place, run.call),
  ]);
  const params = identity?.spec.authParams;
  const address = params?.proxyURL || params?.apiServer || peer.status?.apiServerUrl;
  return {
    ...(address && identity !== undefined && { APIServerAddr: address }),
    ...(slices.length > 0 && {
      resourceSlices: slices
        .sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))
        .map((slice) => {
          const conditions = slice.status?.conditions ?? [];
          const denied = conditions.filter(({ status }) => status !== "Accepted");
          const alerts = denied.map(({ type, status, message }) => message || `${type} is ${status}`);
          return {
            name: slice.metadata.name,
            action:
              slice.metadata.labels?.[Label.replication] === LabelValue.true
                ? ("Consuming" as const)
                : ("Providing" as const),
            accepted: conditions.length > 0 && denied.length === 0,
            ...(alerts.length > 0 && { alerts }),
            ...amounts(slice.status?.resources),
          };
        }),
    }),
  };
}

async function offloadingOf(
  run: Run,
  { client }: Cluster,
  peer: ForeignCluster,
  place: Place,
): Promise<Omit<PeerOffloading, "status">> {
  if (place === undefined) return {};
  const virtualNodes = (await client.list(VirtualNode, place, run.call)).filter(
    ({ spec }) => spec.clusterID === peer.spec.clusterID,
  );
  if (virtualNodes.length === 0) return {};
  return {
    virtualNodes: virtualNodes.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      status: (status?.conditions ?? []).every(({ status: is }) => is === "Running" || is === "None")
        ? ("Healthy" as const)
        : ("Unhealthy" as const),
      ...(spec.kubeconfigSecretRef?.name && { secret: spec.kubeconfigSecretRef.name }),
      ...(metadata.labels?.[Label.resourceSliceName] !== undefined && {
        resourceSlice: metadata.labels[Label.resourceSliceName],
      }),
      ...amounts(spec.resourceQuota?.hard),
    })),
  };
}

function amounts(resources: Record<string, string | number> | undefined): {
  resources?: Record<string, string>;
} {
  const entries = Object.entries(resources ?? {});
  return entries.length === 0
    ? {}
    : { resources: Object.fromEntries(entries.map(([key, value]) => [key, String(value)])) };
}

export type ModuleStatus = "Disabled" | "Healthy" | "Unhealthy";

type PeeringModule = NonNullable<NonNullable<ForeignCluster["status"]>["modules"]>["networking"];

/** A module of a peering in a word, and what is wrong with it (control plane reference 17.12). */
export function moduleStatus(module: PeeringModule | undefined): { status: ModuleStatus; alerts: string[] } {
  if (module?.enabled !== true) return { status: "Disabled", alerts: [] };
  const faulty = (module.conditions ?? []).filter(
    ({ status }) => status !== "Established" && status !== "Ready",
  );
  return {
    status: faulty.length === 0 ? "Healthy" : "Unhealthy",
    alerts: faulty.map(({ type, status, message }) => (message ? message : `${type} is ${status}`)),
  };
}
