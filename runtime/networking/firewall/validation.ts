import { BlockList } from "node:net";

import {
  type AddressValue,
  type Chain,
  type FilterRule,
  type FirewallTable,
  isMarker,
  type Match,
  type NatRule,
  parseAddressValue,
  parseNumberValue,
  parsePortValue,
  rulesOf,
} from "./firewall-table";

type Family = FirewallTable["family"];
type Hook = Chain["hook"];

const INET_HOOKS: readonly Hook[] = ["prerouting", "input", "forward", "output", "postrouting"];
const NAT_HOOKS: readonly Hook[] = ["prerouting", "input", "output", "postrouting"];

/** Which hooks a chain may stand at (networking reference 12), and in addition INET and IPV6 at forward. */
const HOOKS: Record<Family, Partial<Record<Chain["type"], readonly Hook[]>>> = {
  INET: { filter: [...INET_HOOKS, "ingress"], nat: NAT_HOOKS, route: ["output"] },
  IPV4: { filter: INET_HOOKS, nat: NAT_HOOKS, route: ["output"] },
  IPV6: { filter: INET_HOOKS, nat: NAT_HOOKS, route: ["output"] },
  ARP: { filter: ["input", "output"] },
  BRIDGE: { filter: INET_HOOKS },
  NETDEV: { filter: ["ingress"] },
};

/** What iptables, kube-proxy and firewalld call their tables. */
const OTHERS = ["filter", "nat", "mangle", "raw", "security", "kube-proxy", "firewalld"];
/** The kernel tracks connections at this priority, and translates after it. */
const CONNTRACK_PRIORITY = -200;

const RULES_OF_TYPE = { filter: "filterRules", nat: "natRules", route: "routeRules" } as const;

/**
 * Everything that keeps a table from being loaded, each with its path and the way out; empty where nothing does. Admission refuses such
 * a table, and an agent, which also meets tables that no admission has seen, reports it.
 */
export function tableFaults(table: FirewallTable): string[] {
  const faults: string[] = [];
  if (!isName(table.name)) faults.push(`table.name ${badName(table.name)}`);
  if (OTHERS.includes(table.name)) {
    faults.push(`table.name "${table.name}" is that of a table of other software; choose another`);
  }
  const chains = table.chains ?? [];
  for (const name of duplicates(chains.map((chain) => chain.name))) {
    faults.push(`table.chains has more than one chain "${name}"; give each a name of its own`);
  }
  for (const [index, chain] of chains.entries()) {
    faults.push(...chainFaults(chain, table.family).map((fault) => `table.chains.${index}.${fault}`));
  }
  return faults;
}

function chainFaults(chain: Chain, family: Family): string[] {
  const faults: string[] = [];
  if (!isName(chain.name)) faults.push(`name ${badName(chain.name)}`);
  if (isMarker(chain.name)) faults.push(`name "${chain.name}" is one that agents use; choose another`);
  const hooks = HOOKS[family][chain.type];
  if (hooks === undefined) {
    const types = Object.keys(HOOKS[family]).join(", ");
    faults.push(`type ${chain.type} does not exist in family ${family}; use one of: ${types}`);
  } else if (!hooks.includes(chain.hook)) {
    faults.push(
      `hook ${chain.hook} is not for chains of type ${chain.type} in family ${family}; use one of: ${hooks.join(", ")}`,
    );
  }
  if (chain.type === "nat" && chain.priority <= CONNTRACK_PRIORITY) {
    faults.push(
      `priority ${chain.priority} is too early for a chain of type nat; give more than ${CONNTRACK_PRIORITY}`,
    );
  }
  const kinds = Object.entries(chain.rules).flatMap(([kind, list]) => (list === undefined ? [] : [kind]));
  for (const kind of kinds) {
    if (kind !== RULES_OF_TYPE[chain.type]) {
      faults.push(
        `rules.${kind} do not belong in a chain of type ${chain.type}; use ${RULES_OF_TYPE[chain.type]}`,
      );
    }
  }
  const names = rulesOf(chain).map(({ name }) => name ?? "");
  for (const [index, name] of names.entries()) {
    if (!isName(name)) faults.push(`rules.${kinds[0]}.${index}.name ${badName(name)}`);
  }
  for (const name of duplicates(names)) {
    faults.push(`rules.${kinds[0]} has more than one rule "${name}"; give each a name of its own`);
  }
  const at = (kind: string) => (list: string[], index: number) =>
    list.map((fault) => `rules.${kind}.${index}.${fault}`);
  const { natRules = [], filterRules = [] } = chain.rules;
  faults.push(...natRules.map((rule) => natFaults(rule, chain, family)).flatMap(at("natRules")));
  faults.push(...filterRules.map((rule) => filterFaults(rule, family)).flatMap(at("filterRules")));
  return faults;
}

