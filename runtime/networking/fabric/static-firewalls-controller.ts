import { type Controller, runController, watches } from "../../kube";
import { gatewayWithoutTracking, nodesWithoutTracking, segmentSizeClamp } from "../generate/static-firewalls";
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
