import { Finalizer, IP, Label, LabelValue } from "../../api";
import { type Controller, isDeleting, ownedBy, runController, watches, withoutFinalizer } from "../../kube";
import { ipMappingInGateways, ipMappingOnNodes } from "../generate/ip-mapping";
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
