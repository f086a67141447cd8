import { type Desired, EventReason, Identity, Label, LabelValue, Renew } from "../api";
import { controlledBy, type Controller, exceptStatus, runController, watches, writeIfChanged } from "../kube";
import type { AuthenticationContext } from "./authentication-context";
import { ownedBy } from "./owned-by";

/**
 * At the consumer: keeps a Renew beside each control-plane Identity, the mailbox in whose status the provider puts renewed credentials, and
 * takes them from there (control plane reference 8.2).
 */
export function runLocalRenewer({ runtime, caches, options }: AuthenticationContext): Controller {
  const { identities, renews } = caches;
  return runController(
    {
      name: "renew_local",
      sources: [
        watches(identities, { when: (event) => isControlPlane(event.object) && exceptStatus(event) }),
        watches(renews, { keys: ownedBy("Identity") }),
      ],
      objectOf: (key) => identities.getByKey(key),
      reconcile: async (key) => {
        const identity = identities.getByKey(key);
        if (identity === undefined || !isControlPlane(identity) || identity.metadata.deletionTimestamp)
          return;
        const { object: renew } = await writeIfChanged(
          runtime.client,
          Renew,
          renewOf(identity, options.clusterId),
          renews.get(identity.metadata.name, identity.metadata.namespace),
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
}

function isControlPlane(identity: Identity): boolean {
  return identity.spec.type === "ControlPlane";
}

function renewOf(identity: Identity, consumer: string): Desired<Renew> {
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
    spec: { consumerClusterID: consumer, identityType: "ControlPlane" },
  };
}
