/** Options of the networking controllers in the tests of this folder. */
import type { NetworkingOptions } from "../../../runtime/networking/networking-context";

export const options: NetworkingOptions = {
  liqoNamespace: "liqo",
  fullMasquerade: false,
  fabricRulePriority: 0,
  gatewayMasqueradeBypass: false,
  genevePort: 6091,
  segmentSizeClamp: 0,
  overlayWithoutTracking: false,
  apiServerBy: "service",
  exportProxy: true,
  gatewayClusterRole: "liqo-gateway",
  offloadingEnabled: true,
  global: { labels: {}, annotations: {} },
};
