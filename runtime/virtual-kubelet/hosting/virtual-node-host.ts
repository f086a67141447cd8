import type { VirtualNode } from "../../api";
import { Lease } from "../../api/kubernetes";
import { type Controller, keyOf, type Outcome, refOfKey, runController, watches } from "../../kube";
import { leaseTiming } from "../settings/flags";
import { surplus } from "./replicas";
import { HostedNode } from "./hosted-node";
import type { Services } from "./node-dependencies";

/** How long a node that was given up is not given up again, in milliseconds. */
const OFFERED_MS = 600_000;

interface Claim {
  /** What cannot change while the node is hosted. */
  terms: string;
  end: AbortController;
  /** Resolves when the lease was given back. */
  ended: Promise<void>;
}

/**
 * Hosts virtual nodes. Replicas share them by a Lease for each node, named after it, in its tenant namespace: the holder of the Lease hosts the node
 * (offloading reference 6.2).
 */
export class VirtualNodeHost {
  private readonly claims = new Map<string, Claim>();
  private readonly hosted = new Map<string, HostedNode>();
  private readonly controller: Controller;
  /** Nodes left to another replica: until when this one does not compete for their leases, on the monotonic clock. */
  private readonly resting = new Map<string, number>();
  /** Nodes left to others lately, which perhaps nobody took: they are not given up again before {@link OFFERED_MS}. */
  private readonly offered = new Set<string>();

  constructor(
    private readonly services: Services,
    /** Told when a node is hosted. */
    private readonly onHosted: (node: HostedNode) => void,
  ) {
    const { context, caches } = services;
    this.controller = runController(
      {
        name: "virtual-node-host",
        sources: [watches(caches.virtualNodes)],
        reconcile: (key) => this.reconcile(key),
      },
      context,
    );
  }

  /** The virtual nodes that this process hosts at present. */
  get nodes(): readonly HostedNode[] {
    return [...this.hosted.values()];
  }

  get started(): boolean {
    return this.controller.started;
  }

  /** Gives up what is beyond this replica's share of the nodes. */
  share(replicas: number): void {
    const { context, caches, flags } = this.services;
    const total = caches.virtualNodes.list().filter((node) => this.isMine(keyOf(node))).length;
    const restMs = 6 * flags.vkLeaseRetryPeriod;
    for (const key of surplus([...this.hosted.keys()], total, replicas, this.offered)) {
      context.log.info("virtual node is left to another replica", { virtualNode: key });
      this.resting.set(key, context.clock.monotonic() + restMs);
      this.controller.enqueue(key);
    }
  }

  private isResting(key: string): boolean {
    const until = this.resting.get(key);
    if (until === undefined) return false;
    if (this.services.context.clock.monotonic() < until) return true;
    this.resting.delete(key);
    this.offered.add(key);
    this.services.context.clock.after(OFFERED_MS, () => this.offered.delete(key));
    return false;
  }

  private async reconcile(key: string): Promise<Outcome> {
    const virtualNode = this.services.caches.virtualNodes.getByKey(key);
    const claim = this.claims.get(key);
    const wanted =
      virtualNode !== undefined && this.isMine(key) && !isLetGo(virtualNode) && !this.isResting(key);
    const terms = virtualNode === undefined ? "" : termsOf(virtualNode);
    if (claim !== undefined && (!wanted || claim.terms !== terms)) {
      claim.end.abort();
      await claim.ended;
      this.claims.delete(key);
    }
    if (virtualNode === undefined) return await this.forget(key);
    if (wanted && terms !== "" && !this.claims.has(key)) this.claims.set(key, this.claim(key, terms));
    const until = this.resting.get(key);
    if (until !== undefined) return { requeueAfterMs: until - this.services.context.clock.monotonic() + 1 };
  }

  private isMine(key: string): boolean {
    const { virtualNode } = this.services.flags;
    return virtualNode === "" || virtualNode === key;
  }

  private claim(key: string, terms: string): Claim {
    const { context, flags } = this.services;
    const { namespace = "", name } = refOfKey(key);
    const end = new AbortController();
    const { ended } = context.elections.stand({
      lease: { name, namespace },
      identity: flags.podName,
      ...leaseTiming(flags),
      onElected: ({ signal }) => this.host(key, signal),
      until: end.signal,
    });
    return { terms, end, ended };
  }

  private host(key: string, term: AbortSignal): void {
    const virtualNode = this.services.caches.virtualNodes.getByKey(key);
    if (virtualNode === undefined) return;
    const node = new HostedNode(this.services, virtualNode, term);
    this.hosted.set(key, node);
    term.addEventListener("abort", () => this.hosted.delete(key), { once: true });
    this.onHosted(node);
  }

  /** Deletes the Lease of a virtual node that is gone. */
  private async forget(key: string): Promise<void> {
    const { client } = this.services.context;
    const { namespace = "", name } = refOfKey(key);
    const lease = await client.get(Lease, { namespace, name });
    if (lease === undefined || lease.spec.holderIdentity) return;
    const { uid, resourceVersion } = lease.metadata;
    await client.delete(Lease, { namespace, name }, { uid, resourceVersion });
  }
}

/** The virtual node is being removed and its pods have left: the Node may go. */
function isLetGo({ metadata, status }: VirtualNode): boolean {
  const condition = status?.conditions?.find(({ type }) => type === "VirtualKubelet");
  return metadata.deletionTimestamp != null && condition?.status === "Deleting";
}

/** Empty where the virtual node does not say whom it stands for. */
function termsOf({ spec }: VirtualNode): string {
  const { clusterID = "", kubeconfigSecretRef } = spec;
  const secret = kubeconfigSecretRef?.name ?? "";
  return clusterID === "" || secret === "" ? "" : `${clusterID}/${secret}`;
}
