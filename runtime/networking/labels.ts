import { createHash } from "node:crypto";

import { EventReason, type KubeObject, Label } from "../api";
import { keyOf, Terminal } from "../kube";

/** Names and labels of generated configurations, within what Kubernetes takes. */

const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;

/** A name made of others: as it is, or cut and made unique by a hash where it is too long. */
export function objectName(name: string): string {
  return bounded(name, LONGEST_NAME);
}

/** The value of a label that says which node or gateway an object is for; names may be longer than that. */
export function labelValue(name: string): string {
  return bounded(name, LONGEST_LABEL);
}

/** Which agents apply a configuration: gateways or nodes (`category`), all or some of them. Source: networking reference 10.1, 11, 14. */
export interface Audience {
  category: "gateway" | "fabric";
  subcategory?: "all-gateways" | "all-nodes" | "single-node" | "fabric" | "fabric-node" | "ip-mapping";
  /** Cluster ID of the gateway's peer, or name of the node. */
  unique?: string;
}

export function firewallLabels(audience: Audience): Record<string, string> {
  return audienceLabels(audience, {
    category: Label.firewallCategory,
    subcategory: Label.firewallSubcategory,
    unique: Label.firewallUnique,
  });
}

export function routeLabels(audience: Audience): Record<string, string> {
  return audienceLabels(audience, {
    category: Label.routeCategory,
    subcategory: Label.routeSubcategory,
    unique: Label.routeUnique,
  });
}

function audienceLabels(
  { category, subcategory, unique }: Audience,
  keys: Record<keyof Audience, string>,
): Record<string, string> {
  return {
    [keys.category]: category,
    ...(subcategory !== undefined && { [keys.subcategory]: subcategory }),
    ...(unique !== undefined && { [keys.unique]: labelValue(unique) }),
  };
}

function bounded(name: string, length: number): string {
  if (name.length <= length) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 10);
  return `${name.slice(0, length - 11).replace(/[^a-z0-9]+$/i, "")}-${hash}`;
}

/**
 * The peer that an object is about.
 *
 * @throws Terminal where it does not say
 */
export function peerOf(object: KubeObject): string {
  const peer = object.metadata.labels?.[Label.remoteClusterID];
  if (peer) return peer;
  throw new Terminal(
    EventReason.missingClusterID,
    `${object.kind} ${keyOf(object)} has no label ${Label.remoteClusterID}; set it to the peer's cluster ID`,
  );
}

/** Which configurations are for an agent, by their labels (networking reference 10.1, 11, 14). */

interface GatewayAudience {
  peer: string;
  node: string;
}

/** Of an object: category, subcategory and unique. */
function audienceOf({ metadata }: KubeObject, of: "firewall" | "route") {
  const label = (key: string) => metadata.labels?.[key];
  return of === "firewall"
    ? {
        category: label(Label.firewallCategory),
        subcategory: label(Label.firewallSubcategory),
        unique: label(Label.firewallUnique),
      }
    : {
        category: label(Label.routeCategory),
        subcategory: label(Label.routeSubcategory),
        unique: label(Label.routeUnique),
      };
}

/** Selects, at the API server, what an agent of a category may be concerned with. */
export const categorySelector = {
  firewall: (category: "gateway" | "fabric") => `${Label.firewallCategory}=${category}`,
  route: (category: "gateway" | "fabric") => `${Label.routeCategory}=${category}`,
};

export function isFirewallOfGateway(object: KubeObject, { peer }: GatewayAudience): boolean {
  const { category, subcategory, unique } = audienceOf(object, "firewall");
  if (category !== "gateway") return false;
  if (["all-gateways", "fabric", "ip-mapping"].includes(subcategory ?? "")) return true;
  return subcategory === undefined && unique === labelValue(peer);
}

/** A node may have the name of a peer, so the subcategory says what is meant. */
export function isRouteOfGateway(object: KubeObject, { peer, node }: GatewayAudience): boolean {
  const { category, subcategory, unique } = audienceOf(object, "route");
  if (category !== "gateway") return false;
  if (subcategory === "fabric") return true;
  if (subcategory === "fabric-node") return unique === labelValue(node);
  return subcategory === undefined && unique === labelValue(peer);
}

export function isFirewallOfNode(object: KubeObject, node: string): boolean {
  const { category, subcategory, unique } = audienceOf(object, "firewall");
  if (category !== "fabric") return false;
  if (subcategory === "single-node") return unique === labelValue(node);
  return subcategory === "all-nodes" || subcategory === "ip-mapping";
}

export function isRouteOfNode(object: KubeObject): boolean {
  return audienceOf(object, "route").category === "fabric";
}
