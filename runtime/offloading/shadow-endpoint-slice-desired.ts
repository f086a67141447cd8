import type { Endpoint } from "kubernetes-types/discovery/v1";
import { z } from "zod";

import {
  Annotation,
  type Configuration,
  type Desired,
  type EndpointSlice,
  type ForeignCluster,
  Label,
  LabelValue,
  type ShadowEndpointSlice,
} from "../api";
import { controlledBy } from "../kube";
import { mapOwnAddress, mapPodAddress } from "../networking/address-mapping";

/** What the slice of a ShadowEndpointSlice depends on. */
export interface SliceDependencies {
  /** The consumer. */
  foreignCluster: ForeignCluster;
  /** The answered Configuration of a cluster; undefined while there is none. */
  configurationOf: (cluster: string) => Configuration | undefined;
  /** Whether this cluster has networking at all. */
  networking: boolean;
  /** Whether pods of other clusters may be reached without passing through the consumer. */
  directConnections: boolean;
}

/**
 * The EndpointSlice that a ShadowEndpointSlice stands for: its endpoints at the addresses by which this cluster reaches them, ready only while the
 * consumer can be reached. What is none of the consumer's own addresses is left out: whoever trusts a Service here would be led to it.
 *
 * @throws Error while an address has no place here
 * @see offloading reference 12.2
 */
export function desiredEndpointSlice(
  shadow: ShadowEndpointSlice,
  dependencies: SliceDependencies,
): Desired<EndpointSlice> {
  const { name, namespace, labels } = shadow.metadata;
  const { [Annotation.directConnectionsData]: data, ...annotations } = shadow.metadata.annotations ?? {};
  const { endpoints = [], ports = [], addressType = "IPv4" } = shadow.spec.template ?? {};
  const clusterOf = directAddresses(data);
  const reachable = isReachable(dependencies.foreignCluster);
  const admitted = dependencies.directConnections
    ? endpoints
    : endpoints.filter(({ addresses }) => !addresses.some((address) => clusterOf.has(address)));
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name,
      namespace,
      labels: { ...labels, [Label.managedBy]: LabelValue.managedByShadowEndpointSlice },
      annotations,
      ownerReferences: [controlledBy(shadow)],
    },
    addressType,
    endpoints: admitted.flatMap((endpoint) => {
      const addresses = endpoint.addresses.flatMap(
        (address) => here(address, clusterOf.get(address), shadow, dependencies) ?? [],
      );
      const conditions = { ...endpoint.conditions, ready: (endpoint.conditions?.ready ?? true) && reachable };
      return addresses.length === 0 ? [] : [{ ...endpoint, addresses, conditions }];
    }),
    ports,
  };
}

/** The addresses of a ShadowEndpointSlice that are none of its consumer's own; {@link desiredEndpointSlice} leaves them out. */
export function foreignAddresses(shadow: ShadowEndpointSlice, dependencies: SliceDependencies): string[] {
  const clusterOf = directAddresses(shadow.metadata.annotations?.[Annotation.directConnectionsData]);
  return (shadow.spec.template?.endpoints ?? [])
    .flatMap(({ addresses }) => addresses)
    .filter(
      (address) => !clusterOf.has(address) && here(address, undefined, shadow, dependencies) === undefined,
    );
}

/** Whether what the consumer sends arrives, and it says when that changes; a module that is not in use is no hindrance. */
export function isReachable({ status }: ForeignCluster): boolean {
  const networking = status?.modules?.networking;
  const connection = networking?.conditions?.find(({ type }) => type === "NetworkConnectionStatus");
  const apiServer = status?.conditions?.find(({ type }) => type === "APIServerStatus");
  return (
    (networking?.enabled !== true || connection?.status === "Established") &&
    (apiServer === undefined || apiServer.status === "Established" || apiServer.status === "None")
  );
}

function here(
  address: string,
  direct: string | undefined,
  { metadata }: ShadowEndpointSlice,
  { foreignCluster, configurationOf, networking }: SliceDependencies,
): Endpoint["addresses"][number] | undefined {
  if (direct !== undefined) {
    const configuration = configurationOf(direct);
    if (configuration !== undefined) return mapPodAddress(address, configuration);
    throw new Error(
      `${address} is a pod of ${direct}, with which this cluster has no network; peer with it, or take ${Annotation.useDirectConnections} off the Service`,
    );
  }
  const connected = networking && foreignCluster.status?.modules?.networking?.enabled === true;
  if (!connected) return address;
  const origin = metadata.labels?.[Label.reflectionOrigin] ?? "";
  const configuration = configurationOf(origin);
  if (configuration !== undefined) return mapOwnAddress(address, configuration);
  throw new Error(`the networks of ${origin} have no place in this cluster yet`);
}

const directData = z.record(z.string(), z.array(z.string()));

/** Cluster by address. */
function directAddresses(text: string | undefined): Map<string, string> {
  if (text === undefined) return new Map();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`the annotation ${Annotation.directConnectionsData} is not JSON`, { cause });
  }
  const { success, data } = directData.safeParse(value);
  if (!success) throw new Error(`the annotation ${Annotation.directConnectionsData} is not a map of lists`);
  return new Map(
    Object.entries(data).flatMap(([cluster, addresses]) =>
      addresses.map((address): [string, string] => [address, cluster]),
    ),
  );
}
