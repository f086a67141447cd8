import type { FirewallConfiguration, OwnerReference, RouteConfiguration } from "../api";
import type { FirewallTable, Match } from "./firewall/firewall-table";
import { type Audience, firewallLabels, objectName, routeLabels } from "./labels";
import { OVERLAY_INTERFACE_PREFIX } from "./overlay";
import type { RouteRule } from "./routes/validation";

/** A generated configuration, as it is to be in the API: metadata of ours, and the whole spec. */
export type Generated<T extends FirewallConfiguration | RouteConfiguration> = {
  apiVersion: T["apiVersion"];
  kind: T["kind"];
  metadata: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    ownerReferences?: OwnerReference[];
  };
  spec: T["spec"];
};

interface GeneratedMeta {
  name: string;
  namespace: string;
  audience: Audience;
  /** Takes the configuration along when it is deleted. */
  owner?: OwnerReference;
}

export function firewallConfiguration(
  { name, namespace, audience, owner }: GeneratedMeta,
  table: Pick<FirewallTable, "name" | "chains">,
): Generated<FirewallConfiguration> {
  return {
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "FirewallConfiguration",
    metadata: {
      name: objectName(name),
      namespace,
      labels: firewallLabels(audience),
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: { table: { name: table.name, family: "IPV4", chains: table.chains } },
  };
}

export function routeConfiguration(
  { name, namespace, audience, owner }: GeneratedMeta,
  table: { name: string; rules: RouteRule[] },
): Generated<RouteConfiguration> {
  return {
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "RouteConfiguration",
    metadata: {
      name: objectName(name),
      namespace,
      labels: routeLabels(audience),
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: { table },
  };
}

/** In matches: every interface between gateways and the nodes of their cluster. */
export const OVERLAY = `${OVERLAY_INTERFACE_PREFIX}*`;

/** Priorities at which the kernel rewrites destinations and sources, and the one before that of the sources. */
export const Priority = { dstNat: -100, filter: 0, beforeSrcNat: 99, srcNat: 100 } as const;

export const source = (value: string, op: Match["op"] = "eq"): Match => ({
  op,
  ip: { value, position: "src" },
});
export const destination = (value: string): Match => ({ op: "eq", ip: { value, position: "dst" } });
export const arrivesOn = (value: string): Match => ({ op: "eq", dev: { value, position: "in" } });
export const leavesOn = (value: string): Match => ({ op: "eq", dev: { value, position: "out" } });

/** An IP that a controller wants to exist. */
export interface WantedIP {
  apiVersion: "ipam.liqo.io/v1alpha1";
  kind: "IP";
  metadata: {
    name: string;
    namespace: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: OwnerReference[];
  };
  spec: { ip: string; masquerade?: boolean };
}

export function wantedIP(metadata: WantedIP["metadata"], spec: WantedIP["spec"]): WantedIP {
  return { apiVersion: "ipam.liqo.io/v1alpha1", kind: "IP", metadata, spec };
}
