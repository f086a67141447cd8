import type { Clock } from "../kube";
import type { Kernel } from "../networking/kernel/kernel";
import type { ObservedLink } from "../networking/links/observed";
import { type TunnelLink, tunnelLinkPlan } from "../networking/links/tunnel-link";
import { RestartDelay } from "./restart-delay";
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
