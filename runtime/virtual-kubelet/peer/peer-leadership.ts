import type { VirtualNode } from "../../api";
import { Name } from "../../api/keys";
import type { Informer, LeaderElectionOptions, RuntimeContext } from "../../kube";
import type { Peer } from "./peer";

interface Parts {
  context: RuntimeContext;
  peer: Peer;
  virtualNodes: Informer<VirtualNode>;
  /** Tells this replica from the others. */
  identity: string;
  timing: Pick<LeaderElectionOptions, "leaseDurationMs" | "renewDeadlineMs" | "retryMs" | "renewMs">;
  lead: (term: AbortSignal) => void;
}

/**
 * Who reflects what is bound to no virtual node. With one virtual node in the tenant namespace its host leads, and no lease is spent on it; several
 * may have several hosts, who elect one.
 */
export class PeerLeadership {
  private readonly closing = new AbortController();
  private readonly unsubscribe: () => void;
  private mode: { alone: boolean; end: AbortController } | undefined;

  constructor(private readonly parts: Parts) {
    const { virtualNodes, context } = parts;
    const look = () => this.look();
    this.unsubscribe = virtualNodes.on({ added: look, updated: look, deleted: look });
    context.signal.addEventListener("abort", this.close, { once: true });
  }

  readonly close = (): void => {
    this.unsubscribe();
    this.parts.context.signal.removeEventListener("abort", this.close);
    this.closing.abort();
    this.mode?.end.abort();
  };

  /** To be called when a node of the peer was joined, too: before there is none to read settings of. */
  look(): void {
    const { virtualNodes, peer, lead } = this.parts;
    if (this.closing.signal.aborted || peer.hosted.length === 0) return;
    const { namespace, clusterId } = peer.identity;
    const nodes = virtualNodes
      .list()
      .filter(({ metadata, spec }) => metadata.namespace === namespace && spec.clusterID === clusterId);
    const alone = nodes.length <= 1;
    if (this.mode?.alone === alone) return;
    this.mode?.end.abort();
    const end = new AbortController();
    this.mode = { alone, end };
    if (alone) lead(end.signal);
    else this.stand(end.signal);
  }

  private stand(end: AbortSignal): void {
    const { context, peer, identity, timing, lead } = this.parts;
    context.elections.stand({
      lease: { name: Name.reflectionLease, namespace: peer.identity.namespace },
      identity,
      onElected: ({ signal }) => lead(signal),
      ...timing,
      until: end,
    });
  }
}
