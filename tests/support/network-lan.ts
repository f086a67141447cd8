/**
 * The machines of a network lab's cluster: nodes on a LAN with a router, and what a CNI plugin would give their pods: an address each, routes
 * between the nodes, and masquerading of what leaves the cluster.
 */
import type { LabPod } from "./lab-agent";
import type { LabHost, NetworkLab } from "./network-lab";
import { addressAt, bare, type NetworkClusterPlan, type NodePlan } from "./network-plan";

interface RunningNode {
  plan: NodePlan;
  host: LabHost;
  nextPod: number;
}

/** An address on the node's side of the wire to each pod; the pod's default gateway. */
const POD_GATEWAY = "169.254.1.1";

export class NetworkLan {
  readonly nodes = new Map<string, RunningNode>();

  private constructor(
    private readonly plan: NetworkClusterPlan,
    private readonly lab: NetworkLab,
    readonly router: LabHost,
  ) {}

  static async open(plan: NetworkClusterPlan, lab: NetworkLab): Promise<NetworkLan> {
    const lan = new NetworkLan(plan, lab, await lab.host(`${plan.id}-router`));
    await lan.router.run(`
      ip link add lan type bridge && ip link set lan up
      ip addr add ${plan.router} dev lan`);
    for (const node of plan.nodes) await lan.wireNode(node);
    return lan;
  }

  nodeOf(name: string): RunningNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`${this.plan.id} has no node ${name}`);
    return node;
  }

  /** A node's address on the LAN. */
  addressOf(node: string): string {
    return bare(this.nodeOf(node).plan.address);
  }

  /** One more machine. */
  async addNode(plan: NodePlan): Promise<void> {
    await this.wireNode(plan);
    for (const { host, plan: other } of this.nodes.values()) {
      if (other.name !== plan.name) await host.run(`ip route add ${plan.podCidr} via ${bare(plan.address)}`);
    }
  }

  /** Pods on the machine have to be removed before. */
  async removeNode(name: string): Promise<void> {
    const { host, plan } = this.nodeOf(name);
    await host.close();
    this.nodes.delete(name);
    for (const { host: other } of this.nodes.values()) await other.run(`ip route del ${plan.podCidr}`);
  }

  /** Makes the host of a pod on a node. */
  async addPod(node: string, name: string): Promise<{ host: LabHost; address: string }> {
    const on = this.nodeOf(node);
    const host = await this.lab.host(`${this.plan.id}-${name}`);
    const address = addressAt(on.plan.podCidr, (on.nextPod += 1));
    const wire = `pod${on.nextPod}`;
    await this.lab.wire({ host, name: "eth0" }, { host: on.host, name: wire });
    await host.run(`
      ip addr add ${address}/32 dev eth0
      ip route add ${POD_GATEWAY} dev eth0 scope link
      ip route add default via ${POD_GATEWAY} dev eth0`);
    await on.host.run(`
      ip addr add ${POD_GATEWAY}/32 dev ${wire}
      ip route add ${address} dev ${wire} scope link`);
    return { host, address };
  }

  async removePod({ host, node, address }: LabPod): Promise<void> {
    await host.close();
    await this.nodeOf(node).host.run(`ip route del ${address} 2>/dev/null || true`);
  }

  /** UDP packets to the router's outer address and the tunnel's port go to a pod, as a NodePort would lead them. */
  async publish(pod: LabPod): Promise<void> {
    await this.router.run(`
      ip route replace ${pod.address} via ${this.addressOf(pod.node)}
      nft delete table ip publish 2>/dev/null || true
      nft add table ip publish
      nft 'add chain ip publish in { type nat hook prerouting priority -100; }'
      nft add rule ip publish in iifname outside udp dport 51840 dnat to ${pod.address}
      conntrack -D -p udp --orig-port-dst 51840 2>/dev/null || true`);
  }

  /** The same, but by a path that something on the router makes. It has to be published again afterwards. */
  async pathToGateway(
    pod: LabPod,
    make: (path: { address: string; port: number }) => Promise<void>,
  ): Promise<void> {
    await make({ address: pod.address, port: 51840 });
    await this.router.run(`
      nft delete table ip publish
      conntrack -D -p udp --orig-port-dst 51840 2>/dev/null || true`);
  }

  private async wireNode(plan: NodePlan): Promise<void> {
    const host = await this.lab.host(plan.name);
    const wire = `to-${plan.name}`;
    await this.lab.wire({ host, name: "eth0" }, { host: this.router, name: wire });
    await this.router.run(`
      ip link set ${wire} master lan
      ip route add ${plan.podCidr} via ${bare(plan.address)}`);
    await host.run(`
      ip addr add ${plan.address} dev eth0
      ip route add default via ${bare(this.plan.router)}
      nft add table ip cni
      nft 'add chain ip cni out { type nat hook postrouting priority 100; }'
      nft add rule ip cni out ip saddr ${plan.podCidr} ip daddr != ${this.plan.podCidr} masquerade`);
    const others = [...this.plan.nodes, ...[...this.nodes.values()].map((node) => node.plan)];
    for (const other of new Set(others.filter(({ name }) => name !== plan.name))) {
      await host.run(`ip route add ${other.podCidr} via ${bare(other.address)}`);
    }
    this.nodes.set(plan.name, { plan, host, nextPod: 1 });
  }
}
