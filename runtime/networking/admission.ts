import type { FirewallConfiguration, RouteConfiguration } from "../api";
import { keyOf, semanticallyEqual } from "../kube";
import type { FirewallTable } from "./firewall/firewall-table";
import { tableFaults } from "./firewall/validation";
import { routeTableFaults } from "./routes/validation";

/** The checks and defaults of admission for both kinds of configurations (networking reference 12, 13): the webhooks answer with them. */

/** What is wrong with a FirewallConfiguration beside the others of its cluster; `before` is the object that it replaces. */
export function firewallFaults(
  after: FirewallConfiguration,
  before: FirewallConfiguration | undefined,
  others: readonly FirewallConfiguration[],
): string[] {
  return [
    ...tableFaults(after.spec.table).map((fault) => `spec.${fault}`),
    ...identityFaults(after, before, others),
  ];
}

/** What is wrong with a RouteConfiguration beside the others of its cluster; `before` is the object that it replaces. */
export function routeFaults(
  after: RouteConfiguration,
  before: RouteConfiguration | undefined,
  others: readonly RouteConfiguration[],
): string[] {
  return [
    ...routeTableFaults(after.spec.table).map((fault) => `spec.${fault}`),
    ...identityFaults(after, before, others),
  ];
}

/** The table with a name for each rule that has none: agents know rules by their names. */
export function withRuleNames(table: FirewallTable, newName: () => string): FirewallTable {
  const named = <R extends { name?: string }>(rules: R[] | undefined) =>
    rules?.map((rule) => (rule.name ? rule : { ...rule, name: newName() }));
  return {
    ...table,
    ...(table.chains && {
      chains: table.chains.map((chain) => ({
        ...chain,
        rules: {
          ...(chain.rules.natRules && { natRules: named(chain.rules.natRules) }),
          ...(chain.rules.filterRules && { filterRules: named(chain.rules.filterRules) }),
          ...(chain.rules.routeRules && { routeRules: named(chain.rules.routeRules) }),
        },
      })),
    }),
  };
}

type Tabled = FirewallConfiguration | RouteConfiguration;

/** A table keeps its name, and no agent gets two of a name: that is so when no other object has both the name and the labels. */
function identityFaults(after: Tabled, before: Tabled | undefined, others: readonly Tabled[]): string[] {
  const { name } = after.spec.table;
  const faults: string[] = [];
  if (before !== undefined && before.spec.table.name !== name) {
    faults.push(
      `spec.table.name is immutable; it is "${before.spec.table.name}", make a new object for "${name}"`,
    );
  }
  const twin = others.find(
    (other) =>
      keyOf(other) !== keyOf(after) &&
      other.spec.table.name === name &&
      semanticallyEqual(other.metadata.labels ?? {}, after.metadata.labels ?? {}),
  );
  if (twin !== undefined) {
    faults.push(
      `spec.table.name "${name}" is that of ${keyOf(twin)}, which has the same labels; choose another`,
    );
  }
  return faults;
}
