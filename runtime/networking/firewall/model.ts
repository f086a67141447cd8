import type { FirewallConfiguration } from "../../api";

/** The parts of a FirewallConfiguration by name. */
export type FirewallTable = FirewallConfiguration["spec"]["table"];
export type Chain = NonNullable<FirewallTable["chains"]>[number];
export type NatRule = NonNullable<Chain["rules"]["natRules"]>[number];
export type FilterRule = NonNullable<Chain["rules"]["filterRules"]>[number];
export type Match = FilterRule["match"][number];

/** The names of a chain's rules, of whatever kind they are, in order. */
export function rulesOf({ rules }: Chain): readonly { name?: string }[] {
  return rules.natRules ?? rules.filterRules ?? rules.routeRules ?? [];
}
