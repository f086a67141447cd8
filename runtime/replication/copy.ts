import {
  type DesiredMeta,
  Finalizer,
  type Kind,
  type KubeObject,
  Label,
  LabelValue,
  NamespaceMap,
  Renew,
  ResourceSlice,
} from "../api";
import { isRecord } from "../api/invalid-object";
import { semanticallyEqual } from "../kube";

/** An object of a replicated kind, seen as what is copied: the spec towards the peer, the status back. */
export interface Replicable extends KubeObject {
  spec: unknown;
  status?: unknown;
}

/** Which clusters a copy connects. */
export interface Route {
  /** Cluster ID of the source's side. */
  localClusterId: string;
  /** Cluster ID of the copy's side. */
  remoteClusterId: string;
  /** Where the copies are at the peer. */
  remoteNamespace: string;
}

/**
 * Metadata of the copy of a source (control plane reference 11.4): the source's labels and annotations plus where it comes from; no
 * owners, no finalizers. Peers select on exactly these labels.
 */
export function copyMetadata(source: Replicable, route: Route): DesiredMeta {
  const { [Label.replicationOwnership]: _ownership, ...labels } = source.metadata.labels ?? {};
  return {
    name: source.metadata.name,
    namespace: route.remoteNamespace,
    labels: {
      ...labels,
      [Label.replication]: LabelValue.false,
      [Label.replicated]: LabelValue.true,
      [Label.replicationOrigin]: route.localClusterId,
      [Label.remoteClusterID]: route.localClusterId,
    },
    ...(source.metadata.annotations === undefined ? {} : { annotations: { ...source.metadata.annotations } }),
  };
}

/** What is copied to providers. For all of them the spec goes there and the status comes back (control plane reference 11.1). */
export const replicatedKinds: readonly Kind<Replicable>[] = [ResourceSlice, Renew, NamespaceMap];

/** Key of an object of a replicated kind within one peer. */
export function replicaKey(kind: Kind<Replicable>, name: string): string {
  return `${kind.plural}/${name}`;
}

/** @throws Error for a key that {@link replicaKey} did not make */
export function readReplicaKey(key: string): { kind: Kind<Replicable>; name: string } {
  const slash = key.indexOf("/");
  const kind = replicatedKinds.find(({ plural }) => plural === key.slice(0, slash));
  if (kind === undefined) throw new Error(`"${key}" is not the key of a replicated object`);
  return { kind, name: key.slice(slash + 1) };
}

/** What there is of one name, on both sides. */
export interface Observed {
  source: Replicable | undefined;
  /** "unknown" while the peer's objects have not been listed. */
  copy: Replicable | undefined | "unknown";
  /** The operator has declared the peer dead: nothing is asked of it. */
  peerDead: boolean;
  /** Whether the copy already holds what the peer makes of this spec, though it reads differently (defaults of another version). */
  specSettled: boolean;
}

/** What to do, in this order. */
export interface Decision {
  /** Hold the source until its copy is gone. */
  addFinalizer: boolean;
  /** "delete-unseen": the copy may or may not be there; ask. "wait": nothing until the peer's objects are listed. */
  copy: "keep" | "create" | "update" | "delete" | "delete-unseen" | "wait";
  /** The status that the source is to take over from its copy; undefined where it has it. */
  pullStatus: Record<string, unknown> | undefined;
  /** Let the source go. */
  removeFinalizer: boolean;
}

const nothing: Decision = {
  addFinalizer: false,
  copy: "keep",
  pullStatus: undefined,
  removeFinalizer: false,
};

/** What one name of a replicated kind needs (control plane reference 11.4, 11.6). The source is one of this peer. */
export function decide({ source, copy, peerDead, specSettled }: Observed): Decision {
  if (source === undefined) return orphan(copy, peerDead);
  const held = source.metadata.finalizers?.includes(Finalizer.replicatedResource) === true;
  if (source.metadata.deletionTimestamp) {
    if (peerDead || !held) return { ...nothing, removeFinalizer: held };
    // A copy made a moment ago may not be in the cache, so its absence there proves nothing.
    if (copy === undefined || copy === "unknown") return { ...nothing, copy: "delete-unseen" };
    return { ...nothing, copy: copy.metadata.deletionTimestamp ? "keep" : "delete" };
  }
  const live = { ...nothing, addFinalizer: !held };
  if (peerDead || copy === "unknown") return { ...live, copy: "wait" };
  if (copy === undefined) return { ...live, copy: "create" };
  const sameSpec = specSettled || semanticallyEqual(source.spec, copy.spec);
  const status = statusFor(source, copy, sameSpec);
  return {
    ...live,
    // One that goes is not changed any more; what its cluster still says of it counts.
    copy: sameSpec || copy.metadata.deletionTimestamp ? "keep" : "update",
    pullStatus: semanticallyEqual(source.status ?? {}, status) ? undefined : status,
  };
}

/**
 * The copy's status as the source's. Generations count separately on both sides: the source's is answered when the copy has the same spec
 * and that is answered. Until then it stays what it was, and away where the peer tells of none.
 */
function statusFor(source: Replicable, copy: Replicable, sameSpec: boolean): Record<string, unknown> {
  const { observedGeneration: answered, ...status } = isRecord(copy.status) ? copy.status : {};
  if (answered === undefined) return status;
  const before = isRecord(source.status) ? source.status.observedGeneration : undefined;
  const observedGeneration =
    sameSpec && answered === copy.metadata.generation ? source.metadata.generation : before;
  return observedGeneration === undefined ? status : { ...status, observedGeneration };
}

function orphan(copy: Observed["copy"], peerDead: boolean): Decision {
  const present = copy !== undefined && copy !== "unknown" && !copy.metadata.deletionTimestamp;
  return present && !peerDead ? { ...nothing, copy: "delete" } : nothing;
}
