import { type KubeObject, Label } from "../../api";
import { labelValue } from "../generate/metadata";

/** Which configurations are for an agent, by their labels (networking reference 10.1, 11, 14). */

export interface GatewayAudience {
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
