/** Generated configurations in few lines, in the words of the programs that carry them out. */
import type { FirewallConfiguration, RouteConfiguration } from "../../../runtime/api";
import type { Match } from "../../../runtime/networking/firewall/firewall-table";
import { tableFaults } from "../../../runtime/networking/firewall/validation";
import type { Generated } from "../../../runtime/networking/generated";
import { routeTableFaults } from "../../../runtime/networking/routes/validation";

function heading(
  { metadata }: Generated<FirewallConfiguration | RouteConfiguration>,
  table: string,
): string[] {
  const { name, namespace, labels, ownerReferences = [] } = metadata;
  const audience = Object.entries(labels).map(
    ([key, value]) => `${key.replace("networking.liqo.io/", "")}=${value}`,
  );
  return [
    `${namespace}/${name} table ${table}`,
    audience.join(" "),
    ...ownerReferences.map((owner) => `owned by ${owner.kind} ${owner.name}`),
  ];
}

export function describedFirewall(generated: Generated<FirewallConfiguration> | undefined): string[] {
  if (generated === undefined) return [];
  const { table } = generated.spec;
  const faults = tableFaults(table);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return [
    ...heading(generated, table.name),
    ...(table.chains ?? []).flatMap((chain) => [
      `${chain.name}: ${chain.type} ${chain.hook} ${chain.priority}`,
      ...(chain.rules.natRules ?? []).map(({ name, match, natType, to = "" }) =>
        `  ${name}: ${matches(match)} ${natType} ${to}`.trimEnd(),
      ),
      ...(chain.rules.filterRules ?? []).map(({ name, match, action, value = "" }) =>
        `  ${name}: ${matches(match)} ${action} ${value}`.trimEnd(),
      ),
    ]),
  ];
}

function matches(list: readonly Match[]): string {
  return list
    .map(({ op, ip, port, proto, dev }) => {
      const not = op === "neq" ? "!" : "";
      return [
        ...(proto ? [proto.value] : []),
        ...(dev ? [`${dev.position === "in" ? "iif" : "oif"} ${not}${dev.value}`] : []),
        ...(ip ? [`${ip.position} ${not}${ip.value}`] : []),
        ...(port ? [`${port.position === "src" ? "sport" : "dport"} ${not}${port.value}`] : []),
      ].join(" ");
    })
    .join(" ");
}

export function describedRoutes(generated: Generated<RouteConfiguration> | undefined): string[] {
  if (generated === undefined) return [];
  const { table } = generated.spec;
  const faults = routeTableFaults(table);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  const words = (fields: Record<string, string | number | boolean | undefined>) =>
    Object.entries(fields)
      .flatMap(([word, value]) => (value === undefined ? [] : [`${word} ${value}`]))
      .join(" ");
  return [
    ...heading(generated, table.name),
    ...table.rules.flatMap(({ priority, fwmark, iif, oif, src, dst, routes }) => [
      `rule ${words({ priority, fwmark, iif, oif, from: src, to: dst })}`,
      ...routes.map(({ dst: to, gw, dev, scope }) => `  ${to} ${words({ via: gw, dev, scope })}`),
    ]),
  ];
}
