import { createHash } from "node:crypto";

import { Label } from "../../api";

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