function natFaults(rule: NatRule, { hook }: Chain, family: Family): string[] {
  const faults = rule.match.flatMap(matchFaults(family));
  const hooks = rule.natType === "dnat" ? ["prerouting", "output"] : ["postrouting", "input"];
  if (!hooks.includes(hook)) {
    faults.push(`natType ${rule.natType} is not for hook ${hook}; use one of: ${hooks.join(", ")}`);
  }
  if (rule.natType === "masquerade") {
    if (rule.to)
      faults.push(`to is "${rule.to}", but masquerade takes the address of the interface; leave it out`);
  } else if (!rule.to) {
    faults.push(`to is missing; give the address or network that ${rule.natType} writes`);
  } else {
    const value = parseAddressValue(rule.to);
    if (value === undefined || value.form === "range") {
      faults.push(`to "${rule.to}" is neither an address nor a CIDR; write it as 10.70.0.1 or 10.70.0.0/16`);
    } else faults.push(...versionFaults("to", rule.to, value, family));
  }
  return faults;
}

function filterFaults(rule: FilterRule, family: Family): string[] {
  const faults = rule.match.flatMap(matchFaults(family));
  const value = rule.value === undefined ? undefined : parseNumberValue(rule.value);
  if (rule.action === "ctmark" && value === undefined) {
    faults.push(`value ${describe(rule.value)} is no mark; give a number of 32 bits`);
  }
  if (rule.action === "tcpmssclamp") {
    if (rule.value && (value === undefined || value > 65535)) {
      faults.push(`value "${rule.value}" is no segment size; give bytes, or 0 for the path's`);
    }
    if (!rule.match.some(({ op, proto }) => op === "eq" && proto?.value === "tcp")) {
      faults.push(`match does not ask for tcp, which tcpmssclamp needs; add {op: eq, proto: {value: tcp}}`);
    }
  }
  return faults;
}

const matchFaults =
  (family: Family) =>
  (match: Match, index: number, matches: readonly Match[]): string[] => {
    const faults: string[] = [];
    const { ip, port, proto, dev } = match;
    if (!ip && !port && !proto && !dev) {
      faults.push(`match.${index} matches nothing; give ip, port, proto or dev`);
    }
    if (ip) {
      const value = parseAddressValue(ip.value);
      if (value === undefined) {
        faults.push(
          `match.${index}.ip.value "${ip.value}" is no address; write an address, a CIDR or a range such as 10.0.0.1-10.0.0.9`,
        );
      } else faults.push(...versionFaults(`match.${index}.ip.value`, ip.value, value, family));
    }
    if (port) {
      const range = parsePortValue(port.value);
      if (range === undefined || range[0] > range[1]) {
        faults.push(
          `match.${index}.port.value "${port.value}" is no port; write 80, or a range such as 8000-8080`,
        );
      }
      const asksForProtocol = (other: Match) => other.proto && (other === match || other.op === "eq");
      if (!matches.some(asksForProtocol)) {
        faults.push(`match.${index}.port needs a protocol; add proto: {value: tcp} or udp`);
      }
    }
    if (dev && !/^[^\s/"*]{1,15}\*?$/.test(dev.value)) {
      faults.push(
        `match.${index}.dev.value "${dev.value}" is no name of an interface; give at most 15 characters`,
      );
    }
    return faults;
  };

function versionFaults(path: string, text: string, value: AddressValue, family: Family): string[] {
  const faults: string[] = [];
  if ((family === "IPV4" && value.version === 6) || (family === "IPV6" && value.version === 4)) {
    faults.push(`${path} "${text}" is IPv${value.version}, which family ${family} does not have`);
  }
  if (value.form === "range" && compareAddresses(value.from, value.to) > 0) {
    faults.push(`${path} "${text}" ends before it begins; swap the addresses`);
  }
  return faults;
}

function compareAddresses(a: string, b: string): number {
  const list = new BlockList();
  if (a === b) return 0;
  try {
    list.addRange(a, b, a.includes(":") ? "ipv6" : "ipv4");
    return -1;
  } catch {
    return 1;
  }
}

function isName(text: string): boolean {
  // Control characters would break the listings that people and agents read.
  return text !== "" && !/[\p{Cc}]/u.test(text);
}

function badName(text: string): string {
  return text === "" ? "is empty; give a name" : "has control characters; use printable ones";
}

function describe(value: string | undefined): string {
  return value === undefined ? "is missing and" : `"${value}"`;
}

function duplicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => name !== "" && names.indexOf(name) !== index))];
}
