import { cidrInName, type Configuration, type FirewallConfiguration, Name } from "../../api";
import { controlledBy } from "../../kube";
import { formatCidr } from "../../ipam/cidr";
import { cidrMappings, isRemapped } from "../address-mapping";
import {
  arrivesOn,
  destination,
  firewallConfiguration,
  type Generated,
  leavesOn,
  OVERLAY,
  Priority,
  source,
} from "./configurations";
import { peerOf } from "./peer";

/**
 * In the gateways to a peer: the networks of the peer that have another place here are written back on the way out, and to
 * their place here on the way in. Tables without rules where nothing was remapped (networking reference 14.1).
 *
 * What comes from the nodes and goes to them is told by its interface, not by the name of the pod's own one, which may differ from pod to pod.
 */
export function remapFirewalls(configuration: Configuration): Generated<FirewallConfiguration>[] {
  return (["pod", "external"] as const).map((type) => {
    const mappings = cidrMappings(configuration, type).filter(isRemapped);
    const { name, namespace = "" } = configuration.metadata;
    return firewallConfiguration(
      {
        name: `${name}-remap-${type}cidr`,
        namespace,
        audience: { category: "gateway", unique: peerOf(configuration) },
        owner: controlledBy(configuration),
      },
      {
        name: `remap-${type}cidr`,
        chains: [
          {
            name: "outgoing",
            type: "nat",
            policy: "accept",
            hook: "prerouting",
            priority: Priority.dstNat,
            rules: {
              natRules: mappings.map(({ original, remapped }) => ({
                name: `outgoing-${cidrInName(formatCidr(remapped))}`,
                match: [destination(formatCidr(remapped)), arrivesOn(OVERLAY)],
                natType: "dnat",
                to: formatCidr(original),
              })),
            },
          },
          {
            name: "incoming",
            type: "nat",
            policy: "accept",
            hook: "postrouting",
            priority: Priority.srcNat,
            rules: {
              natRules: mappings.map(({ original, remapped }) => ({
                name: `incoming-${cidrInName(formatCidr(original))}`,
                match: [leavesOn(OVERLAY), source(formatCidr(original)), arrivesOn(Name.tunnelInterface)],
                natType: "snat",
                to: formatCidr(remapped),
              })),
            },
          },
        ],
      },
    );
  });
}
