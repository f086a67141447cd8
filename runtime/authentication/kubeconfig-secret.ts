import {
  Annotation,
  DataKey,
  type Desired,
  type Identity,
  kubeconfigSecretName,
  Label,
  type Secret,
} from "../api";
import { buildKubeconfig } from "../identity";
import { controlledBy } from "../kube";

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
