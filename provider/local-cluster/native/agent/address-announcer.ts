import { z } from "zod";

import type { ProcessIdentity } from "../../process-identity";
import { runInNamespaces } from "../namespace-process";

/** A node as the announcer reaches it. */
export interface AnnouncingNode {
  name: string;
  init: ProcessIdentity;
}

const links = z.array(
  z.object({ addr_info: z.array(z.object({ local: z.string(), prefixlen: z.number() })) }),
);

/** Puts addresses of services on nodes' interfaces, so that the bridge finds them there; kube-proxy does the rest. */
export class AddressAnnouncer {
  /** Node by address. */
  private readonly placed = new Map<string, string>();

  private constructor(private readonly nodes: readonly AnnouncingNode[]) {}

  /** Takes over what an earlier agent placed. */
  static async create(nodes: readonly AnnouncingNode[], pool: readonly string[]): Promise<AddressAnnouncer> {
    const announcer = new AddressAnnouncer(nodes);
    for (const node of nodes) {
      const shown = await runInNamespaces(
        node.init,
        ["--net"],
        ["ip", "-json", "-4", "address", "show", "dev", "eth0"],
      );
      for (const { addr_info } of links.parse(JSON.parse(shown))) {
        for (const { local, prefixlen } of addr_info) {
          if (prefixlen === 32 && pool.includes(local)) announcer.placed.set(local, node.name);
        }
      }
    }
    return announcer;
  }

  nodeOf(address: string): string | undefined {
    return this.placed.get(address);
  }

  /** Addresses that are placed somewhere. */
  addresses(): string[] {
    return [...this.placed.keys()];
  }

  /** Places an address on a node, or takes it away; does nothing if it is so already. */
  async place(address: string, node: string | undefined): Promise<void> {
    const present = this.placed.get(address);
    if (present === node) return;
    if (present !== undefined) {
      await this.run(present, ["ip", "address", "del", `${address}/32`, "dev", "eth0"]);
      this.placed.delete(address);
    }
    if (node === undefined) return;
    await this.run(node, ["ip", "address", "replace", `${address}/32`, "dev", "eth0"]);
    this.placed.set(address, node);
    // Those who knew the address elsewhere learn at once where it is now.
    await this.run(node, ["busybox", "arping", "-U", "-c", "1", "-I", "eth0", address]).catch(
      () => undefined,
    );
  }

  private async run(node: string, command: string[]): Promise<void> {
    const found = this.nodes.find(({ name }) => name === node);
    if (found === undefined) throw new Error(`the cluster has no node ${node}`);
    await runInNamespaces(found.init, ["--net"], command, { timeoutMs: 10_000 });
  }
}
