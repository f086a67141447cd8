import { type Desired, EventReason, Identity, Label, LabelValue, Renew } from "../api";
import { controlPlaneSubject, createCertificateRequest, parseCertificate, samePublicKey } from "../identity";
import {
  controlledBy,
  type Controller,
  controllerOf,
  exceptStatus,
  keyOf,
  type Outcome,
  ownedBy,
  runController,
  watches,
  writeIfChanged,
} from "../kube";
import { isCopy } from "../plan/replication";
import type { AuthenticationContext } from "./authentication-context";
import { clusterKeyPair } from "./cluster-keys";

/** A Renew that is deleted is gone by then, with its copy at the provider. */
const MADE_AGAIN_MS = 1_000;

/**
 * At the consumer: keeps a Renew beside each control-plane Identity, the mailbox in whose status the provider puts renewed credentials, and
 * takes them from there (control plane reference 8.2). After a rotation of the cluster's keys the Renew carries the new key there, too.
 */
export function runLocalRenewer({ runtime, caches, options }: AuthenticationContext): Controller {
  const { identities, renews, clusterKeys } = caches;
  return runController(
    {
      name: "renew_local",
      sources: [
        watches(identities, { when: (event) => isControlPlane(event.object) && exceptStatus(event) }),
        watches(renews, { keys: ownedBy("Identity") }),
        watches(clusterKeys, { keys: () => identities.list().filter(isControlPlane).map(keyOf) }),
      ],
      objectOf: (key) => identities.getByKey(key),
      reconcile: async (key) => {
        const identity = identities.getByKey(key);
        if (identity === undefined || !isControlPlane(identity) || identity.metadata.deletionTimestamp)
          return;
        const observed = renews.get(identity.metadata.name, identity.metadata.namespace);
        if (observed !== undefined && controllerOf(observed)?.uid !== identity.metadata.uid)
          return await disown(observed, identity);
        const replacement = replacementKey(identity, observed);
        if (replacement !== undefined && observed?.spec.csr === undefined) {
          runtime.events.normal(
            identity,
            EventReason.keyRotationAsked,
            "The cluster's keys were rotated; asking the provider for a certificate of the new one",
          );
        }
        const { object: renew } = await writeIfChanged(
          runtime.client,
          Renew,
          renewOf(identity, options.clusterId, replacement),
          observed,
          { exact: ["spec"] },
        );
        const authParams = renew.status?.authParams;
        if (!authParams?.signedCRT || authParams.signedCRT === identity.spec.authParams?.signedCRT) return;
        try {
          await writeIfChanged(
            runtime.client,
            Identity,
            {
              apiVersion: "authentication.liqo.io/v1beta1",
              kind: "Identity",
              metadata: { name: identity.metadata.name, namespace: identity.metadata.namespace },
              spec: { authParams },
            },
            identity,
            { exact: ["spec.authParams"], lock: "always" },
          );
        } catch (error) {
          runtime.events.warning(
            identity,
            EventReason.authParamsUpdateFailed,
            error instanceof Error ? error.message : String(error),
          );
          throw error;
        }
        runtime.events.normal(identity, EventReason.processing, "Renewed credentials taken over");
      },
    },
    runtime,
  );

  /**
   * A Renew of that name that is not this Identity's brings credentials that nobody here asked for: none of it is taken. A peer's copy is the
   * peer's; anything else goes, and the Identity's own takes its place.
   */
  async function disown(renew: Renew, identity: Identity): Promise<Outcome> {
    if (isCopy(renew)) {
      runtime.events.warning(
        identity,
        EventReason.replicationConflict,
        `Renew "${keyOf(renew)}" is a copy that cluster "${renew.metadata.labels?.[Label.replicationOrigin] ?? ""}" made, and this Identity needs one of that name for its renewed credentials; delete it, and the role binding by which that cluster makes it again`,
      );
      return;
    }
    if (!renew.metadata.deletionTimestamp)
      await runtime.client.delete(Renew, renew.metadata, { uid: renew.metadata.uid });
    return { requeueAfterMs: MADE_AGAIN_MS };
  }

  /** What the provider is to put in place of the key that the identity's certificate is for; undefined where that is the cluster's. */
  function replacementKey(
    identity: Identity,
    renew: Renew | undefined,
  ): Pick<Renew["spec"], "publicKey" | "csr"> | undefined {
    const signed = identity.spec.authParams?.signedCRT;
    if (!signed) return undefined;
    const { privateKey, publicKey } = clusterKeyPair(clusterKeys);
    if (samePublicKey(parseCertificate(Buffer.from(signed, "base64")).publicKey, publicKey)) return undefined;
    const asked = renew?.spec;
    // ECDSA never signs a request the same way twice.
    if (asked?.csr && asked.publicKey === base64(publicKey))
      return { publicKey: asked.publicKey, csr: asked.csr };
    const csr = createCertificateRequest(controlPlaneSubject(options.clusterId), privateKey);
    return { publicKey: base64(publicKey), csr: base64(csr) };
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function isControlPlane(identity: Identity): boolean {
  return identity.spec.type === "ControlPlane";
}

function renewOf(
  identity: Identity,
  consumer: string,
  replacement: Pick<Renew["spec"], "publicKey" | "csr"> | undefined,
): Desired<Renew> {
  const provider = identity.spec.clusterID ?? "";
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Renew",
    metadata: {
      name: identity.metadata.name,
      namespace: identity.metadata.namespace,
      labels: {
        [Label.replication]: LabelValue.true,
        [Label.replicationDestination]: provider,
        [Label.remoteClusterID]: provider,
      },
      ownerReferences: [controlledBy(identity)],
    },
    spec: { consumerClusterID: consumer, identityType: "ControlPlane", ...replacement },
  };
}
