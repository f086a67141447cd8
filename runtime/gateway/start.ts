import { FirewallConfiguration, RouteConfiguration } from "../api";
import { UsageError } from "../component/command-line";
import type { RuntimeContext } from "../kube";
import type { AgentContext } from "../networking/agent/agent";
import { categorySelector, isFirewallOfGateway, isRouteOfGateway } from "../networking/labels";
import { every } from "../networking/agent/pass";
import { monitorLinksAndRoutes, monitorTables } from "../networking/kernel/monitor";
import { RefusedNamespaces } from "../networking/agent/applied-condition";
import { runRoutesPass } from "../networking/agent/routes-pass";
import { runTablesPass } from "../networking/agent/tables-pass";
import { forwardingFault, kernelFault } from "../networking/kernel/host-settings";
import { Kernel } from "../networking/kernel/kernel";
import { TUNNEL_PORT, tunnelInterface } from "../networking/tunnel";
import { Activity } from "./active-replica";
import { ConnectionObject } from "./connection";
import { type Gateway, type GatewayFlags, gatewayObject, gatewayOf } from "./gateway";
import { registerDropMetrics, registerTunnelMetrics } from "./metrics";
import { GatewayOverlay } from "./overlay";
import { PacketFilter } from "./packet-filter";
import { PingLink } from "./ping-link";
import { ServerEndpoint } from "./server-endpoint";
import { Tunnel } from "./tunnel";
import { TunnelInterface } from "./tunnel-interface";

/** A peer that is silent for this long may have lost its session; WireGuard itself would wait three times as long. */
const SILENT_MS = 5_000;
/** A missing step is told by the Connection after this time; a tunnel that was up before mostly is again before that. */
const WAITING_MS = 10_000;
/** A server that begins no session at an address for this long may be at another, or its name may have got another one. */
const NEXT_ADDRESS_MS = 3_000;

/**
 * Starts a gateway: the tunnel to one peer, and the routes, the firewall and the overlay that bring packets to it and from it (networking
 * reference 10).
 */
export async function startGateway(runtime: RuntimeContext, flags: GatewayFlags): Promise<void> {
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
  const later: { onActivity: () => void } = { onActivity: () => undefined };
  const activity = new Activity(runtime, gateway, flags, () => later.onActivity());
  const agent: AgentContext = {
    runtime,
    kernel,
    host: gateway.name,
    reports: activity.isActive,
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
  const overlay = new GatewayOverlay(runtime.informers, gateway, {
    node: flags.nodeName,
    port: flags.genevePort,
    arp: !flags.disableArp,
  });
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
          onChange: () => later.onActivity(),
        });
  const connection = new TunnelConnection(runtime, gateway, link, flags);
  const tunnel = new Tunnel(agent, {
    gateway,
    link,
    keysFolder: flags.keysDir,
    listenPort,
    ...(endpoint !== undefined && { endpoint }),
    isActive: activity.isActive,
    after: tables.first,
    onConfigured: () => connection.configured(),
  });
  const routes = runRoutesPass(agent, {
    routes: runtime.informers.informer(RouteConfiguration, {
      labelSelector: categorySelector.route("gateway"),
    }),
    isOurs: (object) => isRouteOfGateway(object, audience),
    overlay: () => overlay.desired(),
    overlaySources: (key) => overlay.sources(key),
    ownAddressLast: true,
    after: Promise.all([tables.first, tunnel.first]).then(() => undefined),
  });
  later.onActivity = () => {
    tunnel.again();
    tables.again();
    routes.again();
    if (!activity.isActive()) connection.standBy();
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
    monitorLinksAndRoutes(agent, () => {
      routes.again();
      tunnel.again();
    });
  }
  if (flags.enableNftMonitor) monitorTables(agent, () => tables.again());
  await endpoint?.start();
}

/** Pings through the tunnel once it is configured, tells what comes of it, and helps where nothing does. */
class TunnelConnection {
  readonly pings: PingLink | undefined;
  private readonly object: ConnectionObject | undefined;
  private tunnel: Tunnel | undefined;
  private filter: PacketFilter | undefined;
  private endpoint: ServerEndpoint | undefined;
  private told: string | undefined;
  private missingSince: number | undefined;
  private helping = false;
  private triedAt: number;

  constructor(
    private readonly runtime: RuntimeContext,
    private readonly gateway: Gateway,
    link: TunnelInterface,
    flags: GatewayFlags,
  ) {
    const { clock, log, signal } = runtime;
    this.triedAt = clock.monotonic();
    const global = { labels: flags.globalLabels, annotations: flags.globalAnnotations };
    if (flags.enableConnectionController) {
      const { pingUpdateStatusInterval } = flags;
      this.object = new ConnectionObject(
        runtime,
        gateway,
        global,
        pingUpdateStatusInterval,
        () => link.isNew,
      );
    }
    if (flags.pingEnabled) {
      this.pings = new PingLink({
        peer: gateway.peer,
        port: flags.pingPort,
        intervalMs: flags.pingInterval,
        lossThreshold: flags.pingLossThreshold,
        address: gateway.address,
        peerAddress: gateway.peerAddress,
        clock,
        log,
        signal,
        onObserved: () => this.observed(),
      });
    }
  }

