import { createHash } from "node:crypto";

import { type FirewallConfiguration, Label } from "../../api";
import {
  type Chain,
  type FirewallTable,
  type Match,
  type NatRule,
  parseAddressValue,
} from "./firewall-table";
import { type Json, type NftMap, type NftTable, type RenderedChain, tableOf } from "./nft-script";
import { tableFaults } from "./validation";

/** The agent's one table for the addresses of all IPs. */
export const ADDRESS_TABLE = { family: "ip", name: "liqo-addresses" };

/** Where addresses are translated, and how: all of a place are one rule in the kernel, which looks the address up in a map. */
interface Place {
  hook: Chain["hook"];
  priority: number;
  /** Interfaces that the packet comes from or leaves by; `liqo.*` stands for all that begin so. */
  devices: { position: "in" | "out"; value: string }[];
  position: "src" | "dst";
  natType: "dnat" | "snat" | "masquerade";
}

/** One address that is translated. */
export interface Translation {
  place: Place;
  address: string;
  /** Empty for the address of the interface that the packet leaves by. */
  to: string;
}

/**
 * What a FirewallConfiguration of an IP translates (networking reference 14.3, 14.4); undefined where it says more than a map can. A table of its own for each would
 * be two chains for each address, of which the kernel takes 1,024 a hook.
 */
export function translationsOf(
  { metadata }: Pick<FirewallConfiguration, "metadata">,
  table: FirewallTable,
): Translation[] | undefined {
  if (metadata.labels?.[Label.firewallSubcategory] !== "ip-mapping") return undefined;
  if (table.family !== "IPV4" || tableFaults(table).length > 0) return undefined;
  return all((table.chains ?? []).map(ofChain))?.flat();
}

function ofChain({ type, policy, hook, priority, rules }: Chain): Translation[] | undefined {
  const { natRules = [], filterRules = [], routeRules = [] } = rules;
  if (type !== "nat" || policy !== "accept" || filterRules.length > 0 || routeRules.length > 0) {
    return undefined;
  }
  return all(
    natRules.map((rule) => {
      const read = ofRule(rule);
      return read && { ...read, place: { hook, priority, ...read.place } };
    }),
  );
}

function ofRule({
  match,
  natType,
  to,
}: NatRule): { place: Omit<Place, "hook" | "priority">; address: string; to: string } | undefined {
  const [about, ...more] = match.filter(({ ip }) => ip !== undefined);
  const others = match.filter((each) => each !== about);
  const address = about && singleAddress(about.ip?.value);
  const target = natType === "masquerade" ? "" : singleAddress(to);
  const isPlain = about !== undefined && more.length === 0 && isAlone(about, "ip");
  if (!isPlain || address === undefined || target === undefined) return undefined;
  const devices = others.flatMap((each) => (isAlone(each, "dev") && each.dev ? [each.dev] : []));
  if (devices.length < others.length || about.ip === undefined) return undefined;
  return { place: { devices, position: about.ip.position, natType }, address, to: target };
}

/** Whether a match asks that one thing be so, and nothing else. */
function isAlone(match: Match, key: "ip" | "dev"): boolean {
  const asked = (["proto", "dev", "ip", "port"] as const).filter((each) => match[each] !== undefined);
  return match.op === "eq" && asked.length === 1 && asked[0] === key;
}

function singleAddress(text: string | undefined): string | undefined {
  const value = text === undefined ? undefined : parseAddressValue(text);
  return value?.form === "address" && value.version === 4 ? value.address : undefined;
}

/**
 * The table that carries out all translations. Where two are of the same address in the same place, the first one holds, as the first of two tables would.
 * Undefined where there are none.
 */
export function addressTable(translations: readonly Translation[]): NftTable | undefined {
  const places = new Map<string, { place: Place; elements: Map<string, string> }>();
  for (const { place, address, to } of translations) {
    const key = JSON.stringify([place.hook, place.priority, place.natType, place.position, place.devices]);
    const { elements } = places.get(key) ?? { elements: new Map<string, string>() };
    if (!elements.has(address)) elements.set(address, to);
    places.set(key, { place, elements });
  }
  if (places.size === 0) return undefined;
  const chains = new Map<string, RenderedChain>();
  const maps: NftMap[] = [];
  for (const [key, { place, elements }] of [...places].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const name = `${place.natType}-${createHash("sha256").update(key).digest("hex").slice(0, 8)}`;
    maps.push({ name, data: place.natType !== "masquerade", elements });
    const chain = `${place.hook}${place.priority}`;
    const { hook, priority } = place;
    const made = chains.get(chain) ?? {
      name: chain,
      type: "nat",
      hook,
      priority,
      policy: "accept",
      rules: [],
    };
    made.rules.push({ comment: name, expressions: expressionsOf(place, name) });
    chains.set(chain, made);
  }
  return tableOf(ADDRESS_TABLE, [...chains.values()], maps);
}

function expressionsOf({ devices, position, natType }: Place, map: string): Json[] {
  const field = position === "src" ? "saddr" : "daddr";
  const address: Json = { payload: { protocol: "ip", field } };
  return [
    ...devices.map((device): Json => ({
      match: {
        op: "==",
        left: { meta: { key: device.position === "in" ? "iifname" : "oifname" } },
        right: device.value,
      },
    })),
    ...(natType === "masquerade"
      ? [{ match: { op: "==", left: address, right: `@${map}` } }, { masquerade: null }]
      : [{ [natType]: { addr: { map: { key: address, data: `@${map}` } } } }]),
  ];
}

function all<T>(values: readonly (T | undefined)[]): T[] | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? known : undefined;
}
