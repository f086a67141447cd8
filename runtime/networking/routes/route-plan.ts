import { formatCidr, parseCidr } from "../../ipam/cidr";
import { type Route, type RouteRule, type RouteTable, routeTableFaults } from "./validation";
import type { ObservedRoute, ObservedRule } from "../kernel/ip-listing";
import { ROUTE_PROTOCOL, routeTableId } from "./table-id";

/** What the kernel has of a table. */
interface ObservedTable {
  /** All rules of the host. */
  rules: readonly ObservedRule[];
  /** The routes of the table. */
  routes: readonly ObservedRoute[];
}

/**
 * The lines for `ip -4 -force -batch -` that make the kernel's table and the rules that lead to it what a RouteConfiguration says
 * (networking reference 13); none where they are that already.
 *
 * New rules and routes come first, a next hop's before those through it, and what is not wanted goes last: packets find their way at every moment.
 *
 * @throws Error listing what is wrong with the table
 */
export function routeTablePlan(table: RouteTable, observed: ObservedTable): string[] {
  const faults = routeTableFaults(table);
  if (faults.length > 0) throw new Error(`the table cannot be set up: ${faults.join("; ")}`);
  const id = routeTableId(table.name);
  const own = observed.rules.filter((rule) => rule.table === String(id));
  const staleRules = new Set(own);
  const staleRoutes = new Set(observed.routes);
  const routesTo = Map.groupBy(observed.routes, ({ dst }) => dst);
  const lines: string[] = [];
  const planned = new Set<string>();

  for (const rule of table.rules) {
    const present = own.find((candidate) => staleRules.has(candidate) && agrees(rule, candidate));
    if (present === undefined)
      lines.push(`rule add ${ruleArguments(rule)} lookup ${id} protocol ${ROUTE_PROTOCOL}`);
    else staleRules.delete(present);
    for (const route of rule.routes) {
      const dst = formatCidr(parseCidr(route.dst));
      if (planned.has(dst)) continue;
      planned.add(dst);
      const candidates = routesTo.get(dst) ?? [];
      const there = candidates.find((candidate) => leadsTheSameWay(route, candidate));
      // A route to the same destination with the same metric is replaced, and so is not stale.
      const replaced = there ?? candidates.find((candidate) => candidate.metric === 0);
      if (replaced !== undefined) staleRoutes.delete(replaced);
      if (there === undefined)
        lines.push(`route replace ${routeArguments(route)} table ${id} proto ${ROUTE_PROTOCOL}`);
    }
  }
  return [
    ...lines,
    ...[...staleRules].map((rule) => ruleRemoval(rule, id)),
    ...[...staleRoutes].map((route) => `route del ${route.dst}${metric(route)} table ${id}`),
  ];
}

/** The lines that remove a table with the rules that lead to it. */
export function routeTableRemoval(name: string, observed: ObservedTable): string[] {
  return tableRemoval(routeTableId(name), observed);
}

/**
 * The lines that remove what agents have set for tables that are not wanted any more.
 *
 * @param wanted numbers of the tables that are
 */
export function leftoverRemoval(
  wanted: ReadonlySet<number>,
  { rules, routes }: { rules: readonly ObservedRule[]; routes: readonly ObservedRoute[] },
): string[] {
  const isOrphaned = ({ table, protocol }: ObservedRule | ObservedRoute) =>
    protocol === ROUTE_PROTOCOL && !wanted.has(Number(table));
  return [
    ...rules.filter(isOrphaned).map((rule) => ruleRemoval(rule, Number(rule.table))),
    ...routes
      .filter(isOrphaned)
      .map((route) => `route del ${route.dst}${metric(route)} table ${route.table} proto ${ROUTE_PROTOCOL}`),
  ];
}

function tableRemoval(id: number, observed: ObservedTable): string[] {
  return [
    ...observed.rules.filter((rule) => rule.table === String(id)).map((rule) => ruleRemoval(rule, id)),
    ...(observed.routes.length > 0 ? [`route flush table ${id}`] : []),
  ];
}

function agrees(rule: RouteRule, observed: ObservedRule): boolean {
  const all = (text: string | undefined) => {
    const cidr = text === undefined ? undefined : formatCidr(parseCidr(text));
    return cidr === "0.0.0.0/0" ? undefined : cidr;
  };
  return (
    !observed.foreign &&
    all(rule.src) === all(observed.src) &&
    all(rule.dst) === all(observed.dst) &&
    rule.iif === observed.iif &&
    rule.oif === observed.oif &&
    (rule.fwmark ?? 0) === (observed.fwmark ?? 0) &&
    (rule.priority === undefined || rule.priority === observed.priority)
  );
}

/** Of two routes to the same destination. */
function leadsTheSameWay(route: Route, observed: ObservedRoute): boolean {
  return (
    !observed.foreign &&
    observed.metric === 0 &&
    route.gw === observed.gw &&
    // Without a device, the kernel has looked for the next hop's.
    (route.dev === undefined || route.dev === observed.dev) &&
    route.src === observed.src &&
    (route.scope === undefined || route.scope === observed.scope) &&
    (route.onlink ?? false) === observed.onlink
  );
}

function ruleArguments({ src, dst, iif, oif, fwmark, priority }: RouteRule): string {
  return [
    // One selector must be there; this one says nothing.
    ...(src === undefined ? ["from all"] : [`from ${formatCidr(parseCidr(src))}`]),
    ...(dst === undefined ? [] : [`to ${formatCidr(parseCidr(dst))}`]),
    ...(iif === undefined ? [] : [`iif ${iif}`]),
    ...(oif === undefined ? [] : [`oif ${oif}`]),
    ...(fwmark === undefined ? [] : [`fwmark ${fwmark}`]),
    ...(priority === undefined ? [] : [`priority ${priority}`]),
  ].join(" ");
}

/** By its priority, and by enough of the rest that a rule of somebody else's with the same priority stays. */
function ruleRemoval(rule: ObservedRule, id: number): string {
  return [
    `rule del priority ${rule.priority}`,
    ...(rule.src === undefined ? [] : [`from ${rule.src}`]),
    ...(rule.dst === undefined ? [] : [`to ${rule.dst}`]),
    ...(rule.iif === undefined ? [] : [`iif ${rule.iif}`]),
    ...(rule.oif === undefined ? [] : [`oif ${rule.oif}`]),
    ...(rule.fwmark === undefined || rule.foreign ? [] : [`fwmark ${rule.fwmark}`]),
    `lookup ${id}`,
  ].join(" ");
}

function routeArguments({ dst, gw, dev, src, scope, onlink }: Route): string {
  return [
    formatCidr(parseCidr(dst)),
    ...(gw === undefined ? [] : [`via ${gw}`]),
    ...(dev === undefined ? [] : [`dev ${dev}`]),
    ...(src === undefined ? [] : [`src ${src}`]),
    ...(scope === undefined ? [] : [`scope ${scope}`]),
    ...(onlink === true ? ["onlink"] : []),
  ].join(" ");
}

function metric(route: ObservedRoute): string {
  return route.metric === 0 ? "" : ` metric ${route.metric}`;
}
