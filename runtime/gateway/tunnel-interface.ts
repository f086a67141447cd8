import { runCommand } from "../networking/kernel/command";
import type { Kernel } from "../networking/kernel/kernel";
import type { ObservedLink } from "../networking/links/observed";
import { type TunnelLink, tunnelLinkPlan } from "../networking/links/tunnel-link";

export type Implementation = "kernel" | "userspace";

/** The interface of the tunnel: made where it is missing, by the kernel, or by wireguard-go where the kernel has no WireGuard. */
export class TunnelInterface {
  constructor(
    private readonly kernel: Kernel,
    private readonly link: TunnelLink,
    private readonly choice: Implementation | "auto",
  ) {}

  get name(): string {
    return this.link.name;
  }

  /** Returns which of the two carries the tunnel. @throws Error where neither can */
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
    const { name, mtu } = this.link;
    const faults: string[] = [];
    if (this.choice !== "userspace") {
      const [refusal] = await this.kernel.applyBatch([`link add name ${name} mtu ${mtu} type wireguard`]);
      if (refusal !== undefined) faults.push(`the kernel: ${refusal.message}`);
    }
    if (this.choice === "userspace" || (this.choice === "auto" && faults.length > 0)) {
      const fault = await startWireGuardGo(name);
      if (fault !== undefined) faults.push(`wireguard-go: ${fault}`);
    }
    const made = await this.observe();
    if (made !== undefined) return made;
    throw new Error(`no tunnel can be made here; ${faults.join("; ")}`);
  }
}

function implementationOf({ kind }: ObservedLink): Implementation {
  return kind === "wireguard" ? "kernel" : "userspace";
}

/** It leaves its parent once the interface is there, and lives on when the gateway's process is replaced. */
async function startWireGuardGo(name: string): Promise<string | undefined> {
  try {
    const { status, stderr } = await runCommand("setsid", ["wireguard-go", name]);
    return status === 0 ? undefined : stderr.trim().split("\n").at(-1) || `status ${status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
