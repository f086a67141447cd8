import { Connection, gatewayObjectName, Label } from "../api";
import {
  type GlobalMetadata,
  type Informer,
  patchStatusIfChanged,
  type RuntimeContext,
  withGlobalMetadata,
  writeIfChanged,
} from "../kube";
import { every } from "../networking/agent/pass";
import { connectionStatus, type Reachability } from "../networking/connection-status";
import { forwardingFault } from "../networking/kernel/host-settings";
import { type Gateway, type GatewayFlags, gatewayObject, ownedByGateway } from "./gateway";
import type { PacketFilter } from "./packet-filter";
import { PingLink } from "./ping-link";
import type { ServerEndpoint } from "./server-endpoint";
import type { Tunnel } from "./tunnel";
import type { TunnelInterface } from "./tunnel-interface";

/** A peer that is silent for this long may have lost its session; WireGuard itself would wait three times as long. */
const SILENT_MS = 5_000;
/** A missing step appears in the Connection after this time. A tunnel that was up mostly comes back sooner. */
const WAITING_MS = 10_000;
/** A server that begins no session at an address for this long may be at another, or its name may have got another one. */
const NEXT_ADDRESS_MS = 3_000;

/** The Connection object of a gateway: whether packets pass (networking reference 10.3, 10.4). */
export class ConnectionObject {
  private readonly connections: Informer<Connection>;
  private writing: Promise<void> = Promise.resolve();
  /** The status that was written last, until the cache has it. */
  private written: Connection | undefined;
  /** Whether this process has told that packets pass through its tunnel. */
  private confirmed = false;

  constructor(
    private readonly runtime: RuntimeContext,
    private readonly gateway: Gateway,
    private readonly global: GlobalMetadata,
    private readonly refreshMs: number,
    /** Whether this process made the tunnel. A status that an earlier process wrote is then about an earlier tunnel. */
    private readonly isNewTunnel: () => boolean = () => false,
  ) {
    const { namespace, peer } = gateway;
    this.connections = runtime.informers.informer(Connection, {
      namespace,
      labelSelector: `${Label.remoteClusterID}=${peer}`,
    });
  }

  /**
   * Makes the object where it is missing, and tells what is known. One call works at a time.
   *
   * @param reachability undefined where nobody pings, and the tunnel counts as up once it is configured
   */
  async report(reachability: Reachability | undefined): Promise<void> {
    const before = this.writing;
    const work = before.then(() => this.write(reachability));
    this.writing = work.catch(() => undefined);
    await work;
  }

  private async write(reachability: Reachability | undefined): Promise<void> {
    await this.connections.whenSynced();
    const { client, clock } = this.runtime;
    const desired = withGlobalMetadata(this.desired(), this.global);
    const { object } = await writeIfChanged(client, Connection, desired, this.newest());
    this.written = object;
    const status = connectionStatus(reachability ?? { state: "configured" }, object.status, {
      now: clock.now(),
      refreshIntervalMs: this.refreshMs,
      confirmed: this.confirmed || !this.isNewTunnel(),
    });
    // The status confirms the generation of the spec even where it has nothing else to tell, as after an edit that was put back.
    const told = status ?? (object.status === undefined ? undefined : {});
    if (told === undefined) return;
    const written = await patchStatusIfChanged(client, Connection, object, told, { exact: ["latency"] });
    this.written = written.object;
    if (reachability?.state === "connected") this.confirmed = true;
  }

  /** The cache may not have our last write yet. */
  private newest(): Connection | undefined {
    const { namespace, name } = this.gateway;
    const cached = this.connections.get(gatewayObjectName(name), namespace);
    const { written } = this;
    if (cached === undefined || written === undefined || written.metadata.uid !== cached.metadata.uid) {
      return cached;
    }
    const version = (object: Connection) => BigInt(object.metadata.resourceVersion ?? "0");
    return version(written) > version(cached) ? written : cached;
  }

  private desired() {
    const { name, namespace, uid, peer, end } = this.gateway;
    return {
      apiVersion: "networking.liqo.io/v1beta1" as const,
      kind: "Connection" as const,
      metadata: {
        name: gatewayObjectName(name),
        namespace,
        labels: { [Label.remoteClusterID]: peer },
        ownerReferences: [ownedByGateway(this.gateway)],
      },
      spec: {
        type: end === "server" ? ("Server" as const) : ("Client" as const),
        gatewayRef: {
          apiVersion: "networking.liqo.io/v1beta1",
          kind: end === "server" ? "WgGatewayServer" : "WgGatewayClient",
          name,
          namespace,
          uid,
        },
      },
    };
  }
}

/** Pings through the tunnel once it is configured and reports the result. While no answer comes, a client begins a new session or tries another address. */
export class TunnelConnection {
  readonly pings: PingLink | undefined;
  private readonly object: ConnectionObject | undefined;
  private tunnel: Tunnel | undefined;
  private filter: PacketFilter | undefined;
  private endpoint: ServerEndpoint | undefined;
  private told: string | undefined;
  private missingSince: number | undefined;
  /** Whether the Connection says that a step is missing. */
  private waiting = false;
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
    if (forwardingFault() === undefined) await this.object?.report(this.pings?.reachability);
    else this.waiting = true; // reported once packets can pass
  }

  standBy(): void {
    this.pings?.deactivate();
  }

  private observed(): void {
    // While the kernel forwards nothing, pings pass all the same.
    if (this.pings === undefined || this.missing() !== undefined) return;
    this.report(this.pings.reachability);
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
    const missing = filterFault(this.filter) ?? this.missing() ?? this.silence();
    if (missing === undefined) {
      this.told = undefined;
      return;
    }
    if (this.told === missing.reason) return;
    this.told = missing.reason;
    if (missing.reason === "StandsBy") return;
    this.runtime.events.warning(gatewayObject(this.gateway), missing.reason, missing.message);
  }

  /** The first step that is missing before packets can pass. */
  private missing(): { reason: string; message: string } | undefined {
    const ofTunnel = this.tunnel?.missing;
    if (ofTunnel?.reason === "StandsBy") return ofTunnel;
    const fault = forwardingFault();
    return fault === undefined ? ofTunnel : { reason: "ForwardingRefused", message: fault };
  }

  /** Without pings the last reported state gets stale, so a missing step is reported after a while. */
  private tellWaiting(): void {
    const missing = this.missing();
    if (missing === undefined || missing.reason === "StandsBy") {
      this.missingSince = undefined;
      // With pings, their next answer is reported.
      if (this.waiting && missing === undefined && this.pings === undefined) this.report(undefined);
      this.waiting = false;
      return;
    }
    const now = this.runtime.clock.monotonic();
    this.missingSince ??= now;
    if (now - this.missingSince < WAITING_MS) return;
    this.waiting = true;
    this.report({ state: "waiting" });
  }

  private report(reachability: Reachability | undefined): void {
    this.object?.report(reachability).catch((error: unknown) => {
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

export function filterFault(
  filter: PacketFilter | undefined,
): { reason: string; message: string } | undefined {
  if (filter?.fault === undefined) return undefined;
  return {
    reason: "PacketsNotFiltered",
    message: `what comes from the peer cannot be looked at, so no tunnel is made: ${filter.fault}`,
  };
}
