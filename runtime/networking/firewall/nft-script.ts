import { formatAddress, netmask, parseAddress } from "../../ipam/cidr";
import {
  type AddressValue,
  type Chain,
  type FilterRule,
  type FirewallTable,
  markerOf,
  type Match,
  type NatRule,
  nftName,
  parseAddressValue,
  parseNumberValue,
  parsePortValue,
  ruleComment,
} from "./firewall-table";
import { tableFaults } from "./validation";

/** A table as the agent loads it. */
export interface NftTable {
  family: string;
  name: string;
  /** The chain that tells this content from others, and tables of ours from those of others. */
  marker: string;
  chains: NftChain[];
  /** What its rules look up; their contents change without a new table. */
  maps: readonly NftMap[];
  /**
   * For `nft -j -f -`: makes the table, and fails where there is one of its name. It is JSON because names come from objects: in the plain syntax
   * they could not begin with a digit, be one of its words, or hold a quote.
   */
  creation: string;
  /** Replaces a table of ours as a whole in one transaction, so that no packet meets half of it. */
  replacement: string;
}

/** A map of IPv4 addresses in a table, or a set of them. */
export interface NftMap {
  name: string;
  /** Whether an address leads to another one; else the map is a set, and what its addresses lead to is empty. */
  data: boolean;
  elements: ReadonlyMap<string, string>;
}

