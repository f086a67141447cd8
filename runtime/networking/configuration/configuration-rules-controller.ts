import type { Configuration, FirewallConfiguration, RouteConfiguration } from "../../api";
import { type Controller, keyOf, ownedBy, runController, Terminal, watches } from "../../kube";
import { isConfigured, isInConflict } from "../address-mapping";
import { peersOf } from "../../plan/peer-objects";
import { masqueradeBypass, remapFirewalls, tunnelRoutes } from "./configuration-rules";
import type { Generated } from "../generated";
import { objectName, peerOf } from "../labels";
import type { NetworkingContext } from "../networking-context";
import type { TunnelEnd } from "../tunnel";

/**
 * Writes what gateways and nodes need for the networks of a peer (networking reference 14.1, 14.2). While a Configuration has no answer to
 * its present spec, what was written for the one before stays; where a range holds what is this cluster's own, all of it goes.
 */
export function runConfigurationRulesController(networking: NetworkingContext): Controller {
  const { runtime, caches } = networking;
  const { configurations, internalNodes, servers, clients } = caches;
  const ofPeer = (object: Parameters<typeof peersOf>[0]) =>
    peersOf(object).flatMap((peer) => caches.ofPeer(configurations, peer).map(keyOf));
  const presence = ({ type }: { type: string }) => type !== "updated";
  return runController(
    {
      name: "configuration-rules",
      sources: [
        watches(configurations),
        // Their interfaces have names that do not change.
        watches(internalNodes, { keys: () => configurations.list().map(keyOf), when: presence }),
        watches(servers, { keys: ofPeer, when: presence }),
        watches(clients, { keys: ofPeer, when: presence }),
        watches(caches.firewalls, { keys: ownedBy("Configuration") }),
        watches(caches.routes, { keys: ownedBy("Configuration") }),
      ],
      objectOf: (key) => configurations.getByKey(key),
      reconcile: (key) => reconcile(networking, key),
    },
    runtime,
  );
}

async function reconcile(networking: NetworkingContext, key: string): Promise<void> {
  const { caches, options, firewalls, routes } = networking;
  const configuration = caches.configurations.getByKey(key);
  if (configuration === undefined || configuration.metadata.deletionTimestamp) return;
  const { name, namespace } = configuration.metadata;
  const named = (suffix: string) => ({ name: objectName(name + suffix), namespace });
  if (isInConflict(configuration)) {
    await firewalls.ensureOnly(
      [],
      ["-masquerade-bypass", "-remap-podcidr", "-remap-externalcidr"].map(named),
    );
    await routes.ensureOnly([], [named("-gw-ext")]);
    return;
  }
  if (!isConfigured(configuration)) return;

  const bypass = masqueradeBypass(configuration, options.fullMasquerade);
  await firewalls.ensureOnly(
    [...remapFirewalls(configuration), ...present<FirewallConfiguration>(bypass)],
    [named("-masquerade-bypass")],
  );
  const end = tunnelEnd(networking, configuration);
  const tunnel = end && tunnelRoutes(configuration, caches.internalNodes.list(), end);
  await routes.ensureOnly(present<RouteConfiguration>(tunnel), [named("-gw-ext")]);
}

/** Which end of the tunnel to the peer is here; undefined while there is none. */
function tunnelEnd({ caches }: NetworkingContext, configuration: Configuration): TunnelEnd | undefined {
  const peer = peerOf(configuration);
  const [server] = caches.ofPeer(caches.servers, peer);
  const [client] = caches.ofPeer(caches.clients, peer);
  if (server !== undefined && client !== undefined) {
    throw new Terminal(
      "GatewayConflict",
      `GatewayServer ${keyOf(server)} and GatewayClient ${keyOf(client)} are both for ${peer}; delete one of the two`,
    );
  }
  if (server !== undefined) return "server";
  return client === undefined ? undefined : "client";
}

function present<T extends FirewallConfiguration | RouteConfiguration>(
  generated: Generated<T> | undefined,
): Generated<T>[] {
  return generated === undefined ? [] : [generated];
}
