import { ForeignCluster } from "../../api/core";
import { Network } from "../../api/ipam";
import { controlPlaneNodeLabels, Label, Name, WellKnownLabel } from "../../api/keys";
import { Deployment, Node, Pod } from "../../api/kubernetes";
import { apiServerAddressUrl } from "../../plan/installation-settings";
import type { Cluster } from "../cluster/cluster";
import type { Run } from "../run";
import { type ModuleStatus, moduleStatus } from "./peer-info";

/** What the controller manager's Deployment says of an installation. */
export interface InstalledControllerManager {
  /** The image's tag. */
  version: string | undefined;
  /** Flags of the container, by name without dashes. */
  flags: ReadonlyMap<string, string>;
}

/** URL of the API server that the installation gives to peers; undefined where it leaves that to the cluster. */
export function apiServerOverride(manager: InstalledControllerManager | undefined): string | undefined {
  const address = manager?.flags.get("api-server-address-override");
  if (!address) return undefined;
  return apiServerAddressUrl(address);
}

const CONTAINER = "controller-manager";

/** @returns undefined where there is no such Deployment */
export async function installedControllerManager(
  run: Run,
  { client, liqoNamespace: namespace }: Cluster,
): Promise<InstalledControllerManager | undefined> {
  const labelSelector = `${WellKnownLabel.appName}=${CONTAINER}`;
  const [deployment] = await client.list(Deployment, { namespace, labelSelector }, run.call);
  const containers = deployment?.spec.template.spec?.containers ?? [];
  const container = containers.find(({ name }) => name === CONTAINER) ?? containers[0];
  if (container === undefined) return undefined;
  return { version: tagOf(container.image ?? ""), flags: flagsOf(container.args ?? []) };
}

/** `registry:5000/runtime:0.1.0@sha256:…` → `0.1.0` */
export function tagOf(image: string): string | undefined {
  const name = image.split("@")[0] ?? "";
  return /:([^:/]+)$/.exec(name)?.[1];
}

function flagsOf(args: readonly string[]): Map<string, string> {
  return new Map(
    args.flatMap((arg) => {
      const match = /^--([^=]+)(?:=(.*))?$/s.exec(arg);
      return match === null ? [] : [[match[1] ?? "", match[2] ?? "true"] as const];
    }),
  );
}

/** What `liqoctl info` tells of the cluster itself (control plane reference 17.12). */

export interface LocalInfo {
  clusterID: string;
  version?: string;
  labels?: Record<string, string>;
  APIServerAddr?: string;
}

export async function localInfo(run: Run, cluster: Cluster): Promise<LocalInfo> {
  const clusterID = await cluster.clusterId(run);
  const manager = await installedControllerManager(run, cluster);
  const labels = Object.fromEntries(
    (manager?.flags.get("cluster-labels") ?? "").split(",").flatMap((pair) => {
      const equals = pair.indexOf("=");
      return equals <= 0 ? [] : [[pair.slice(0, equals), pair.slice(equals + 1)]];
    }),
  );
  const address = apiServerOverride(manager) ?? (await apiServerAddress(run, cluster));
  return {
    clusterID,
    ...(manager?.version !== undefined && { version: manager.version }),
    ...(Object.keys(labels).length > 0 && { labels }),
    APIServerAddr: address,
  };
}

const ADDRESS_TYPES = ["ExternalDNS", "ExternalIP", "InternalDNS", "InternalIP", "Hostname"];

/** What peers are told (7.1) without an override; where the cluster does not say, the address that this kubeconfig has. */
async function apiServerAddress(run: Run, { client }: Cluster): Promise<string> {
  for (const labelSelector of controlPlaneNodeLabels) {
    const nodes = await client.list(Node, { labelSelector }, run.call);
    if (nodes.length === 0) continue;
    const addresses = nodes.flatMap(({ status }) => status?.addresses ?? []);
    for (const type of ADDRESS_TYPES) {
      const found = addresses.find((address) => address.type === type);
      if (found !== undefined) return `https://${found.address}:6443`;
    }
  }
  return client.server;
}

export interface HealthInfo {
  healthy: boolean;
  unhealthyPods?: Record<
    string,
    { status: string; readyContainers: number; totalContainers: number; restarts: number }
  >;
}

/** Healthy: every pod of Liqo's namespace is Ready. */
export async function healthInfo(run: Run, { client, liqoNamespace }: Cluster): Promise<HealthInfo> {
  const pods = await client.list(Pod, { namespace: liqoNamespace }, run.call);
  const unhealthy = pods.filter(
    ({ status }) =>
      status?.phase !== "Succeeded" &&
      !status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
  if (unhealthy.length === 0) return { healthy: true };
  return {
    healthy: false,
    unhealthyPods: Object.fromEntries(
      unhealthy.map(({ metadata, spec, status }) => {
        const containers = status?.containerStatuses ?? [];
        const waiting = containers.map(({ state }) => state?.waiting?.reason).find((reason) => reason);
        return [
          metadata.name,
          {
            status: waiting ?? status?.phase ?? "Unknown",
            readyContainers: containers.filter(({ ready }) => ready).length,
            totalContainers: spec.containers.length,
            restarts: containers.reduce((sum, { restartCount }) => sum + restartCount, 0),
          },
        ];
      }),
    ),
  };
}

export interface NetworkInfo {
  podCIDRs?: string[];
  serviceCIDR?: string;
  externalCIDR?: string;
  internalCIDR?: string;
}

export async function networkInfo(run: Run, { client, liqoNamespace }: Cluster): Promise<NetworkInfo> {
  const networks = await client.list(
    Network,
    { namespace: liqoNamespace, labelSelector: Label.networkType },
    run.call,
  );
  const of = (type: string) =>
    networks
      .filter(({ metadata }) => metadata.labels?.[Label.networkType] === type)
      .map(({ spec, status }) => status?.cidr ?? spec.cidr)
      .sort();
  const podCIDRs = of(Name.podCIDRNetwork);
  const one = (key: "serviceCIDR" | "externalCIDR" | "internalCIDR", type: string) => {
    const [cidr] = of(type);
    return cidr === undefined ? {} : { [key]: cidr };
  };
  return {
    ...(podCIDRs.length > 0 && { podCIDRs }),
    ...one("serviceCIDR", Name.serviceCIDRNetwork),
    ...one("externalCIDR", Name.externalCIDRNetwork),
    ...one("internalCIDR", Name.internalCIDRNetwork),
  };
}

export interface PeeringsInfo {
  peers?: {
    clusterID: string;
    role: string;
    networkingStatus: ModuleStatus;
    authenticationStatus: ModuleStatus;
    offloadingStatus: ModuleStatus;
  }[];
}

export async function peeringsInfo(run: Run, { client }: Cluster): Promise<PeeringsInfo> {
  const peers = (await client.list(ForeignCluster, {}, run.call)).sort((a, b) =>
    a.spec.clusterID.localeCompare(b.spec.clusterID),
  );
  if (peers.length === 0) return {};
  return {
    peers: peers.map(({ spec, status }) => ({
      clusterID: spec.clusterID,
      role: status?.role ?? "Unknown",
      networkingStatus: moduleStatus(status?.modules?.networking).status,
      authenticationStatus: moduleStatus(status?.modules?.authentication).status,
      offloadingStatus: moduleStatus(status?.modules?.offloading).status,
    })),
  };
}
