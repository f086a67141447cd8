import { NamespaceMap, NamespaceOffloading } from "../../api";
import { Label } from "../../api/keys";
import type { RuntimeContext } from "../../kube";
import { Peer, type PeerIdentity } from "./peer";

/** The providers of the virtual nodes that are hosted here; nodes of the same tenant namespace and provider share one. */
export class Peers {
  private readonly shared = new Map<string, { peer: Peer; users: number }>();

  constructor(
    private readonly context: RuntimeContext,
    private readonly consumerId: string,
    /** Told of peers that come and go. */
    private readonly listener: { opened(peer: Peer): void; closed(peer: Peer): void },
  ) {}

  /** Give it back with {@link release}. */
  take(identity: PeerIdentity): Peer {
    const key = keyOf(identity);
    let shared = this.shared.get(key);
    if (shared === undefined) {
      const { informers } = this.context;
      const sources = {
        maps: informers.informer(NamespaceMap, { labelSelector: Label.remoteClusterID }),
        offloadings: informers.informer(NamespaceOffloading),
      };
      const pair = { origin: this.consumerId, destination: identity.clusterId };
      shared = { peer: new Peer(this.context, identity, pair, sources), users: 0 };
      this.shared.set(key, shared);
      this.listener.opened(shared.peer);
    }
    shared.users += 1;
    return shared.peer;
  }

  release(peer: Peer): void {
    const key = keyOf(peer.identity);
    const shared = this.shared.get(key);
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users > 0) return;
    this.shared.delete(key);
    this.listener.closed(peer);
    peer.close();
  }
}

function keyOf({ namespace, clusterId }: PeerIdentity): string {
  return `${namespace}/${clusterId}`;
}
