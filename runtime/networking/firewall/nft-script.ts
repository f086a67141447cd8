import { formatAddress, parseAddress } from "../../ipam/address";
import { netmask } from "../../ipam/cidr";
import { type AddressValue, parseAddressValue, parseNumberValue, parsePortValue } from "./match-value";
import type { Chain, FilterRule, FirewallTable, Match, NatRule } from "./model";
import { markerOf, nftName, ruleComment } from "./nft-names";
import { tableFaults } from "./table-faults";

/** A table as the agent loads it. */
export interface NftTable {
  family: string;
  name: string;
  /** The chain that tells this content from others, and tables of ours from those of others. */
  marker: string;
  chains: NftChain[];
  /**
   * For `nft -j -f -`: makes the table, and fails where there is one of its name. It is JSON because names come from objects: in the plain syntax
   * they could not begin with a digit, be one of its words, or hold a quote.
   */
  creation: string;
  /** Replaces a table of ours as a whole in one transaction, so that no packet meets half of it. */
  replacement: string;
}

/** A chain as the kernel lists it. */
export interface NftChain {
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
): NftTable {
  const place = { family, table: name };
  const content = chains.flatMap(({ rules, priority, ...chain }): Json[] => [
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
  const marker = markerOf(JSON.stringify(content));
  const marked = [{ add: { chain: { ...place, name: marker } } }, ...content];
  return {
    family,
    name,
    marker,
    chains: chains.map(({ rules, ...chain }) => ({
      ...chain,
      comments: rules.map(({ comment }) => comment),
    })),
    creation: script([{ create: { table: { family, name } } }, ...marked]),
    replacement: script([...emptied(family, name), { add: { table: { family, name } } }, ...marked]),
  };
}

/** The script that removes a table, whether it is there or not. */
export function removalScript({ family, name }: Pick<NftTable, "family" | "name">): string {
  return script(emptied(family, name));
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
