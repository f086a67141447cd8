import type { Clock } from "../kube";
import type { ObservedLink } from "../networking/kernel/ip-listing";
import type { Kernel } from "../networking/kernel/kernel";
import { startWireGuardGo } from "./wireguard-go";

export type Implementation = "kernel" | "userspace";

/** The interface keeps vanishing, as when wireguard-go cannot live here. */
export class MadeLaterError extends Error {
  constructor(
    name: string,
    times: number,
    /** Milliseconds until it is to be made again. */
    readonly afterMs: number,
  ) {
    super(
      `${name} vanished soon after it was made, ${times === 1 ? "once" : `${times} times in a row`}; it is made again a little later each time`,
    );
  }
}

/** The interface of the tunnel: made where it is missing, by the kernel, or by wireguard-go where the kernel has no WireGuard. */
export class TunnelInterface {
  private readonly delay = new RestartDelay();
  private made = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly link: TunnelLink,
    private readonly choice: Implementation | "auto",
    private readonly clock: Clock,
  ) {}

  get name(): string {
    return this.link.name;
  }

  /** Whether this process made it. One that a process before made has carried the tunnel all the time. */
  get isNew(): boolean {
    return this.made;
  }

  /** Returns which of the two carries the tunnel. @throws Error where neither can, MadeLaterError where it was tried too often */
  async ensure(): Promise<Implementation> {
    const have = (await this.observe()) ?? (await this.create());
    const refused = await this.kernel.applyBatch(tunnelLinkPlan(this.link, have));
    if (refused.length > 0) {
      throw new Error(`"ip ${refused[0]?.line}" was refused: ${refused[0]?.message}`);
    }
    return implementationOf(have);
  }

  private async observe(): Promise<ObservedLink | undefined> {
    return (await this.kernel.links()).find(({ name }) => name === this.link.name);
  }

  private async create(): Promise<ObservedLink> {
    const { name } = this.link;
    const remaining = this.delay.remaining(this.clock.monotonic());
    if (remaining > 0) throw new MadeLaterError(name, this.delay.earlyEnds, remaining);
    const faults = await this.begin();
    const found = await this.observe();
    if (found !== undefined) {
      this.made = true;
      return found;
    }
    throw new Error(`no tunnel can be made here; ${faults.join("; ") || `${name} vanished at once`}`);
  }

  /** Tries one way after the other; returns what went wrong, nothing where one worked. */
  private async begin(): Promise<string[]> {
    const { name, mtu } = this.link;
    const faults: string[] = [];
    const done = (fault: string | undefined): boolean => {
      if (fault === undefined) this.delay.started(this.clock.monotonic());
      else faults.push(fault);
      return fault === undefined;
    };
    if (this.choice !== "userspace") {
      const [refusal] = await this.kernel.applyBatch([`link add name ${name} mtu ${mtu} type wireguard`]);
      if (done(refusal && `the kernel: ${refusal.message}`)) return [];
    }
    if (this.choice !== "kernel") {
      const fault = await startWireGuardGo(name);
      if (done(fault && `wireguard-go: ${fault}`)) return [];
    }
    return faults;
  }
}

function implementationOf({ kind }: ObservedLink): Implementation {
  return kind === "wireguard" ? "kernel" : "userspace";
}

/** A tunnel's interface as it is to be. */
interface TunnelLink {
  name: string;
  /** Bytes. */
  mtu: number;
  /** With its length: `169.254.18.1/30`. */
  address: string;
}

/** The lines for `ip -4 -force -batch -` that make an interface that exists as it is to be; none where it is. */
export function tunnelLinkPlan({ name, mtu, address }: TunnelLink, have: ObservedLink): string[] {
  return [
    ...(have.mtu === mtu ? [] : [`link set dev ${name} mtu ${mtu}`]),
    ...have.addresses.filter((other) => other !== address).map((other) => `addr del ${other} dev ${name}`),
    ...(have.addresses.includes(address) ? [] : [`addr add ${address} dev ${name}`]),
    ...(have.up ? [] : [`link set dev ${name} up`]),
  ];
}

/** A program that ran for this long was healthy, and is started again at once. */
const HEALTHY_MS = 10_000;
const FIRST_MS = 500;
const LONGEST_MS = 10_000;

/** Back-off for a program that ends soon after each start: the delay doubles each time. All times are of a monotonic clock. */
export class RestartDelay {
  private startedAt: number | undefined;
  private endedAt: number | undefined;
  /** How often it has ended early, without having lived long in between. */
  earlyEnds = 0;

  started(now: number): void {
    this.startedAt = now;
    this.endedAt = undefined;
  }

  /** It is not there: returns the milliseconds after which it may be started. */
  remaining(now: number): number {
    if (this.startedAt === undefined) return 0;
    if (this.endedAt === undefined) {
      this.endedAt = now;
      this.earlyEnds = now - this.startedAt < HEALTHY_MS ? this.earlyEnds + 1 : 0;
    }
    if (this.earlyEnds === 0) return 0;
    const delay = Math.min(FIRST_MS * 2 ** (this.earlyEnds - 1), LONGEST_MS);
    return Math.max(0, this.endedAt + delay - now);
  }
}
