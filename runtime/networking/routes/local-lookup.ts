import type { ObservedRule } from "./observed";

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
