import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

import type { Clock, Logger, Timer } from "../kube";

interface ServerEndpointOptions {
  /** Addresses and names, as the GatewayClient lists them. */
  addresses: readonly string[];
  port: number;
  /** Between two look-ups of names, after the first ten minutes. */
  checkIntervalMs: number;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  onChange: () => void;
  resolve?: (name: string) => Promise<string[]>;
}

const SOON_MS = 5_000;
const BEGINNING_MS = 10 * 60_000;

/**
 * Where a client finds its server: one of the addresses that it was given. Names are looked up again and again; while the present address is among the
 * answers, it stays. Another one is tried when the server does not answer.
 */
export class ServerEndpoint {
  private known: string[] = [];
  private address: string | undefined;
  private timer: Timer | undefined;
  private readonly begin: number;
  private readonly hasNames: boolean;

  constructor(private readonly options: ServerEndpointOptions) {
    const { addresses, clock } = options;
    this.begin = clock.monotonic();
    this.hasNames = addresses.some((address) => isIP(address) === 0);
  }

  get current(): { address: string; port: number } | undefined {
    return this.address === undefined ? undefined : { address: this.address, port: this.options.port };
  }

  async start(): Promise<void> {
    await this.look();
    if (!this.hasNames) return;
    this.options.signal.addEventListener("abort", () => this.timer?.cancel(), { once: true });
    this.lookLater();
  }

  /** Looks names up now. */
  async look(): Promise<void> {
    const found: string[] = [];
    for (const candidate of endpointOrder(this.options.addresses)) {
      if (isIP(candidate) !== 0) found.push(candidate);
      else found.push(...(await this.resolved(candidate)));
    }
    // Without an answer, what was known is better than nothing.
    if (found.length > 0) this.known = [...new Set(found)];
    if (this.address === undefined || !this.known.includes(this.address)) this.use(this.known[0]);
  }

  /** The server does not answer at the present address: takes the next one. */
  async tryNext(): Promise<void> {
    await this.look();
    const index = this.address === undefined ? -1 : this.known.indexOf(this.address);
    this.use(this.known[(index + 1) % Math.max(1, this.known.length)]);
  }

  private use(address: string | undefined): void {
    if (address === this.address) return;
    this.address = address;
    this.options.log.info("server's address", { address });
    this.options.onChange();
  }

  private async resolved(name: string): Promise<string[]> {
    const { resolve = addressesOf, log } = this.options;
    try {
      return await resolve(name);
    } catch (error) {
      log.warn("name of the server not found", { name, error });
      return [];
    }
  }

  private lookLater(): void {
    const { clock, checkIntervalMs, signal } = this.options;
    if (signal.aborted) return;
    const isBeginning = clock.monotonic() - this.begin < BEGINNING_MS;
    this.timer = clock.after(isBeginning ? Math.min(SOON_MS, checkIntervalMs) : checkIntervalMs, () => {
      void this.look().finally(() => this.lookLater());
    });
  }
}

/** IPv4 first: the tunnel carries it, and most underlays have it. */
async function addressesOf(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true, order: "ipv4first" });
  return found.map(({ address }) => address);
}

/**
 * The addresses of a server in the order in which a client should try them: those that need no name service first. A load balancer may list a name
 * that only its own network can resolve beside an address that everybody reaches.
 */
export function endpointOrder(addresses: readonly string[]): string[] {
  const distinct = [...new Set(addresses.filter((address) => address !== ""))];
  const needsName = (address: string) => isIP(address) === 0;
  return [...distinct.filter((address) => !needsName(address)), ...distinct.filter(needsName)];
}
