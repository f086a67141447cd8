import { type Controller, runController, watches } from "../../kube";
import { overlayWithoutTracking, segmentSizeClamp } from "../generate/static-firewalls";
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
  const untracked = overlayWithoutTracking(genevePort, liqoNamespace);
  const all = [clamp, ...untracked];
  const names = new Set(all.map(({ metadata }) => metadata.name));
  const desired = [
    ...(options.segmentSizeClamp === undefined ? [] : [clamp]),
    ...(options.overlayWithoutTracking ? untracked : []),
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
