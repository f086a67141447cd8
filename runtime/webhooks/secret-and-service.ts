import { Label, Name, SecretType, WellKnownAnnotation } from "../api";
import { isRecord } from "../api/invalid-object";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";

/** Labels that make this cluster act upon a Secret as a consumer, and the consequence of each. */
const STEERING: readonly [label: string, consequence: string][] = [
  [
    Label.identityType,
    "an identity at another cluster, by which this cluster would copy its objects wherever the Secret says",
  ],
  [Label.signedNonce, "a challenge of a provider, which this cluster would sign with its own key"],
];

/**
 * A peering user may create Secrets in its tenant namespace, but none that this cluster acts upon as a consumer itself, and none that Kubernetes fills
 * with the token of a service account. Those are for this cluster's administrators.
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
 * A consumer's virtual kubelet may create Secrets for its pods in its remote namespaces, but none that Kubernetes fills with the token of a service
 * account. The account `default`, or one that an administrator made there, may have rights that pods of consumers must not get.
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
 * A consumer's Service may not set `externalIPs`: every node would send packets for these addresses, be it the API server's or those of a host elsewhere, to
 * the consumer's pods. No virtual kubelet sets that field.
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
