import { containsAddress, parseAddress, parseCidr } from "../../ipam/cidr";
import type { ObservedRoute, ObservedRule } from "../kernel/ip-listing";
import type { RouteTable } from "./validation";

/** Number of the kernel's table of a host's own addresses. */
const LOCAL_TABLE = "255";
/** Just before the main table, and after the rules of ours, which the kernel puts before whatever comes after its first. */
const LAST_PRIORITY = 32_765;

/**
 * The lines for `ip -4 -force -batch -` by which a gateway asks after its own address last. A pod of a peer may have the very address: what goes to that pod
 * would end at the gateway, and what comes from it would be dropped, as nobody but a host itself may send with its address.
 *
 * What the host asks after first is what the kernel begins with, but for that address, so that everything else is as it always is.
 *
 * @param address the gateway's own
 */
export function localLookupPlan(address: string, rules: readonly ObservedRule[]): string[] {
  const own = rules.filter(({ table }) => table === LOCAL_TABLE);
  // An inversion is the only thing that rules of ours here have and others do not.
  const first = own.filter(({ priority, dst, foreign }) => priority === 0 && foreign && dst !== undefined);
  const usual = own.filter(({ priority, dst, foreign }) => priority === 0 && !foreign && dst === undefined);
  const wanted = `${address}/32`;
  return [
    ...(own.some(({ priority }) => priority === LAST_PRIORITY)
      ? []
      : [`rule add priority ${LAST_PRIORITY} from all lookup local`]),
    ...(first.some(({ dst }) => dst === wanted)
      ? []
      : [`rule add priority 0 not from all to ${wanted} lookup local`]),
    ...first
      .filter(({ dst }) => dst !== wanted)
      .map(({ dst }) => `rule del priority 0 not from all to ${dst} lookup local`),
    ...usual.map(() => "rule del priority 0 from all lookup local"),
  ];
}

/**
 * The lines by which a gateway does not take for itself what goes to a pod of its peer that has the gateway's own address in the overlay. Nobody but nodes
 * asks for that address, and those know the hardware address that belongs to it.
 *
 * @param links interfaces of the overlay, each with the gateway's address
 * @param tables what RouteConfigurations ask for
 */
export function overlayLookupPlan(
  links: readonly { name: string; address: string }[],
  tables: readonly RouteTable[],
  routes: readonly ObservedRoute[],
): string[] {
  const names = new Set(links.map(({ name }) => name));
  const ofPeer = tables
    .flatMap(({ rules }) => rules)
    .filter(({ iif, dst }) => iif !== undefined && names.has(iif) && dst !== undefined)
    .map(({ dst = "" }) => parseCidr(dst));
  return links
    .filter(({ address }) => ofPeer.some((network) => containsAddress(network, parseAddress(address))))
    .filter(({ name, address }) =>
      routes.some(({ table, dst, dev }) => table === LOCAL_TABLE && dst === `${address}/32` && dev === name),
    )
    .map(({ name, address }) => `route del local ${address} dev ${name} table local`);
}

/**
 * A table as a gateway has it. Its own address is behind no node. And the ways to the nodes' addresses in the overlay are for what it looks up itself, the next hops of
 * its routes: a pod of the peer may have such an address, too.
 *
 * @param own address of the gateway's pod
 */
export function tableInGateway(own: string, table: RouteTable): RouteTable {
  const rules = table.rules.map((rule) => {
    const routes = rule.routes.filter(({ dst }) => dst !== `${own}/32`);
    const holdsNextHop =
      rule.iif === undefined && routes.some(({ dst, scope }) => scope === "link" && dst === rule.dst);
    return { ...rule, routes, ...(holdsNextHop && { iif: "lo" }) };
  });
  return { ...table, rules };
}
