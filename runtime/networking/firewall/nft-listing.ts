import { z } from "zod";

import { isMarker } from "./firewall-table";
import type { Elements, NftTable } from "./nft-script";

const chainEntry = z.object({
  family: z.string(),
  table: z.string(),
  name: z.string(),
  type: z.string().optional(),
  hook: z.string().optional(),
  prio: z.number().optional(),
  policy: z.string().optional(),
});
const ruleEntry = z.object({
  family: z.string(),
  table: z.string(),
  chain: z.string(),
  comment: z.string().optional(),
});
/** Of the many kinds of entries in nft's listings, those that are looked at; the rest is somebody else's. */
const listing = z.object({
  nftables: z.array(z.object({ chain: chainEntry.optional(), rule: ruleEntry.optional() })),
});

/** Something of `nft -j list …`, as far as it matters here. */
export type NftListing = z.output<typeof listing>;

/** @throws ZodError where it is no listing of nft */
export function parseNftListing(text: string): NftListing {
  return listing.parse(JSON.parse(text));
}

const elements = z.object({
  name: z.string(),
  elem: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])).optional(),
});
const filledMaps = z.object({
  nftables: z.array(z.object({ map: elements.optional(), set: elements.optional() })),
});

/** The elements of the maps in the listing of a table. @throws ZodError where it is no listing of nft */
export function parseElements(text: string): Elements {
  const { nftables } = filledMaps.parse(JSON.parse(text));
  return new Map(
    nftables.flatMap(({ map = undefined, set = map }): [string, Map<string, string>][] => {
      if (set === undefined) return [];
      const entries = (set.elem ?? []).map((each): [string, string] =>
        typeof each === "string" ? [each, ""] : each,
      );
      return [[set.name, new Map(entries)]];
    }),
  );
}

const countingRules = z.object({
  nftables: z.array(
    z.object({
      rule: z
        .object({
          comment: z.string().optional(),
          expr: z.array(z.object({ counter: z.object({ packets: z.number() }).nullish() })),
        })
        .optional(),
    }),
  ),
});

/** How many packets the rules of a listing have counted, by their comments. @throws ZodError where it is no listing of nft */
export function parseRuleCounters(text: string): Map<string, number> {
  const { nftables } = countingRules.parse(JSON.parse(text));
  return new Map(
    nftables.flatMap(({ rule }): [string, number][] => {
      const counted = rule?.expr.find(({ counter }) => counter)?.counter?.packets;
      return rule?.comment === undefined || counted === undefined ? [] : [[rule.comment, counted]];
    }),
  );
}

/**
 * Whether the kernel's table is what was rendered, from its listing (`nft -j list table …`): loaded from the same content, with each chain as it was and the
 * same rules in the same order. The expressions of rules are not compared: the kernel lists them in other words.
 */
export function isInPlace(wanted: NftTable, listing: NftListing): boolean {
  return hasChains(wanted, listing) && hasRules(wanted, listing);
}

/** Whether a table was loaded from the same content and has its chains; the rules are not looked at. */
export function hasChains(wanted: NftTable, { nftables }: NftListing): boolean {
  const chains = nftables.flatMap(({ chain }) =>
    chain?.family === wanted.family && chain.table === wanted.name ? [chain] : [],
  );
  if (!chains.some(({ name }) => name === wanted.marker)) return false;
  const present = new Map(
    chains.filter(({ name }) => name !== wanted.marker).map((chain) => [chain.name, chain]),
  );
  if (present.size !== wanted.chains.length) return false;
  return wanted.chains.every((want) => {
    const have = present.get(want.name);
    return (
      have?.type === want.type &&
      have.hook === want.hook &&
      have.prio === want.priority &&
      have.policy === want.policy
    );
  });
}

/** Whether each chain of a table has the rules that it should, in their order. */
function hasRules(wanted: NftTable, { nftables }: NftListing): boolean {
  return wanted.chains.every((want) => {
    const comments = nftables.flatMap(({ rule }) =>
      rule?.family === wanted.family && rule.table === wanted.name && rule.chain === want.name
        ? [rule.comment]
        : [],
    );
    return (
      comments.length === want.comments.length &&
      comments.every((comment, index) => comment === want.comments[index])
    );
  });
}

/** Whose a table is that has a name, as far as the listing of all chains tells: one without chains is not in it. */
export function holderOf(
  { family, name }: { family: string; name: string },
  { nftables }: NftListing,
): "ours" | "others" | "nobody" {
  const chains = nftables.flatMap(({ chain }) =>
    chain?.family === family && chain.table === name ? [chain] : [],
  );
  if (chains.length === 0) return "nobody";
  return chains.some((chain) => isMarker(chain.name)) ? "ours" : "others";
}

/** The tables that agents of ours loaded, from the listing of all chains (`nft -j list chains`): those that nobody wants can be removed. */
export function ownTables({ nftables }: NftListing): { family: string; name: string }[] {
  return nftables.flatMap(({ chain }) =>
    chain !== undefined && isMarker(chain.name) ? [{ family: chain.family, name: chain.table }] : [],
  );
}
