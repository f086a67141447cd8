import { type FirewallConfiguration, Label, LabelValue, Name } from "../../api";
import { type Controller, runController, watches } from "../../kube";
import type { Chain, Match } from "../firewall/firewall-table";
import { arrivesOn, firewallConfiguration, type Generated, leavesOn, OVERLAY, Priority } from "../generated";
import type { NetworkingContext } from "../networking-context";

const KEY = "static-firewalls";

/** Keeps the firewalls that depend on the options alone: those that they ask for, and no others (networking reference 14.7). */
export function runStaticFirewallsController({
  runtime,
  caches,
  options,
  firewalls,
}: NetworkingContext): Controller {
  const { liqoNamespace, genevePort } = options;
  const clamp = segmentSizeClamp(options.segmentSizeClamp ?? 0, liqoNamespace);
  const ofGateways = gatewayWithoutTracking(liqoNamespace);
  const ofNodes = nodesWithoutTracking(genevePort, liqoNamespace);
  const all = [clamp, ofGateways, ofNodes];
  const names = new Set(all.map(({ metadata }) => metadata.name));
  const desired = [
    ...(options.segmentSizeClamp === undefined ? [] : [clamp]),
    ofGateways,
    ...(options.overlayWithoutTracking ? [ofNodes] : []),
  ];
  return runController(
    {
      name: KEY,
      sources: [
        {
          start: (enqueue) => {
            enqueue(KEY);
            return () => undefined;
          },
          whenSynced: () => caches.firewalls.whenSynced(),
        },
        watches(caches.firewalls, {
          keys: ({ metadata }) =>
            metadata.namespace === liqoNamespace && names.has(metadata.name) ? [KEY] : [],
        }),
      ],
      reconcile: () =>
        firewalls.ensureOnly(
          desired,
          all.map(({ metadata }) => metadata),
        ),
    },
    runtime,
  );
}

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

/**
 * In every gateway: only what comes from nodes and from the peer is tracked, as only that may be translated. What carries it, the overlay's
 * and WireGuard's packets, is not, which saves the kernel a look-up for each.
 */
export function gatewayWithoutTracking(liqoNamespace: string): Generated<FirewallConfiguration> {
  const outer = (position: "in" | "out"): Match[] =>
    [OVERLAY, Name.tunnelInterface].map((value) => ({ op: "neq", dev: { value, position } }));
  return untracked("gateway", liqoNamespace, (hook) => [
    { name: "notrack-outer", match: outer(hook === "prerouting" ? "in" : "out") },
  ]);
}

/** On nodes: packets of the overlay are not tracked. */
export function nodesWithoutTracking(
  genevePort: number,
  liqoNamespace: string,
): Generated<FirewallConfiguration> {
  return untracked("fabric", liqoNamespace, () =>
    (["dst", "src"] as const).map((position) => ({
      name: `notrack-geneve-${position === "dst" ? "dport" : "sport"}`,
      match: [{ op: "eq", proto: { value: "udp" }, port: { value: String(genevePort), position } }],
    })),
  );
}

/** Before connection tracking looks at a packet. */
const BEFORE_TRACKING = -300;

type UntrackedHook = "prerouting" | "output";

function untracked(
  category: "gateway" | "fabric",
  liqoNamespace: string,
  rules: (hook: UntrackedHook) => { name: string; match: Match[] }[],
): Generated<FirewallConfiguration> {
  const chain = (hook: UntrackedHook): Chain => ({
    name: hook,
    type: "filter",
    policy: "accept",
    hook,
    priority: BEFORE_TRACKING,
    rules: {
      filterRules: rules(hook).map((rule) => ({ ...rule, counter: false, action: "notrack" as const })),
    },
  });
  const generated = firewallConfiguration(
    {
      name: category === "gateway" ? "gw-notrack" : "fabric-notrack",
      namespace: liqoNamespace,
      audience: { category, subcategory: category === "gateway" ? "all-gateways" : "all-nodes" },
    },
    { name: "liqo-notrack-geneve", chains: [chain("prerouting"), chain("output")] },
  );
  Object.assign(generated.metadata.labels, SKIP_WEBHOOK);
  return generated;
}
