import { Finalizer, type FirewallConfiguration, IP, Label, LabelValue, Name } from "../../api";
import {
  controlledBy,
  type Controller,
  isDeleting,
  ownedBy,
  runController,
  watches,
  withoutFinalizer,
} from "../../kube";
import type { Chain, Match } from "../firewall/firewall-table";
import {
  arrivesOn,
  destination,
  firewallConfiguration,
  type Generated,
  leavesOn,
  OVERLAY,
  Priority,
  source,
} from "../generated";
import type { NetworkingContext } from "../networking-context";

/**
 * Writes the translation of each IP's address (networking reference 14.3, 14.4).
 *
 * The translations belong to their IP and go with it. Upstream holds it by a finalizer instead, which is only ever taken off here.
 */
export function runIPMappingController(networking: NetworkingContext): Controller {
  const { runtime, caches } = networking;
  return runController(
    {
      name: "ip-mapping",
      sources: [watches(caches.ips), watches(caches.firewalls, { keys: ownedBy("IP") })],
      objectOf: (key) => caches.ips.getByKey(key),
      reconcile: (key) => reconcile(networking, key),
    },
    runtime,
  );
}

async function reconcile({ runtime, caches, firewalls }: NetworkingContext, key: string): Promise<void> {
  const ip = caches.ips.getByKey(key);
  if (ip === undefined) return;
  if (isDeleting(ip)) {
    await withoutFinalizer(runtime.client, IP, ip, Finalizer.ipMapping);
    return;
  }
  const unreachable = ip.metadata.labels?.[Label.hostUnreachable] === LabelValue.true;
  const desired = unreachable ? [] : [ipMappingInGateways(ip), ipMappingOnNodes(ip)];
  await firewalls.ensureOnly(
    desired.filter((mapping) => mapping !== undefined),
    caches.ownFirewalls(ip).map(({ metadata }) => metadata),
  );
}

/**
 * In every gateway: an address of the external network leads to the one that it stands for, and what that one sends seems to come from it
 * (networking reference 14.3). Undefined while the IP has no address.
 *
 * Only on the tunnel's side: what a peer sends may come from the same address of its own.
 */
export function ipMappingInGateways(ip: IP): Generated<FirewallConfiguration> | undefined {
  const external = ip.status?.ip;
  if (!external) return undefined;
  const { name, namespace = "" } = ip.metadata;
  return firewallConfiguration(
    {
      name: `${name}-remap-ipmapping-gw`,
      namespace,
      audience: { category: "gateway", subcategory: "ip-mapping" },
      owner: controlledBy(ip),
    },
    {
      // The table's name has the namespace, since the kernel's tables have none.
      name: `${name}-remap-ipmapping-gw-${namespace}`,
      chains: [
        leadsTo(ip, external, [arrivesOn(Name.tunnelInterface)]),
        {
          ...natChain("postrouting", Priority.srcNat),
          rules: {
            natRules: [
              {
                name,
                match: [source(ip.spec.ip), leavesOn(Name.tunnelInterface)],
                natType: "snat",
                to: external,
              },
            ],
          },
        },
      ],
    },
  );
}

/**
 * On every node, for an IP with `masquerade`: the same translation for senders of this cluster, and what gateways send to the address leaves with the
 * node's own (networking reference 14.4). Undefined where it is not wanted.
 */
export function ipMappingOnNodes(ip: IP): Generated<FirewallConfiguration> | undefined {
  const external = ip.status?.ip;
  if (!external || ip.spec.masquerade !== true) return undefined;
  const { name, namespace = "" } = ip.metadata;
  return firewallConfiguration(
    {
      name: `${name}-remap-ipmapping-fabric`,
      namespace,
      audience: { category: "fabric", subcategory: "ip-mapping" },
      owner: controlledBy(ip),
    },
    {
      name: `${name}-remap-ipmapping-fabric-${namespace}`,
      chains: [
        leadsTo(ip, external, []),
        {
          ...natChain("postrouting", Priority.beforeSrcNat),
          rules: {
            natRules: [{ name, match: [destination(ip.spec.ip), arrivesOn(OVERLAY)], natType: "masquerade" }],
          },
        },
      ],
    },
  );
}

function leadsTo(ip: IP, external: string, where: Match[]): Chain {
  return {
    ...natChain("prerouting", Priority.dstNat),
    rules: {
      natRules: [
        {
          name: ip.metadata.name,
          match: [destination(external), ...where],
          natType: "dnat",
          to: ip.spec.ip,
        },
      ],
    },
  };
}

function natChain(hook: "prerouting" | "postrouting", priority: number): Omit<Chain, "rules"> {
  return { name: hook, type: "nat", policy: "accept", hook, priority };
}
