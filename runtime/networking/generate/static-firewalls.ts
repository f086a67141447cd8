import { type FirewallConfiguration, Label, LabelValue, Name } from "../../api";
import type { Chain } from "../firewall/model";
import { arrivesOn, firewallConfiguration, type Generated, leavesOn, Priority } from "./configurations";

/** Configurations that depend on options of the installation alone (networking reference 14.7). */

const SKIP_WEBHOOK = { [Label.webhookSkip]: LabelValue.true };

/**
 * In every gateway: TCP connections through the tunnel agree on segments that fit. What comes out of it is clamped, too, as the peer may not do it.
 *
 * @param segmentSize bytes; 0 takes the path's
 */
export function segmentSizeClamp(
  segmentSize: number,
  liqoNamespace: string,
): Generated<FirewallConfiguration> {
  const generated = firewallConfiguration(
    {
      name: "gw-mss-clamping",
      namespace: liqoNamespace,
      audience: { category: "gateway", subcategory: "all-gateways" },
    },
    {
      name: "mss-clamping",
      chains: [
        {
          name: "mss-clamping",
          type: "filter",
          policy: "accept",
          hook: "forward",
          priority: Priority.filter,
          rules: {
            filterRules: [
              { name: "mss-clamping-out", where: leavesOn(Name.tunnelInterface) },
              { name: "mss-clamping-in", where: arrivesOn(Name.tunnelInterface) },
            ].map(({ name, where }) => ({
              name,
              counter: false,
              match: [{ op: "eq", proto: { value: "tcp" } }, where],
              action: "tcpmssclamp",
              value: String(segmentSize),
            })),
          },
        },
      ],
    },
  );
  Object.assign(generated.metadata.labels, SKIP_WEBHOOK);
  return generated;
}

/** In gateways and on nodes: packets of the overlay are not tracked, which saves the kernel work where many connections pass. */
export function overlayWithoutTracking(
  genevePort: number,
  liqoNamespace: string,
): Generated<FirewallConfiguration>[] {
  return (["gateway", "fabric"] as const).map((category) => {
    const generated = firewallConfiguration(
      {
        name: category === "gateway" ? "gw-notrack" : "fabric-notrack",
        namespace: liqoNamespace,
        audience: { category, subcategory: category === "gateway" ? "all-gateways" : "all-nodes" },
      },
      { name: "liqo-notrack-geneve", chains: (["prerouting", "output"] as const).map(untracked(genevePort)) },
    );
    Object.assign(generated.metadata.labels, SKIP_WEBHOOK);
    return generated;
  });
}

/** Before connection tracking looks at a packet. */
const BEFORE_TRACKING = -300;

const untracked =
  (port: number) =>
  (hook: "prerouting" | "output"): Chain => ({
    name: hook,
    type: "filter",
    policy: "accept",
    hook,
    priority: BEFORE_TRACKING,
    rules: {
      filterRules: (["dst", "src"] as const).map((position) => ({
        name: `notrack-geneve-${position === "dst" ? "dport" : "sport"}`,
        counter: false,
        match: [{ op: "eq", proto: { value: "udp" }, port: { value: String(port), position } }],
        action: "notrack",
      })),
    },
  });
