import { Label, LabelValue, type Pod } from "../../api";
import { coalesced, type Controller, isDeleting, runController, watches } from "../../kube";
import { gatewayMasqueradeBypass, gatewayMasqueradeBypassName, podRoutes } from "./pod-routes";
import type { NetworkingContext } from "../networking-context";
import { ownedByNode } from "./node-routes-controller";

/** Changes of pods that come within this time are written together. */
const TOGETHER_MS = 100;

/**
 * Writes for each node the way to its pods in gateways, and where that is asked for, the exception from the CNI's masquerading for the gateways on
 * it (networking reference 14.5, 14.7).
 */
export function runPodRoutesController(networking: NetworkingContext): Controller {
  const { runtime, caches, options, routes, firewalls } = networking;
  const { liqoNamespace, genevePort } = options;
  return runController(
    {
      name: "pod-routes",
      sources: [
        watches(caches.internalNodes),
        coalesced(
          watches(caches.pods, { keys: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) }),
          runtime.clock,
          TOGETHER_MS,
        ),
        watches(caches.routes, { keys: ownedByNode }),
        watches(caches.firewalls, { keys: ownedByNode }),
      ],
      objectOf: (name) => caches.internalNodes.get(name),
      reconcile: async (name) => {
        const node = caches.internalNodes.get(name);
        if (node === undefined || isDeleting(node)) return;
        const pods = caches.podsOn(name);
        await routes.ensure(podRoutes(node, pods, liqoNamespace));
        const bypass = options.gatewayMasqueradeBypass
          ? gatewayMasqueradeBypass(node, pods.filter(isActiveGateway), genevePort, liqoNamespace)
          : undefined;
        await firewalls.ensureOnly(bypass === undefined ? [] : [bypass], [
          { name: gatewayMasqueradeBypassName(name), namespace: liqoNamespace },
        ]);
      },
    },
    runtime,
  );
}

function isActiveGateway(pod: Pod): boolean {
  const { labels } = pod.metadata;
  return (
    !isDeleting(pod) &&
    labels?.[Label.networkingComponent] === LabelValue.gateway &&
    labels[Label.gatewayActive] === LabelValue.true
  );
}
