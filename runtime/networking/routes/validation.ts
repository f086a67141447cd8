import { isIPv4 } from "node:net";

import type { RouteConfiguration } from "../../api";
import { formatCidr, parseCidr, sameCidr } from "../../ipam/cidr";

/** The parts of a RouteConfiguration by name. */
export type RouteTable = RouteConfiguration["spec"]["table"];
export type RouteRule = RouteTable["rules"][number];
export type Route = RouteRule["routes"][number];

/**
 * Everything that keeps a table from being set up, each with its path and the way out; empty where nothing does. Admission refuses such a
 * table, and an agent, which also meets tables that no admission has seen, reports it.
 */
export function routeTableFaults(table: RouteTable): string[] {
  const faults: string[] = [];
  // The name also stands in the file that gives tables their names, where a line is a table.
  if (!/^[^\s#]+$/.test(table.name)) {
    faults.push(`table.name "${table.name}" is empty or has spaces; write it in one word`);
  }
  table.rules.forEach((rule, index) => {
    faults.push(...ruleFaults(rule).map((fault) => `table.rules.${index}.${fault}`));
  });
  const selectors = table.rules.map((rule) =>
    JSON.stringify([rule.src, rule.dst, rule.iif, rule.oif, rule.fwmark]),
  );
  for (const [index, selector] of selectors.entries()) {
    const first = selectors.indexOf(selector);
    if (first < index)
      faults.push(`table.rules.${index} matches the same as table.rules.${first}; merge them`);
  }
  if (faults.length === 0) faults.push(...conflicts(table));
  return faults;
}

function ruleFaults(rule: RouteRule): string[] {
  const faults = [...networkFaults("dst", rule.dst), ...networkFaults("src", rule.src)];
  for (const side of ["iif", "oif"] as const) faults.push(...interfaceFaults(side, rule[side]));
  if (rule.fwmark !== undefined && !inRange(rule.fwmark, 0, 0xffffffff)) {
    faults.push(`fwmark ${rule.fwmark} is no mark; give a number of 32 bits`);
  }
  // Up to 32765: behind it the system has its own rules, among them the one to the main table.
  if (rule.priority !== undefined && !inRange(rule.priority, 1, 32765)) {
    faults.push(`priority ${rule.priority} is not between 1 and 32765`);
  }
  rule.routes.forEach((route, index) => {
    faults.push(...routeFaults(route).map((fault) => `routes.${index}.${fault}`));
  });
  return faults;
}

function routeFaults(route: Route): string[] {
  const faults = [...networkFaults("dst", route.dst), ...interfaceFaults("dev", route.dev)];
  for (const field of ["gw", "src"] as const) {
    const address = route[field];
    if (address !== undefined && !isIPv4(address)) {
      faults.push(`${field} "${address}" is not an IPv4 address; write four numbers, as in 10.70.0.1`);
    }
  }
  if (route.gw === undefined && route.dev === undefined) {
    faults.push("gw is missing, and so is dev; say where the packets go");
  }
  return faults;
}

/** Of each destination a table has one route, whichever rule it stands under. */
function conflicts(table: RouteTable): string[] {
  const seen = new Map<string, { path: string; rule: number; route: Route }>();
  const faults: string[] = [];
  for (const [rule, { routes }] of table.rules.entries()) {
    for (const [index, route] of routes.entries()) {
      const path = `table.rules.${rule}.routes.${index}`;
      const dst = formatCidr(parseCidr(route.dst));
      const first = seen.get(dst);
      if (first === undefined) seen.set(dst, { path, rule, route });
      else if (first.rule === rule || !sameRoute(first.route, route)) {
        faults.push(`${path} is another route to ${dst}, beside ${first.path}; keep one of them`);
      }
    }
  }
  return faults;
}

/** Whether two routes send packets the same way; what they are for does not count. */
function sameRoute(a: Route, b: Route): boolean {
  return (
    sameCidr(parseCidr(a.dst), parseCidr(b.dst)) &&
    a.gw === b.gw &&
    a.dev === b.dev &&
    a.src === b.src &&
    a.scope === b.scope &&
    (a.onlink ?? false) === (b.onlink ?? false)
  );
}

function networkFaults(field: string, text: string | undefined): string[] {
  if (text === undefined) return [];
  try {
    parseCidr(text);
    return [];
  } catch (error) {
    return [`${field} ${error instanceof Error ? error.message : String(error)}`];
  }
}

function interfaceFaults(field: string, name: string | undefined): string[] {
  if (name === undefined || /^[^\s/#"'\\]{1,15}$/.test(name)) return [];
  return [`${field} "${name}" is no name of an interface; give at most 15 characters, without spaces`];
}

function inRange(value: number, first: number, last: number): boolean {
  return Number.isInteger(value) && value >= first && value <= last;
}
