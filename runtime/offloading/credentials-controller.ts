import {
  EventReason,
  Finalizer,
  Identity,
  kubeconfigSecretName,
  Label,
  Secret,
  type VirtualNode,
} from "../api";
import {
  type Controller,
  exceptStatus,
  hasFinalizer,
  type Informer,
  isDeleting,
  keyOfRef,
  runController,
  watches,
  withFinalizer,
  withoutFinalizer,
} from "../kube";
import type { OffloadingContext } from "./context";

import type { ConsumerCaches } from "./consumer-caches";

const BY_SECRET = "secret";

/** Holds the credentials of slices for the virtual nodes that use them, whatever becomes of the slice. */
export function credentialsController(context: OffloadingContext, caches: ConsumerCaches): Controller {
  const { client, events } = context;
  // Those that we make of Identities: a Secret of a user's own is not ours to hold.
  const secrets = context.informers.informer(Secret, { labelSelector: Label.remoteClusterID });
  const identities: Informer<Identity> = context.informers.informer(Identity);
  identities.addIndex(BY_SECRET, secretOfIdentity);
  caches.virtualNodes.addIndex(BY_SECRET, secretOfNode);
  return runController(
    {
      name: "slice-credentials",
      sources: [
        watches(secrets, { when: ({ object }) => isOfSlice(object) }),
        watches(caches.virtualNodes, { keys: secretOfNode, when: exceptStatus }),
        watches(identities, { keys: secretOfIdentity, when: exceptStatus }),
      ],
      objectOf: (key) => secrets.getByKey(key),
      reconcile: async (key) => {
        const secret = secrets.getByKey(key);
        if (secret === undefined || !isOfSlice(secret)) return;
        const users = caches.virtualNodes.byIndex(BY_SECRET, key).map(({ metadata }) => metadata.name);
        const step = decideCredentials({
          deleting: isDeleting(secret),
          held: hasFinalizer(secret, Finalizer.virtualNode),
          users,
          madeAgain: identities.byIndex(BY_SECRET, key).some((identity) => !isDeleting(identity)),
        });
        if (step === "hold") await withFinalizer(client, Secret, secret, Finalizer.virtualNode);
        if (step === "release") await withoutFinalizer(client, Secret, secret, Finalizer.virtualNode);
        if (step === "tell") events.warning(secret, EventReason.credentialsHeld, heldMessage(users));
      },
    },
    context,
  );
}

/** Key of the Secret that an Identity becomes. */
function secretOfIdentity({ metadata: { name, namespace } }: Identity): string[] {
  return [keyOfRef({ name: kubeconfigSecretName(name), namespace })];
}

/** Key of the Secret that a virtual node reaches its provider with. */
function secretOfNode({ metadata, spec }: VirtualNode): string[] {
  const name = spec.kubeconfigSecretRef?.name;
  return name ? [keyOfRef({ name, namespace: metadata.namespace })] : [];
}

function isOfSlice({ metadata }: Secret): boolean {
  return metadata.labels?.[Label.identityType] === "ResourceSlice";
}

function heldMessage(users: readonly string[]): string {
  const nodes = [...users].sort().join(", ");
  return (
    `kept until no virtual node uses it: ${nodes}. Their grant is gone with the slice, and no new pod starts there; ` +
    "delete them (liqoctl delete virtualnode), or create the slice again under its name"
  );
}

/** What is known of the Secret with a slice's credentials. */
export interface CredentialsFacts {
  deleting: boolean;
  /** Whether it has our finalizer. */
  held: boolean;
  /** Names of the virtual nodes that use it. */
  users: readonly string[];
  /** Whether its Identity is there to stay, and would have it made again. */
  madeAgain: boolean;
}

/** `tell`: it is held though somebody wants it gone. */
export type CredentialsStep = "hold" | "release" | "tell" | "nothing";

/**
 * Credentials outlive their slice for as long as a virtual node uses them: without them nobody could take its pods from the provider. A Secret that
 * its Identity makes again is not held, or it would never come back.
 */
export function decideCredentials({ deleting, held, users, madeAgain }: CredentialsFacts): CredentialsStep {
  const used = users.length > 0;
  if (!deleting) return used === held ? "nothing" : used ? "hold" : "release";
  if (!held) return "nothing";
  return used && !madeAgain ? "tell" : "release";
}
