import { EventReason, Finalizer, Label, Network } from "../api";
import {
  type Controller,
  exceptStatus,
  isDeleting,
  keyOf,
  patchStatusIfChanged,
  type ReconcileRun,
  runController,
  Terminal,
  watches,
  withFinalizer,
  withoutFinalizer,
} from "../kube";
import { AllocationError } from "./ipam";
import { type Cidr, formatCidr } from "./cidr";
import { bySeniority, isPreinstalled, networkClaimOf, requestOf } from "./claims";
import type { IpamContext } from "./ipam-context";
import { missingBefore, stageOf } from "./network-stage";
import { unusableReason } from "./pools";

/**
 * Gives every Network its range (networking reference 7, step 5).
 *
 * The range is decided in memory, before the first write: in the order of the queue, however long writes take. A Network keeps its range as long as
 * it exists, so nobody else gets it while finalizers, and what they wait for, are still there.
 */
export function runNetworkController(context: IpamContext): Controller {
  const { runtime, caches } = context;
  const { networks } = caches;
  const waiting = () =>
    networks
      .list()
      .filter(({ status }) => !status?.cidr)
      .map(keyOf);
  return runController(
    {
      name: "network",
      sources: [
        watches(networks, { when: (event) => exceptStatus(event) || !sameStatus(event) }),
        // A Network may wait for another one to be created or deleted.
        watches(networks, { keys: waiting, when: ({ type }) => type !== "updated" }),
      ],
      objectOf: (key) => networks.getByKey(key),
      reconcile: (key, run) => reconcile(context, key, run),
    },
    runtime,
  );
}

function sameStatus(event: { type: string; before?: Network; object: Network }): boolean {
  return event.before?.status?.cidr === event.object.status?.cidr;
}

async function reconcile(context: IpamContext, key: string, run: ReconcileRun): Promise<void> {
  const { runtime, caches } = context;
  const network = caches.networks.getByKey(key);
  if (network === undefined) return;
  if (isDeleting(network)) {
    await withoutFinalizer(runtime.client, Network, network, Finalizer.network);
    return;
  }
  const missing = network.status?.cidr ? [] : missingBefore(network, caches.networks.list());
  if (missing.length > 0) {
    run.log.info("network waits for the networks of the installation", { missing });
    // While a cluster is installed, its own come one after the other.
    if (!isPreinstalled(network)) {
      runtime.events.warning(network, EventReason.networksMissing, missingMessage(missing));
    }
    return;
  }
  const cidr = decide(context, network);
  const held = isPreinstalled(network)
    ? network
    : await withFinalizer(runtime.client, Network, network, Finalizer.network);
  await patchStatusIfChanged(runtime.client, Network, held, { cidr: formatCidr(cidr) });
}

function missingMessage(missing: readonly string[]): string {
  return (
    `no range yet: the installation has no Network labelled ${Label.networkType}=${missing.join(" and none labelled ")}; ` +
    "install the networking of this cluster, or, where somebody deleted them, make them again (pulumi up --refresh)"
  );
}

/** The network's range: the one that it has, or a new one once all those of earlier stages have theirs. */
function decide(context: IpamContext, network: Network): Cidr {
  const earlier = context.caches.networks
    .list()
    .filter((other) => stageOf(other) < stageOf(network) && !isDeleting(other))
    .sort((a, b) => stageOf(a) - stageOf(b) || bySeniority(a, b));
  for (const other of earlier) {
    try {
      claim(context, other);
    } catch {
      // Its own reconcile says so.
    }
  }
  try {
    return claim(context, network);
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    throw new Terminal(error.reason, error.message, { cause: error });
  }
}

function claim({ ipam }: IpamContext, network: Network): Cidr {
  const given = networkClaimOf(network);
  if (given !== undefined) {
    ipam.adoptNetwork(keyOf(network), given);
    return given.cidr;
  }
  const request = requestOf(network);
  // Some reserve such ranges to be safe, which does no harm.
  const reason = stageOf(network) === 0 ? undefined : unusableReason(request.cidr);
  if (reason !== undefined) {
    throw new AllocationError("UnusableRange", `spec.cidr ${reason}; pods there cannot be reached`);
  }
  return ipam.acquireNetwork(keyOf(network), request);
}
