import { Label, Name, SecretType, WellKnownAnnotation } from "../api";
import { isRecord } from "../api/invalid-object";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";

/** Labels by which a Secret is taken for this cluster's own part as a consumer, and what follows from each. */
const STEERING: readonly [label: string, consequence: string][] = [
  [
    Label.identityType,
    "an identity at another cluster, by which this cluster would copy its objects wherever the Secret says",
  ],
  [Label.signedNonce, "a challenge of a provider, which this cluster would sign with its own key"],
];

/**
 * A peering user, who peers as a consumer and may make Secrets in its tenant namespace for that, makes none there that this cluster acts upon as a
 * consumer of its own, and none that Kubernetes fills with the token of a service account. The administrators of this cluster do.
 *
 * @see control plane reference 3.4, 5 and 17.2
 */
export function validatePeerSecret(request: AdmissionRequest): Verdict {
  const { object, groups } = request;
  if (object === undefined || !groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const token = tokenOf(object);
  if (token !== undefined) return refusal(request, token);
  const found = STEERING.find(([label]) => object.metadata.labels[label] !== undefined);
  if (found === undefined) return ALLOWED;
  const [label, consequence] = found;
  return refusal(request, `the label ${label} makes it ${consequence}`);
}

/**
 * A consumer's virtual kubelet, which makes Secrets for its pods in the namespaces that were made for it, makes none there that Kubernetes fills with the
 * token of a service account: of `default`, which may have rights that the pods of strangers are not given, or of one that this cluster's administrator made.
 *
 * @param namespaceLabels of the request's namespace; they say which consumer it was made for, and thereby its group
 */
export function validateConsumerSecret(
  request: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
): Verdict {
  const { object, groups } = request;
  const consumer = namespaceLabels[Label.remoteClusterID];
  if (object === undefined || consumer === undefined || !groups.includes(consumer)) return ALLOWED;
  const token = tokenOf(object);
  return token === undefined ? ALLOWED : refusal(request, token);
}

/** What is wrong with a Secret that Kubernetes fills with a token; undefined for others. */
function tokenOf({ raw, metadata }: AdmittedObject): string | undefined {
  if (raw.type !== SecretType.serviceAccountToken) return undefined;
  const account = metadata.annotations[WellKnownAnnotation.serviceAccountName] ?? "";
  return `the type ${SecretType.serviceAccountToken} makes it a token of service account "${account}", by which its reader would be that account`;
}

function refusal({ object, username, namespace, name }: AdmissionRequest, because: string): Verdict {
  return denied(
    `Secret "${namespace}/${name || (object?.metadata.name ?? "")}": ${because}; user "${username}" of a peer may not make such a Secret, so ask this cluster's administrator`,
  );
}

/**
 * A consumer's Service takes no address that Kubernetes or a load balancer did not give it: every node would send what is for `externalIPs`, be it the
 * API server of this cluster or a host elsewhere, to the consumer's pods. Virtual kubelets of all makes leave that field out.
 *
 * @param namespaceLabels of the request's namespace; they say which consumer it was made for, and thereby its group
 */
export function validateConsumerService(
  { object, groups, username, namespace, name }: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
): Verdict {
  const consumer = namespaceLabels[Label.remoteClusterID];
  if (object === undefined || consumer === undefined || !groups.includes(consumer)) return ALLOWED;
  const externalIPs = isRecord(object.raw.spec) ? object.raw.spec.externalIPs : undefined;
  if (!Array.isArray(externalIPs) || externalIPs.length === 0) return ALLOWED;
  return denied(
    `Service "${namespace}/${name || (object.metadata.name ?? "")}": spec.externalIPs is ${JSON.stringify(externalIPs)}, and user "${username}" of a consumer takes no address of this cluster; leave the field out, and use the type LoadBalancer or NodePort`,
  );
}
