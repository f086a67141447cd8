import { Annotation, DataKey, Finalizer, type Secret } from "../api";

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
