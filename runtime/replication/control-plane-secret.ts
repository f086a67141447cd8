import {
  Annotation,
  DataKey,
  Finalizer,
  Identity,
  kubeconfigSecretName,
  Namespace,
  type Secret,
} from "../api";
import {
  exceptStatus,
  type Informer,
  type InformerSet,
  keyOfRef,
  type KubeClient,
  type Source,
  watches,
} from "../kube";
import type { Replicable } from "./copy";

/** The control-plane Secrets of one peer, sorted by what they are good for. */
interface IdentityChoice {
  /** Replicate with this one. */
  use: Secret | undefined;
  /** Being deleted, and held back by us until nothing is left to clean up with it. */
  leaving: Secret[];
  /** Not usable, and why. */
  faulty: { secret: Secret; message: string }[];
}

/**
 * Chooses the Secret to replicate with (control plane reference 11.2): exactly one must be there. With several, the one in use stays in use.
 *
 * @param usedUid of the Secret in use
 */
export function chooseIdentity(secrets: readonly Secret[], usedUid: string | undefined): IdentityChoice {
  const held = ({ metadata }: Secret) => metadata.finalizers?.includes(Finalizer.replicator) === true;
  const leaving = secrets.filter((secret) => secret.metadata.deletionTimestamp && held(secret));
  const present = secrets.filter(({ metadata }) => !metadata.deletionTimestamp);
  const faulty: IdentityChoice["faulty"] = [];
  const usable: Secret[] = [];
  for (const secret of present) {
    const message = faultOf(secret);
    if (message === undefined) usable.push(secret);
    else faulty.push({ secret, message });
  }
  if (usable.length <= 1) return { use: usable[0] ?? usableLeaving(leaving, usedUid), leaving, faulty };
  const names = usable.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();
  for (const secret of usable) {
    faulty.push({
      secret,
      message: `the peer has ${usable.length} control-plane Secrets (${names.join(", ")}), exactly one is needed; delete the others`,
    });
  }
  return { use: usable.find(({ metadata }) => metadata.uid === usedUid), leaving, faulty };
}

/** With no other left, the Secret that is being deleted still serves to clean up. */
function usableLeaving(leaving: readonly Secret[], usedUid: string | undefined): Secret | undefined {
  const usable = leaving.filter((secret) => faultOf(secret) === undefined);
  return usable.find(({ metadata }) => metadata.uid === usedUid) ?? usable[0];
}

function faultOf({ metadata, data }: Secret): string | undefined {
  if (!metadata.annotations?.[Annotation.remoteTenantNamespace]) {
    return `annotation ${Annotation.remoteTenantNamespace} is missing; give it this cluster's tenant namespace at the peer`;
  }
  if (!data?.[DataKey.kubeconfig])
    return `data.${DataKey.kubeconfig} is missing; put a kubeconfig for the peer there`;
  return undefined;
}

const bySecret = "secret";

/** The Identities that control-plane Secrets are made from. */
export class SecretMakers {
  private readonly identities: Informer<Identity>;

  constructor(
    informers: InformerSet,
    private readonly client: KubeClient,
  ) {
    this.identities = informers.informer(Identity);
    this.identities.addIndex(bySecret, ({ metadata, spec }) =>
      spec.type === "ControlPlane"
        ? [keyOfRef({ name: kubeconfigSecretName(metadata.name), namespace: metadata.namespace })]
        : [],
    );
  }

  /** Peers whose control-plane Identity came, went or changed. */
  changes(): Source {
    return watches(this.identities, {
      keys: ({ spec: { type, clusterID } }) =>
        type === "ControlPlane" && clusterID !== undefined && clusterID !== "" ? [clusterID] : [],
      when: exceptStatus,
    });
  }

  /**
   * Whether a Secret would be made again, were it gone: its Identity is there to stay, and its namespace too. Asked of the API server, because a
   * cache may not know yet of a deletion that came before the Secret's.
   */
  async makeAgain({ metadata }: Secret): Promise<boolean> {
    const [maker] = this.identities.byIndex(bySecret, keyOfRef(metadata));
    if (maker === undefined || maker.metadata.deletionTimestamp) return false;
    const found = await Promise.all([
      this.client.get(Identity, maker.metadata),
      this.client.get(Namespace, { name: metadata.namespace ?? "" }),
    ]);
    return found.every((object) => object !== undefined && !object.metadata.deletionTimestamp);
  }
}

/** How many objects a message names. */
const NAMED = 5;

/**
 * What the deletion of a peer's control-plane Secret waits for, and the way out; undefined where it is under way by itself.
 *
 * @param sources what is left of the objects that are copied to the peer
 * @param silent whether the peer is known not to answer
 */
export function waitingMessage(
  clusterId: string,
  sources: readonly Replicable[],
  silent: boolean,
): string | undefined {
  const staying = sources.filter(({ metadata }) => !metadata.deletionTimestamp);
  if (staying.length > 0)
    return `is being deleted, and kept for as long as objects are copied to cluster "${clusterId}" by it: ${listed(staying)}; delete them to end the peering ("liqoctl unpeer" does), or make the Identity, or another such Secret, to go on`;
  if (!silent) return undefined;
  const left = sources.length > 0 ? ` of ${listed(sources)}` : "";
  return `is being deleted, and kept until the copies${left} at cluster "${clusterId}" are gone, which does not answer; it goes on by itself when it does; for a cluster that is gone for good there is "liqoctl force unpeer"`;
}

function listed(objects: readonly Replicable[]): string {
  const names = objects
    .map(({ kind, metadata }) => `${kind} "${metadata.namespace}/${metadata.name}"`)
    .sort();
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
