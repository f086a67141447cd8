import type { FirewallConfiguration, RouteConfiguration } from "../../api";
import { type Cidr, parseCidr } from "../../ipam/cidr";
import { conflictOf, describeConflict, type OwnRange, ownRanges } from "../../ipam/own-addresses";
import { controllerOf } from "../../kube";
import type { NatRule } from "../firewall/firewall-table";
import type { Kernel } from "../kernel/kernel";
import { isOverlay } from "./overlay-links";
import type { ObservedLink, ObservedRoute } from "../kernel/ip-listing";
import type { RouteRule } from "../routes/validation";

/** An object without what would take the host's own addresses away, and what was left out. */
interface Guarded<T> {
  object: T;
  fault?: Error;
}

/** Number of the main table; a listing may leave it out. */
const MAIN_TABLE = "254";

/**
 * Keeps a node reachable whatever networks a peer claims: no route to a peer, and no translation towards one, goes over the node's own
 * addresses, its default gateways or the API server. The controllers refuse such networks, too; a node knows more of itself, and earlier.
 */
export class HostGuard {
  private own: readonly OwnRange[] | undefined;
  private gateways: readonly string[] = [];

  /**
   * @param apiServer the addresses of the API server, as far as they are known
   * @param changed called when the host has other addresses or gateways than before
   */
  constructor(
    private readonly kernel: Pick<Kernel, "links" | "routes">,
    private readonly apiServer: () => readonly string[],
    private readonly changed: () => void,
  ) {}

  /** Of the host, sorted; undefined before it was looked at. */
  get defaultGateways(): readonly string[] | undefined {
    return this.own && this.gateways;
  }

  /** Takes in what the host has. */
  see(links: readonly ObservedLink[], routes: readonly ObservedRoute[]): void {
    const addresses = links
      .filter((link) => !isOverlay(link) && link.noCarrier !== true)
      .flatMap((link) => link.addresses.map((address) => address.split("/")[0]));
    const gateways = routes
      .filter(({ dst, table }) => dst === "0.0.0.0/0" && (table === undefined || table === MAIN_TABLE))
      .map(({ gw }) => gw);
    const own = [
      ...ownRanges(addresses, "an address of this node"),
      ...ownRanges(gateways, "the default gateway of this node"),
    ];
    const before = this.own;
    this.own = own;
    this.gateways = [...new Set(gateways.filter((gateway) => gateway !== undefined))].sort();
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(own)) this.changed();
  }

  /** Reads the addresses and routes of the host once. Later changes arrive by {@link see}. */
  async look(): Promise<void> {
    if (this.own === undefined) this.see(await this.kernel.links(), await this.kernel.routes());
  }

  /** Describes the conflict of a range with the addresses of the host. Undefined where there is none. */
  conflictWith(range: string | undefined): string | undefined {
    if (range === undefined) return undefined;
    const cidr = parse(range);
    if (cidr === undefined) return undefined;
    const own = [...(this.own ?? []), ...ownRanges(this.apiServer(), "an address of the API server")];
    const conflict = conflictOf(cidr, own);
    return conflict && describeConflict(cidr, conflict);
  }

  /** Keeps the routes to a peer that do not conflict with the host. Routes of an administrator are not checked. */
  routes(object: RouteConfiguration): Guarded<RouteConfiguration> {
    if (controllerOf(object)?.kind !== "InternalFabric") return { object };
    const { table } = object.spec;
    const { kept, conflicts } = this.sorted(table.rules, destinationsOf);
    if (conflicts.length === 0) return { object };
    return {
      object: { ...object, spec: { ...object.spec, table: { ...table, rules: kept } } },
      ...fault(conflicts),
    };
  }

  /** Keeps the translations towards a peer that do not conflict with the host. */
  tables(object: FirewallConfiguration): Guarded<FirewallConfiguration> {
    if (controllerOf(object)?.kind !== "Configuration") return { object };
    const { table } = object.spec;
    const found: string[] = [];
    const chains = table.chains?.map((chain) => {
      const { natRules } = chain.rules;
      if (natRules === undefined) return chain;
      const { kept, conflicts } = this.sorted(natRules, targetsOf);
      found.push(...conflicts);
      return { ...chain, rules: { ...chain.rules, natRules: kept } };
    });
    if (found.length === 0) return { object };
    return { object: { ...object, spec: { ...object.spec, table: { ...table, chains } } }, ...fault(found) };
  }

  private sorted<R>(
    rules: readonly R[],
    rangesOf: (rule: R) => string[],
  ): { kept: R[]; conflicts: string[] } {
    const kept: R[] = [];
    const conflicts: string[] = [];
    for (const rule of rules) {
      const found = rangesOf(rule).flatMap((range) => this.conflictWith(range) ?? []);
      if (found.length === 0) kept.push(rule);
      conflicts.push(...found);
    }
    return { kept, conflicts };
  }
}

function destinationsOf({ dst, routes }: RouteRule): string[] {
  return [...(dst === undefined ? [] : [dst]), ...routes.map((route) => route.dst)];
}

function targetsOf({ match }: NatRule): string[] {
  return match.flatMap(({ op, ip }) => (op === "eq" && ip?.position === "dst" ? [ip.value] : []));
}

/** A rule may also hold an address or a range `a-b`. Those are not networks of a peer, and are not checked. */
function parse(range: string): Cidr | undefined {
  try {
    return parseCidr(range);
  } catch {
    return undefined;
  }
}

function fault(conflicts: readonly string[]): { fault: Error } {
  return {
    fault: new Error(
      `${[...new Set(conflicts)].join("; ")}, so nothing is sent there from this node; delete the peer's Network with that range, which comes back with another one`,
    ),
  };
}
