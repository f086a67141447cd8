import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Label, PublicKey } from "../api";
import { wireGuardKeyPair } from "../identity";
import {
  type Informer,
  messageOf,
  type Outcome,
  type ReconcileRun,
  type RuntimeContext,
  watches,
} from "../kube";
import { type AgentContext, byAge } from "../networking/agent/agent";
import { every, type Pass, runPass } from "../networking/agent/pass";
import type { Gateway } from "./gateway";
import type { ServerEndpoint } from "./server-endpoint";
import { type Implementation, MadeLaterError, type TunnelInterface } from "./tunnel-interface";
import {
  isTunnelInPlace,
  type ObservedTunnel,
  parseDump,
  peerKeyOf,
  wireGuardConfiguration,
  type WireGuardSettings,
} from "./wireguard";

const NAME = "tunnel";
/** How often the file of the private key is looked at: the kubelet changes it without telling. */
const KEY_LOOK_MS = 2_000;
/** A key that is missing, or an interface that cannot be made, is looked for again after this time. */
const RETRY_MS = 2_000;

interface TunnelOptions {
  gateway: Gateway;
  link: TunnelInterface;
  keysFolder: string;
  /** Of a server. */
  listenPort: number;
  /** Of a client. */
  endpoint?: ServerEndpoint;
  /** Whether this replica carries the traffic; one that stands by knows no peer. */
  isActive: () => boolean;
  /** Nothing comes up before: what looks at the peer's packets has to be there. */
  after: Promise<void>;
  /** Called when the tunnel is as it should be, with its peer. */
  onConfigured: () => Promise<void>;
}

/** What a tunnel still needs before packets can pass. */
interface MissingStep {
  reason: "KeysMissing" | "PeerKeyMissing" | "EndpointMissing" | "TunnelNotMade" | "StandsBy";
  message: string;
}

/**
 * Keeps the tunnel: its interface, its keys, its one peer (networking reference 10.3). Written only where it differs, so that a tunnel that works
 * is never cut.
 */
export class Tunnel {
  /** Undefined while nothing is missing. */
  missing: MissingStep | undefined;
  implementation: Implementation | undefined;
  /** The private key that was read last. */
  private key: string | undefined;
  private readonly publicKeys: Informer<PublicKey>;
  private readonly pass: Pass;
  private readonly runtime: RuntimeContext;

  constructor(
    private readonly agent: AgentContext,
    private readonly options: TunnelOptions,
  ) {
    this.runtime = agent.runtime;
    const { namespace, peer } = options.gateway;
    this.publicKeys = this.runtime.informers.informer(PublicKey, {
      namespace,
      labelSelector: `${Label.remoteClusterID}=${peer}`,
    });
    this.pass = runPass(agent, {
      name: NAME,
      sources: [watches(this.publicKeys, { keys: () => [NAME] })],
      pass: (run) => this.reconcile(run),
    });
    const { clock, signal } = this.runtime;
    every(clock, KEY_LOOK_MS, signal, () => void this.lookAtKey());
  }

  again(): void {
    this.pass.again();
  }

  get first(): Promise<void> {
    return this.pass.first;
  }

  /** What the tunnel is now; undefined while there is none. */
  async observe(): Promise<ObservedTunnel | undefined> {
    const dump = await this.agent.kernel.tunnelDump(this.options.link.name);
    return dump === undefined ? undefined : parseDump(dump);
  }

  /** Ends the session with the peer, so that the next packet begins a new one: the other end may have lost its own. */
  async beginAnew(): Promise<void> {
    const peer = (await this.observe())?.peers[0];
    if (peer !== undefined) await this.agent.kernel.removeTunnelPeer(this.options.link.name, peer.publicKey);
    this.again();
  }

  private async lookAtKey(): Promise<void> {
    const key = await readPrivateKey(this.options.keysFolder).catch(() => undefined);
    if (key !== undefined && this.key !== undefined && key !== this.key) this.again();
  }

  private async reconcile(run: ReconcileRun): Promise<Outcome> {
    const { link, keysFolder, onConfigured, after } = this.options;
    await after;
    let privateKey: string;
    try {
      this.implementation = await link.ensure();
    } catch (error) {
      return this.waits(run, "TunnelNotMade", error);
    }
    try {
      privateKey = await readPrivateKey(keysFolder);
      this.key = privateKey;
    } catch (error) {
      return this.waits(run, "KeysMissing", error);
    }
    const observed = await this.observe();
    if (observed === undefined) return this.waits(run, "TunnelNotMade", `${link.name} is not there yet`);
    const settings = this.settings(privateKey, observed);
    if (!isTunnelInPlace(settings, observed)) {
      await this.agent.kernel.syncTunnel(link.name, wireGuardConfiguration(settings));
      run.log.info("tunnel configured", {
        interface: link.name,
        peer: settings.peer?.publicKey,
        endpoint: settings.peer?.endpoint,
      });
    }
    if (settings.peer === undefined) return undefined;
    this.missing = undefined;
    try {
      await onConfigured();
    } catch (error) {
      // The tunnel works all the same.
      run.log.warn("connection not written", { error });
      return { requeueAfterMs: RETRY_MS };
    }
    return undefined;
  }

  /** What the tunnel should be; notes what is missing. */
  private settings(privateKey: string, observed: ObservedTunnel): WireGuardSettings {
    const { gateway, listenPort, endpoint, isActive } = this.options;
    const isServer = gateway.end === "server";
    // A client keeps the port that it was given: a NAT on the way knows it.
    const port = isServer ? listenPort : observed.listenPort;
    const own: WireGuardSettings = { privateKey, ...(port > 0 && { listenPort: port }) };
    if (!isActive()) {
      this.missing = { reason: "StandsBy", message: "another replica carries the traffic" };
      return own;
    }
    const keys = this.publicKeys.list().sort(byAge);
    // Of several, the newest: whoever changes a key by a new object adds it before removing the old one.
    const key = keys.at(-1);
    if (key === undefined) {
      this.missing = {
        reason: "PeerKeyMissing",
        message: `no PublicKey in namespace ${gateway.namespace} has the label ${Label.remoteClusterID}=${gateway.peer}; create it with the public key of the peer's gateway`,
      };
      return own;
    }
    const publicKey = peerKeyOf(key);
    if (isServer) return { ...own, peer: { publicKey } };
    const at = endpoint?.current;
    if (at !== undefined) return { ...own, peer: { publicKey, endpoint: at } };
    this.missing = {
      reason: "EndpointMissing",
      message: "none of the server's addresses is known; check spec.endpoint.addresses and the name service",
    };
    return own;
  }

  private waits(run: ReconcileRun, reason: MissingStep["reason"], fault: unknown): Outcome {
    const message = messageOf(fault);
    if (this.missing?.message !== message) run.log.warn("tunnel not configured", { reason, error: fault });
    this.missing = { reason, message };
    return { requeueAfterMs: fault instanceof MadeLaterError ? fault.afterMs : RETRY_MS };
  }
}

/**
 * The gateway's private key in base64, from the folder that its Secret is mounted at.
 *
 * @throws Error saying what is wrong with the file, never what is in it
 */
async function readPrivateKey(folder: string): Promise<string> {
  const path = join(folder, "privateKey");
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new Error(`${path} cannot be read; mount the Secret with the gateway's keys there`, { cause });
  }
  if (bytes.length !== 32) {
    throw new Error(`${path} has ${bytes.length} bytes; a WireGuard key has 32, not in base64`);
  }
  // WireGuard shows keys in their clamped form, which is what is compared later.
  return wireGuardKeyPair(bytes).privateKey;
}