  /** Looks after a tunnel: says which step is missing, as an event on the gateway, when that changes. */
  watch(tunnel: Tunnel, endpoint: ServerEndpoint | undefined, filter: PacketFilter): void {
    this.tunnel = tunnel;
    this.filter = filter;
    this.endpoint = endpoint;
    const { clock, signal } = this.runtime;
    every(clock, 1_000, signal, () => this.tell());
  }

  async configured(): Promise<void> {
    this.pings?.activate();
    await this.object?.report(this.pings?.reachability);
  }

  standBy(): void {
    this.pings?.deactivate();
  }

  private observed(): void {
    if (this.pings === undefined || this.tunnel?.missing !== undefined) return;
    if (forwardingFault() !== undefined) return; // pings pass, and nothing else
    this.object?.report(this.pings.reachability).catch((error: unknown) => {
      this.runtime.log.warn("connection's state not written", { error });
    });
    if (this.gateway.end === "client" && this.pings.silenceMs > SILENT_MS && !this.helping) {
      this.helping = true;
      this.help()
        .catch((error: unknown) => this.runtime.log.warn("tunnel not renewed", { error }))
        .finally(() => (this.helping = false));
    }
  }

  /**
   * The server is silent. Where the session is from before, it may be with a pod that is gone: a new one is begun. Where there is none, the
   * server may be at another of its addresses, or its name may have got another one.
   */
  private async help(): Promise<void> {
    const { clock } = this.runtime;
    const { tunnel, endpoint, pings } = this;
    if (tunnel === undefined || pings === undefined) return;
    const peer = (await tunnel.observe())?.peers[0];
    if (peer === undefined) return;
    const heard = pings.lastHeard;
    if (peer.handshakeAt !== undefined && heard !== undefined && peer.handshakeAt * 1000 <= heard) {
      this.runtime.log.info("the server is silent; beginning a new session");
      await endpoint?.look();
      await tunnel.beginAnew();
      this.triedAt = clock.monotonic();
    } else if (peer.handshakeAt === undefined && clock.monotonic() - this.triedAt > NEXT_ADDRESS_MS) {
      this.triedAt = clock.monotonic();
      const before = endpoint?.current?.address;
      await endpoint?.tryNext();
      // WireGuard dials again only seconds after it last did, wherever that was.
      if (endpoint?.current?.address !== before) await tunnel.beginAnew();
    }
  }

  private tell(): void {
    this.tellWaiting();
    const missing = filterFault(this.filter) ?? this.tunnel?.missing ?? this.silence();
    if (missing === undefined) {
      this.told = undefined;
      return;
    }
    if (this.told === missing.reason) return;
    this.told = missing.reason;
    if (missing.reason === "StandsBy") return;
    this.runtime.events.warning(gatewayObject(this.gateway), missing.reason, missing.message);
  }

  /** What was told of a tunnel that worked is not true any more when nobody pings. */
  private tellWaiting(): void {
    const missing = this.tunnel?.missing;
    if (missing === undefined || missing.reason === "StandsBy") {
      this.missingSince = undefined;
      return;
    }
    const now = this.runtime.clock.monotonic();
    this.missingSince ??= now;
    if (now - this.missingSince < WAITING_MS) return;
    this.object?.report({ state: "waiting" }).catch((error: unknown) => {
      this.runtime.log.warn("connection's state not written", { error });
    });
  }

  /** Everything is set, and yet nothing comes back. */
  private silence(): { reason: string; message: string } | undefined {
    if (this.pings?.reachability.state !== "lost") return undefined;
    const { peer, end } = this.gateway;
    return {
      reason: "PeerSilent",
      message:
        end === "client"
          ? `no answer from ${peer} through the tunnel; check that UDP reaches the server's endpoint, and that each side has the other's present public key`
          : `nothing heard from ${peer} through the tunnel; check that its client runs, reaches this server's endpoint by UDP, and has its present public key`,
    };
  }
}

function filterFault(filter: PacketFilter | undefined): { reason: string; message: string } | undefined {
  if (filter?.fault === undefined) return undefined;
  return {
    reason: "PacketsNotFiltered",
    message: `what comes from the peer cannot be looked at, so no tunnel is made: ${filter.fault}`,
  };
}

function portOf(flag: string, given: readonly string[]): number {
  const [text = String(TUNNEL_PORT)] = given;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new UsageError(`--${flag} is "${text}"; write a port from 1 to 65535`);
}
