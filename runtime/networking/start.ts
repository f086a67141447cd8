import { FirewallConfiguration, RouteConfiguration } from "../api";
import type { RuntimeContext } from "../kube";
import { runApiServerAddressController } from "./addresses/api-server-address-controller";
import { runIPMappingController } from "./addresses/ip-mapping-controller";
import { runPodAddressController } from "./addresses/pod-address-controller";
import { runUnknownSourceController } from "./addresses/unknown-source-controller";
import { GatewayCaches, NetworkingCaches } from "./caches";
import { runConfigurationController } from "./configuration/configuration-controller";
import { runConfigurationRulesController } from "./configuration/configuration-rules-controller";
import { runGatewayFabricController } from "./fabric/gateway-fabric-controller";
import { runInternalFabricController } from "./fabric/internal-fabric-controller";
import { runNodeController } from "./fabric/node-controller";
import { runNodeRoutesController } from "./fabric/node-routes-controller";
import { OverlayRegistry } from "./overlay";
import { runPodRoutesController } from "./fabric/pod-routes-controller";
import { runStaticFirewallsController } from "./fabric/static-firewalls-controller";
import { runConnectionController } from "./gateway/connection-controller";
import { runGatewayController } from "./gateway/gateway-controller";
import { runWireGuardController } from "./gateway/wireguard-controller";
import { type NetworkingContext, type NetworkingOptions, ObjectWriter } from "./networking-context";

/**
 * Starts the controllers that decide what the network between clusters looks like; agents on nodes and in gateways carry it out. Returns once they know
 * everything that was given before.
 */
export async function startNetworking(runtime: RuntimeContext, options: NetworkingOptions): Promise<void> {
  const { client, informers } = runtime;
  const caches = new NetworkingCaches(informers);
  const networking: NetworkingContext = {
    runtime,
    options,
    caches,
    firewalls: new ObjectWriter(client, FirewallConfiguration, caches.firewalls, options.global),
    routes: new ObjectWriter(client, RouteConfiguration, caches.routes, options.global),
  };
  await caches.whenSynced();
  const overlay = new OverlayRegistry(caches);
  const gateways = new GatewayCaches(informers);

  runConfigurationController(networking);
  runConfigurationRulesController(networking);

  runNodeController(networking, overlay);
  runGatewayFabricController(networking, overlay);
  runInternalFabricController(networking);
  runNodeRoutesController(networking);
  runPodRoutesController(networking);
  runStaticFirewallsController(networking);

  runGatewayController(networking, gateways);
  runWireGuardController(networking, gateways);
  runConnectionController(runtime, gateways.deployments);

  runIPMappingController(networking);
  if (!options.offloadingEnabled) return;
  runUnknownSourceController(networking);
  runPodAddressController(networking);
  runApiServerAddressController(networking);
}
