import { keyOf, type RuntimeContext, sleep } from "../kube";
import { IpamCaches, type IpamContext, type IpamOptions } from "./ipam-context";
import { runIPController } from "./ip-controller";
import { Ipam } from "./ipam";
import { runNetworkController } from "./network-controller";
import { OwnAddressCaches } from "./own-address-caches";
import { parsePools } from "./pools";
import { isEmptyPlan, syncPlan } from "./claims";

/**
 * Starts the address management of a cluster: what is in use is read from the objects before anything is given.
 *
 * @throws Error when the pools are wrong
 */
export async function startIpam(runtime: RuntimeContext, options: IpamOptions): Promise<void> {
  const own = new OwnAddressCaches(runtime.informers);
  const ipam = new Ipam(parsePools(options.pools), () => own.list());
  const caches = new IpamCaches(runtime.informers, options.liqoNamespace);
  const context: IpamContext = { runtime, options, caches, own, ipam };
  await Promise.all([caches.networks.whenSynced(), caches.ips.whenSynced(), own.whenSynced()]);
  synchronize(context);
  // Before the controllers hear of it, so that what has become free is so for all of them.
  caches.networks.on({ deleted: (network) => ipam.releaseNetwork(keyOf(network)) });
  caches.ips.on({ deleted: (ip) => ipam.releaseIP(keyOf(ip)) });
  runNetworkController(context);
  runIPController(context);
  if (options.syncIntervalMs > 0) void keepSynchronized(context);
}

/** The controllers keep memory and objects together; this finds out where they did not. */
async function keepSynchronized(context: IpamContext): Promise<void> {
  const { clock, signal, log } = context.runtime;
  while (!signal.aborted) {
    await sleep(clock, context.options.syncIntervalMs, signal);
    if (signal.aborted) return;
    const plan = synchronize(context);
    if (plan !== undefined) log.warn("addresses in memory had strayed from the objects", plan);
  }
}

/** Brings memory in line with the objects; returns what had to be done. Objects that contradict each other are told by their own reconciles. */
function synchronize({ ipam, caches, runtime }: IpamContext): Record<string, string[]> | undefined {
  const plan = syncPlan(ipam, caches.networks.list(), caches.ips.list());
  for (const owner of plan.releaseIPs) ipam.releaseIP(owner);
  for (const owner of plan.releaseNetworks) ipam.releaseNetwork(owner);
  const attempt = (owner: string, adopt: () => void) => {
    try {
      adopt();
    } catch (error) {
      runtime.log.error("addresses are claimed twice", { owner, error });
    }
  };
  for (const [owner, claim] of plan.adoptNetworks) attempt(owner, () => ipam.adoptNetwork(owner, claim));
  for (const [owner, claim] of plan.adoptIPs) attempt(owner, () => ipam.adoptIP(owner, claim));
  if (isEmptyPlan(plan)) return undefined;
  return {
    releasedNetworks: plan.releaseNetworks,
    releasedIPs: plan.releaseIPs,
    adoptedNetworks: plan.adoptNetworks.map(([owner]) => owner),
    adoptedIPs: plan.adoptIPs.map(([owner]) => owner),
  };
}
