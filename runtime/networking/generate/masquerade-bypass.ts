import { cidrInName, type Configuration, type FirewallConfiguration } from "../../api";
import { controlledBy } from "../../kube";
import { formatCidr, parseCidr } from "../../ipam/cidr";
import { cidrMappings, unknownSource } from "../address-mapping";
import type { NatRule } from "../firewall/model";
import { destination, firewallConfiguration, type Generated, Priority, source } from "./configurations";

/**
 * On every node: what pods send to a peer keeps its address, before the cluster's own masquerading would change it; what anybody else sends gets the one
 * address that stands for unknown senders (networking reference 14.2). Undefined while the Configuration says nothing of this cluster's
 * networks.
 *
 * @param fullMasquerade pods, too, get that address
 */
export function masqueradeBypass(
  configuration: Configuration,
  fullMasquerade: boolean,
): Generated<FirewallConfiguration> | undefined {
  const { name, namespace = "" } = configuration.metadata;
  const { pod = [], external = [] } = configuration.spec.local?.cidr ?? {};
  const [localExternal] = external;
  if (localExternal === undefined || pod.length === 0) return undefined;
  const unknown = unknownSource(parseCidr(localExternal));
  const local = pod.map((cidr) => formatCidr(parseCidr(cidr)));
  const remote = cidrMappings(configuration, "pod").map(({ remapped }) => formatCidr(remapped));
  const [firstExternal] = cidrMappings(configuration, "external");
  const notFromPods = fullMasquerade ? [] : local.map((cidr) => source(cidr, "neq"));

  const keeps = (from: string, to: string, ruleName: string): NatRule => ({
    name: ruleName,
    match: [destination(to), source(from)],
    natType: "snat",
    to: from,
  });
  const becomesUnknown = (to: string, ruleName: string): NatRule => ({
    name: ruleName,
    match: [destination(to), ...notFromPods],
    natType: "snat",
    to: unknown,
  });
  const pods = fullMasquerade ? [] : local;
  const towardsPods = [
    ...pods.flatMap((from) =>
      remote.map((to) => keeps(from, to, `podcidr-${name}-${cidrInName(from)}-${cidrInName(to)}`)),
    ),
    ...remote.map((to) => becomesUnknown(to, `service-nodeport-${name}-${cidrInName(to)}`)),
  ];
  const externalCidr = firstExternal && formatCidr(firstExternal.remapped);
  const towardsOthers =
    externalCidr === undefined
      ? []
      : [
          ...pods.map((from) => keeps(from, externalCidr, `podcidr-${name}-ext-${cidrInName(from)}`)),
          becomesUnknown(externalCidr, `service-nodeport-${name}-ext`),
        ];
  return firewallConfiguration(
    {
      name: `${name}-masquerade-bypass`,
      namespace,
      audience: { category: "fabric", subcategory: "all-nodes" },
      owner: controlledBy(configuration),
    },
    {
      name: `${name}-masquerade-bypass`,
      chains: [
        {
          name: "pre-postrouting",
          type: "nat",
          policy: "accept",
          hook: "postrouting",
          priority: Priority.beforeSrcNat,
          rules: { natRules: [...towardsPods, ...towardsOthers] },
        },
      ],
    },
  );
}