/** A chain as the kernel lists it. */
interface NftChain {
  name: string;
  type: string;
  hook: string;
  priority: number;
  policy: string;
  /** Of its rules, in order. */
  comments: string[];
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const FAMILIES: Record<FirewallTable["family"], string> = {
  INET: "inet",
  IPV4: "ip",
  IPV6: "ip6",
  ARP: "arp",
  NETDEV: "netdev",
  BRIDGE: "bridge",
};

/**
 * The script that makes the kernel's table what a FirewallConfiguration says (networking reference 12). Rules keep their order; route rules are
 * placeholders and stay out.
 *
 * @throws Error listing what is wrong with the table
 */
export function renderTable(table: FirewallTable): NftTable {
  const faults = tableFaults(table);
  if (faults.length > 0) throw new Error(`the table cannot be loaded: ${faults.join("; ")}`);
  const family = FAMILIES[table.family];
  const name = nftName(table.name);
  const chains = table.chains ?? [];
  return tableOf(
    { family, name },
    chains.map((chain) => ({
      name: nftName(chain.name),
      type: chain.type,
      hook: chain.hook,
      priority: chain.priority,
      policy: chain.policy,
      rules: renderedRules(chain, family),
    })),
  );
}

/** A chain with its rules as nft takes them. */
export interface RenderedChain extends Omit<NftChain, "comments"> {
  rules: RenderedRule[];
}

/** The scripts of a table. */
export function tableOf(
  { family, name }: Pick<NftTable, "family" | "name">,
  chains: readonly RenderedChain[],
  maps: readonly NftMap[] = [],
): NftTable {
  const place = { family, table: name };
  const definitions = maps.map((map): Json =>
    map.data
      ? { add: { map: { ...place, name: map.name, type: "ipv4_addr", map: "ipv4_addr" } } }
      : { add: { set: { ...place, name: map.name, type: "ipv4_addr" } } },
  );
  const rules = chains.flatMap(({ rules, priority, ...chain }): Json[] => [
    {
      add: {
        chain: {
          ...place,
          name: chain.name,
          type: chain.type,
          hook: chain.hook,
          prio: priority,
          policy: chain.policy,
        },
      },
    },
    ...rules.map(({ comment, expressions }): Json => ({
      add: { rule: { ...place, chain: chain.name, comment, expr: expressions } },
    })),
  ]);
  const content = [...definitions, ...rules];
  const marker = markerOf(JSON.stringify(content));
  const filling = maps.flatMap((map) => elementCommands("add", place, map, map.elements));
  const marked = [{ add: { chain: { ...place, name: marker } } }, ...content, ...filling];
  return {
    family,
    name,
    marker,
    chains: chains.map(({ rules, ...chain }) => ({
      ...chain,
      comments: rules.map(({ comment }) => comment),
    })),
    maps,
    creation: script([{ create: { table: { family, name } } }, ...marked]),
    replacement: script([...emptied(family, name), { add: { table: { family, name } } }, ...marked]),
  };
}

/** The elements of a table's maps, by the maps' names. */
export type Elements = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The script that makes the elements of a table's maps what they should be; undefined where they are. */
export function elementScript({ family, name, maps }: NftTable, present: Elements): string | undefined {
  const place = { family, table: name };
  const commands = maps.flatMap((map) => {
    const have = present.get(map.name) ?? new Map<string, string>();
    const missing = [...map.elements].filter(([address, to]) => have.get(address) !== to);
    const surplus = [...have].filter(([address, to]) => map.elements.get(address) !== to);
    return [
      ...elementCommands("delete", place, map, new Map(surplus)),
      ...elementCommands("add", place, map, new Map(missing)),
    ];
  });
  return commands.length === 0 ? undefined : script(commands);
}

function elementCommands(
  command: "add" | "delete",
  place: { family: string; table: string },
  { name, data }: NftMap,
  elements: ReadonlyMap<string, string>,
): Json[] {
  if (elements.size === 0) return [];
  const elem = [...elements].map(([address, to]): Json => (data ? [address, to] : address));
  return [{ [command]: { element: { ...place, name, elem } } }];
}

/** The script that removes tables, whether they are there or not. */
export function removalScript(tables: readonly Pick<NftTable, "family" | "name">[]): string {
  return script(tables.flatMap(({ family, name }) => emptied(family, name)));
}

/** Added first, because deleting what is not there would fail the transaction. */
function emptied(family: string, name: string): Json[] {
  return [{ add: { table: { family, name } } }, { delete: { table: { family, name } } }];
}

function script(commands: Json[]): string {
  return JSON.stringify({ nftables: commands });
}

export interface RenderedRule {
  /** By which the rule is known. */
  comment: string;
  expressions: Json[];
}

function renderedRules({ rules }: Chain, family: string): RenderedRule[] {
  const rendered = (name: string | undefined, expressions: Json[]) => ({
    comment: ruleComment(name ?? ""),
    expressions,
  });
  return [
    ...(rules.natRules ?? []).map((rule) =>
      rendered(rule.name, [...rule.match.flatMap(matchExpressions), natStatement(rule, family)]),
    ),
    ...(rules.filterRules ?? []).map((rule) =>
      rendered(rule.name, [
        ...rule.match.flatMap(matchExpressions),
        ...(rule.counter ? [{ counter: null }] : []),
        ...filterStatements(rule),
      ]),
    ),
  ];
}

/** In the order protocol, device, address, port. */
function matchExpressions(match: Match): Json[] {
  const { proto, dev, ip, port } = match;
  const expressions: Json[] = [];
  const compare = (op: Match["op"], left: Json, right: Json) =>
    expressions.push({ match: { op: op === "eq" ? "==" : "!=", left, right } });
  if (proto) {
    // Beside a port the protocol says what kind of port is meant, so only alone it can be negated.
    const op = port || ip || dev ? "eq" : match.op;
    compare(op, { meta: { key: "l4proto" } }, proto.value);
  }
  if (dev) compare(match.op, { meta: { key: dev.position === "in" ? "iifname" : "oifname" } }, dev.value);
  if (ip) {
    const value = known(parseAddressValue(ip.value), ip.value);
    const protocol = value.version === 4 ? "ip" : "ip6";
    const field = ip.position === "src" ? "saddr" : "daddr";
    compare(match.op, { payload: { protocol, field } }, addressOperand(value));
  }
  if (port) {
    const [first, last] = known(parsePortValue(port.value), port.value);
    const field = port.position === "src" ? "sport" : "dport";
    compare(
      match.op,
      { payload: { protocol: "th", field } },
      first === last ? first : { range: [first, last] },
    );
  }
  return expressions;
}

function addressOperand(value: AddressValue): Json {
  switch (value.form) {
    case "address":
      return value.address;
    case "range":
      return { range: [value.from, value.to] };
    case "network":
      return { prefix: { addr: networkAddress(value), len: value.length } };
  }
}

function networkAddress({ version, address, length }: Extract<AddressValue, { form: "network" }>): string {
  return version === 4 ? formatAddress((parseAddress(address) & netmask(length)) >>> 0) : address;
}

function natStatement({ natType, to }: NatRule, family: string): Json {
  if (natType === "masquerade" || !to) return { masquerade: null };
  const value = known(parseAddressValue(to), to);
  const statement: Record<string, Json> = { addr: addressOperand(value) };
  if (family === "inet") statement.family = value.version === 4 ? "ip" : "ip6";
  if (value.form === "network") {
    // Without the first, nft 1.0 takes the prefix for a range to choose from.
    statement.flags = "netmap";
    statement.type_flags = "prefix";
  }
  return { [natType]: statement };
}

function filterStatements({ action, value }: FilterRule): Json[] {
  switch (action) {
    case "accept":
    case "drop":
    case "reject":
    case "notrack":
      return [{ [action]: null }];
    case "ctmark":
      return [set({ ct: { key: "mark" } }, known(parseNumberValue(value ?? ""), value))];
    case "metamarkfromctmark":
      return [set({ meta: { key: "mark" } }, { ct: { key: "mark" } })];
    case "tcpmssclamp": {
      const size = parseNumberValue(value ?? "") ?? 0;
      const synchronizing = { "&": [{ payload: { protocol: "tcp", field: "flags" } }, "syn"] };
      return [
        { match: { op: "!=", left: synchronizing, right: 0 } },
        set({ "tcp option": { name: "maxseg", field: "size" } }, size === 0 ? { rt: { key: "mtu" } } : size),
      ];
    }
  }
}

function set(key: Json, value: Json): Json {
  return { mangle: { key, value } };
}

function known<V>(value: V | undefined, text: string | undefined): V {
  if (value === undefined) throw new Error(`the value "${text ?? ""}" cannot be read`);
  return value;
}
