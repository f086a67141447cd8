import {
  Annotation,
  DataKey,
  type Desired,
  EventReason,
  Identity,
  kubeconfigSecretName,
  Label,
  Secret,
} from "../api";
import {
  buildKubeconfig,
  CertificateError,
  KeyError,
  KubeconfigError,
  parseCertificate,
  parseKubeconfig,
  publicKeyDer,
  publicKeyOf,
  readPrivateKey,
} from "../identity";
import {
  controlledBy,
  type Controller,
  exceptStatus,
  keyOf,
  ownedBy,
  patchStatusIfChanged,
  runController,
  Terminal,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../kube";
import { clusterKeyPair } from "./cluster-keys";
import type { AuthenticationContext } from "./context";

/** At the consumer: makes a kubeconfig Secret of each Identity (control plane reference 6.4). */
export function runIdentityController({ runtime, caches, options }: AuthenticationContext): Controller {
  const { identities, peerSecrets, clusterKeys } = caches;
  /** The key in use of each Identity. The Secret holds the only other copy of a replaced key, and somebody may delete it. */
  const remembered = new Map<string, string>();

  /** The key that an identity's certificate is for: the cluster's, or after a rotation the one in the Secret. */
  function privateKeyFor(identity: Identity, existing: Secret | undefined): string {
    const { privateKey } = clusterKeyPair(clusterKeys);
    const key = keyOf(identity);
    const signed = identity.spec.authParams?.signedCRT;
    if (!signed) return privateKey;
    const wanted = certifiedKey(signed);
    for (const candidate of [privateKey, keptKey(existing), remembered.get(key)]) {
      if (candidate === undefined || !publicKeyDer(publicKeyOf(candidate)).equals(wanted)) continue;
      remembered.set(key, candidate);
      return candidate;
    }
    throw new Terminal(
      EventReason.authParamsUpdateFailed,
      "spec.authParams.signedCRT is for another key than this cluster's; authenticate with the provider again",
    );
  }

  return runController(
    {
      name: "identity",
      sources: [
        watches(identities, { when: exceptStatus }),
        watches(peerSecrets, { keys: ownedBy("Identity") }),
        watches(clusterKeys, { keys: () => identities.list().map(keyOf) }),
      ],
      objectOf: (key) => identities.getByKey(key),
      reconcile: async (key) => {
        const identity = identities.getByKey(key);
        if (identity === undefined) remembered.delete(key);
        if (identity === undefined || identity.metadata.deletionTimestamp) return;
        const name = kubeconfigSecretName(identity.metadata.name);
        const existing = peerSecrets.get(name, identity.metadata.namespace);
        const desired = kubeconfigSecret(identity, privateKeyFor(identity, existing));
        const { object, change } = await writeIfChanged(
          runtime.client,
          Secret,
          withGlobalMetadata(desired, options.global),
          existing,
        );
        if (change !== "none") {
          runtime.events.normal(object, EventReason.kubeconfigEnsured, "Kubeconfig ensured");
        }
        await patchStatusIfChanged(runtime.client, Identity, identity, { kubeconfigSecretRef: { name } });
      },
    },
    runtime,
  );
}

/** The public key that a certificate is for. @throws Terminal where it is no certificate */
function certifiedKey(signedCRT: string): Buffer {
  try {
    return publicKeyDer(parseCertificate(Buffer.from(signedCRT, "base64")).publicKey);
  } catch (error) {
    if (!(error instanceof CertificateError || error instanceof KeyError)) throw error;
    throw new Terminal(
      EventReason.authParamsUpdateFailed,
      `spec.authParams.signedCRT: ${error.message}; copy authParams from the provider's Tenant or ResourceSlice`,
    );
  }
}

/** The key in the Secret as it is; undefined where none can be read. The Secret is about to be rewritten anyway. */
function keptKey(secret: Secret | undefined): string | undefined {
  const kubeconfig = Buffer.from(secret?.data?.[DataKey.kubeconfig] ?? "", "base64").toString("utf8");
  try {
    const kept = kubeconfig === "" ? undefined : parseKubeconfig(kubeconfig).privateKey;
    if (kept !== undefined) readPrivateKey(kept);
    return kept;
  } catch (error) {
    if (error instanceof KubeconfigError || error instanceof KeyError) return undefined;
    throw error;
  }
}

/**
 * The Secret that an Identity becomes (control plane reference 4.4).
 *
 * @param privateKey PEM of the key that the identity's certificate is for.
 * @throws Error naming the field of the Identity that is missing.
 */
export function kubeconfigSecret(identity: Identity, privateKey: string): Desired<Secret> {
  const { clusterID, type, namespace, authParams } = identity.spec;
  if (clusterID === undefined) throw missing("spec.clusterID", "give the provider's cluster ID");
  if (type === undefined) throw missing("spec.type", "write ControlPlane or ResourceSlice");
  if (authParams?.apiServer === undefined) {
    throw missing("spec.authParams.apiServer", "copy authParams from the provider's Tenant or ResourceSlice");
  }
  const remoteNamespace = type === "ControlPlane" && namespace ? namespace : undefined;
  const { signedCRT, awsConfig } = authParams;
  if (!signedCRT && awsConfig === undefined) {
    throw missing("spec.authParams.signedCRT", "copy authParams from the provider's Tenant or ResourceSlice");
  }
  const decode = (bytes: string | undefined) => Buffer.from(bytes ?? "", "base64");
  const kubeconfig = buildKubeconfig({
    providerClusterId: clusterID,
    identityName: identity.metadata.name,
    server: authParams.apiServer,
    // EKS hands out its CA in base64, and that is what was encoded once more.
    ca: awsConfig === undefined ? decode(authParams.ca) : decode(decode(authParams.ca).toString("utf8")),
    ...(awsConfig === undefined && { certificate: decode(signedCRT), privateKey }),
    ...(authParams.proxyURL ? { proxyUrl: authParams.proxyURL } : {}),
    ...(remoteNamespace === undefined ? {} : { namespace: remoteNamespace }),
  });
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: kubeconfigSecretName(identity.metadata.name),
      namespace: identity.metadata.namespace,
      labels: { [Label.remoteClusterID]: clusterID, [Label.identityType]: type },
      ...(remoteNamespace === undefined
        ? {}
        : { annotations: { [Annotation.remoteTenantNamespace]: remoteNamespace } }),
      ownerReferences: [controlledBy(identity)],
    },
    type: "Opaque",
    data: Object.fromEntries(
      Object.entries({
        [DataKey.kubeconfig]: kubeconfig,
        ...(awsConfig && {
          [DataKey.awsAccessKeyID]: awsConfig.awsAccessKeyID,
          [DataKey.awsSecretAccessKey]: awsConfig.awsSecretAccessKey,
          [DataKey.awsRegion]: awsConfig.awsRegion,
          [DataKey.awsEksClusterID]: awsConfig.awsClusterName,
          [DataKey.awsIamUserArn]: awsConfig.awsUserArn,
        }),
      }).map(([name, value]) => [name, Buffer.from(value).toString("base64")]),
    ),
  };
}

function missing(field: string, wayOut: string): Error {
  return new Error(`${field} is missing; ${wayOut}`);
}
