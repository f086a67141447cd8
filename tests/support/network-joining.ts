import type { LabHost, NetworkLab } from "./network-lab";
import { bare, type NetworkClusterPlan } from "./network-plan";

interface Joined {
  plan: NetworkClusterPlan;
  router: LabHost;
}

/** Joins the routers of two clusters. */
export async function joinTwo(lab: NetworkLab, a: Joined, b: Joined, mtu: number): Promise<void> {
  await lab.wire({ host: a.router, name: "outside" }, { host: b.router, name: "outside" }, mtu);
  for (const { router, plan } of [a, b]) await router.run(`ip addr add ${plan.outside} dev outside`);
  for (const [{ router, plan }, other] of [
    [a, b],
    [b, a],
  ] as const) {
    if (!plan.behindNat) {
      for (const { address } of plan.nodes) {
        await other.router.run(`ip route add ${bare(address)} via ${bare(plan.outside)}`);
      }
    } else {
      await router.run(
        "nft add table ip nat; nft 'add chain ip nat out { type nat hook postrouting priority 100; }'; nft add rule ip nat out oifname outside masquerade",
      );
    }
  }
}

/** Joins the routers of several clusters, none of which is behind a NAT, by a network of their own. */
export async function joinAll(lab: NetworkLab, clusters: readonly Joined[], mtu: number): Promise<void> {
  const hub = await lab.host("hub");
  await hub.run(`ip link add hub mtu ${mtu} type bridge && ip link set hub up`);
  for (const { router, plan } of clusters) {
    await lab.wire({ host: router, name: "outside" }, { host: hub, name: plan.id }, mtu);
    await hub.run(`ip link set ${plan.id} master hub`);
    await router.run(`ip addr add ${plan.outside} dev outside`);
    for (const other of clusters) {
      if (other.plan.id === plan.id) continue;
      for (const { address } of other.plan.nodes) {
        await router.run(`ip route add ${bare(address)} via ${bare(other.plan.outside)}`);
      }
    }
  }
}
