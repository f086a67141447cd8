import { FirewallConfiguration, RouteConfiguration } from "../api";
import { UsageError } from "../component/command-line";
import { defineComponent } from "../component/component";
import type { RuntimeContext } from "../kube";
import type { AgentContext } from "../networking/agent/agent";
import { categorySelector, isFirewallOfGateway, isRouteOfGateway } from "../networking/labels";
import { monitorLinksAndRoutes, monitorTables } from "../networking/kernel/monitor";
import { RefusedNamespaces } from "../networking/agent/applied-condition";
import { OverlayCaches } from "../networking/agent/overlay-links";
import { runRoutesPass } from "../networking/agent/routes-pass";
import { runTablesPass } from "../networking/agent/tables-pass";
import { forwardingFault, kernelFault } from "../networking/kernel/host-settings";
import { Kernel } from "../networking/kernel/kernel";
import { TUNNEL_PORT, tunnelInterface } from "../networking/tunnel";
import { ActiveReplica } from "./active-replica";
import { filterFault, TunnelConnection } from "./connection";
import { type GatewayFlags, gatewayFlags, gatewayOf } from "./gateway";
import { registerDropMetrics, registerTunnelMetrics } from "./metrics";
import { gatewayOverlay } from "./overlay";
import { PacketFilter } from "./packet-filter";
import { ServerEndpoint } from "./server-endpoint";
import { Tunnel } from "./tunnel";
import { TunnelInterface } from "./tunnel-interface";

/** The tunnel to one peer, in a pod of its own. */
export const gateway = defineComponent({ name: "gateway", flags: gatewayFlags, start: startGateway });

/**
 * Starts a gateway: the tunnel to one peer, and the routes, the firewall and the overlay that bring packets to it and from it (networking
 * reference 10).
 */
async function startGateway(runtime: RuntimeContext, flags: GatewayFlags): Promise<void> {
  const fault = flags.disableKernelVersionCheck ? undefined : kernelFault(flags.minimumKernelVersion);
  if (fault !== undefined) throw new Error(fault);
  runtime.health.addReadiness("forwarding", () => forwardingFault());

  const gateway = gatewayOf(flags);
  const listenPort = portOf("listen-ports", flags.listenPorts);
  const endpointPort = portOf("endpoint-ports", flags.endpointPorts);
  if (gateway.end === "client" && flags.endpointAddress.length === 0) {
    throw new UsageError("--endpoint-address is missing; give the addresses of the peer's server");
  }
  const kernel = new Kernel(runtime.metrics);
  const later: { onChange: () => void } = { onChange: () => undefined };
  const replica = new ActiveReplica(runtime, gateway, flags, () => later.onChange());
  const agent: AgentContext = {
    runtime,
    kernel,
    host: gateway.name,
    reports: replica.isActive,
    reported: new Map(),
    refused: new RefusedNamespaces(() => runtime.clock.monotonic()),
    resyncMs: flags.resyncInterval,
  };

  const audience = { peer: gateway.peer, node: flags.nodeName };
  const filter = new PacketFilter(runtime.informers, gateway, {
    pingPort: flags.pingPort,
    overlayPort: flags.genevePort,
  });
  const tables = runTablesPass(agent, {
    firewalls: runtime.informers.informer(FirewallConfiguration, {
      labelSelector: categorySelector.firewall("gateway"),
    }),
    isOurs: (object) => isFirewallOfGateway(object, audience),
    alone: true,
    own: filter,
  });
  const { namespace } = gateway;
  const overlay = new OverlayCaches(runtime.informers, { tunnels: { namespace }, fabrics: { namespace } });
  const overlayOptions = { node: flags.nodeName, port: flags.genevePort, arp: !flags.disableArp };
  const link = new TunnelInterface(
    kernel,
    {
      name: tunnelInterface(),
      mtu: flags.mtu,
      address: `${gateway.address}/${gateway.addressLength}`,
    },
    flags.implementation,
    runtime.clock,
  );
  const endpoint =
    gateway.end === "server"
      ? undefined
      : new ServerEndpoint({
          addresses: flags.endpointAddress,
          port: endpointPort,
          checkIntervalMs: flags.dnsCheckInterval,
          clock: runtime.clock,
          log: runtime.log,
          signal: runtime.signal,
          onChange: () => later.onChange(),
        });
  const connection = new TunnelConnection(runtime, gateway, link, flags);
  const tunnel = new Tunnel(agent, {
    gateway,
    link,
    keysFolder: flags.keysDir,
    listenPort,
    ...(endpoint !== undefined && { endpoint }),
    isActive: replica.isActive,
    after: tables.first,
    onConfigured: () => connection.configured(),
  });
  const routes = runRoutesPass(agent, {
    routes: runtime.informers.informer(RouteConfiguration, {
      labelSelector: categorySelector.route("gateway"),
    }),
    isOurs: (object) => isRouteOfGateway(object, audience),
    overlay: () => gatewayOverlay(overlay, gateway, overlayOptions),
    // The status of a node has the addresses that its packets come from.
    overlaySources: (key) => overlay.sources(key, () => true),
    ownAddressLast: true,
    after: Promise.all([tables.first, tunnel.first]).then(() => undefined),
  });
  later.onChange = () => {
    tunnel.again();
    tables.again();
    routes.again();
    if (!replica.isActive()) connection.standBy();
  };
  connection.watch(tunnel, endpoint, filter);
  runtime.health.addReadiness("tunnel", () =>
    tunnel.missing?.reason === "TunnelNotMade" ? tunnel.missing.message : undefined,
  );
  runtime.health.addReadiness("packet-filter", () => filterFault(filter)?.message);
  registerDropMetrics(runtime.metrics, kernel, gateway.peer);
  registerTunnelMetrics(runtime.metrics, tunnel, connection.pings, {
    peer: gateway.peer,
    mtu: flags.mtu,
    clock: runtime.clock,
  });
  if (flags.enableRouteMonitor) {
    monitorLinksAndRoutes(runtime, () => {
      routes.again();
      tunnel.again();
    });
  }
  if (flags.enableNftMonitor) monitorTables(runtime, () => tables.again());
  await endpoint?.start();
}

function portOf(flag: string, given: readonly string[]): number {
  const [text = String(TUNNEL_PORT)] = given;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new UsageError(`--${flag} is "${text}"; write a port from 1 to 65535`);
}
