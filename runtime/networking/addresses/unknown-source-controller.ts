import { type Configuration, IP } from "../../api";
import {
  controlledBy,
  type Controller,
  ownedBy,
  runController,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../../kube";
import { cidrMappings, isConfigured, unknownSource } from "../address-mapping";
import { objectName } from "../labels";
import type { NetworkingContext } from "../networking-context";
import { wantedIP, type WantedIP } from "../generated";

/**
 * Gives the unknown senders of each peer an address that other peers can answer: through this cluster, one leaf reaches another
 * (networking reference 8, 15.4).
 */
export function runUnknownSourceController(networking: NetworkingContext): Controller {
  const { runtime, caches } = networking;
  return runController(
    {
      name: "unknown-source",
      sources: [watches(caches.configurations), watches(caches.ips, { keys: ownedBy("Configuration") })],
      objectOf: (key) => caches.configurations.getByKey(key),
      reconcile: (key) => reconcile(networking, key),
    },
    runtime,
  );
}

async function reconcile({ runtime, caches, options }: NetworkingContext, key: string): Promise<void> {
  const configuration = caches.configurations.getByKey(key);
  if (configuration === undefined || configuration.metadata.deletionTimestamp) return;
  const desired = unknownSourceIP(configuration);
  if (desired === undefined) return;
  const observed = caches.ips.get(desired.metadata.name, desired.metadata.namespace);
  if (observed !== undefined && observed.spec.ip !== desired.spec.ip) {
    // The address is immutable; when this one is gone, another one comes.
    if (observed.metadata.deletionTimestamp) return;
    await runtime.client.delete(IP, observed.metadata, { uid: observed.metadata.uid });
    return;
  }
  await writeIfChanged(runtime.client, IP, withGlobalMetadata(desired, options.global), observed);
}

/** The first address of the peer's external network, as this cluster reaches it; undefined while that is not known. */
function unknownSourceIP(configuration: Configuration): WantedIP | undefined {
  const [external] = isConfigured(configuration) ? cidrMappings(configuration, "external") : [];
  if (external === undefined) return undefined;
  const { name, namespace = "" } = configuration.metadata;
  return wantedIP(
    {
      name: objectName(`${name}-unknown-source`),
      namespace,
      ownerReferences: [controlledBy(configuration)],
    },
    { ip: unknownSource(external.remapped) },
  );
}
