import { OVERLAY_INTERFACE_PREFIX } from "../overlay";
import type { Kernel } from "../kernel/kernel";
import { isOverlay, type OverlayKind } from "./overlay-links";

/** Never given to a tunnel. */
const PROBE_ID = 2 ** 24 - 1;
const PROBE = `${OVERLAY_INTERFACE_PREFIX}probe`;

/**
 * What this kernel has for the overlay: geneve, or else vxlan. Found by trying, unless an agent has found it since the kernel was started.
 *
 * @param said by an agent before
 */
export async function probeOverlay(kernel: Kernel, said: OverlayKind | undefined): Promise<OverlayKind> {
  const isInUse = (await kernel.links()).some((link) => isOverlay(link) && link.name !== PROBE);
  if (said !== undefined && isInUse) return said;
  // 192.0.2.0/24 is for documentation: nothing is ever sent there.
  const refused = await kernel.applyBatch([
    `link add name ${PROBE} type geneve id ${PROBE_ID} remote 192.0.2.1`,
  ]);
  if (refused.some(({ message }) => /Unknown device type|not supported/i.test(message))) return "vxlan";
  await kernel.applyBatch([`link del dev ${PROBE}`]);
  return "geneve";
}
