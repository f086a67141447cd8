import { Label, Name, SecretType, WellKnownAnnotation } from "../api";
import { type AdmissionRequest, ALLOWED, denied, type Verdict } from "./admission-review";

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
export function validatePeerSecret({ object, groups, username, namespace, name }: AdmissionRequest): Verdict {
  if (object === undefined || !groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const refused = (because: string) =>
    denied(
      `Secret "${namespace}/${name || (object.metadata.name ?? "")}": ${because}; user "${username}" of a peer may not make such a Secret, so ask this cluster's administrator`,
    );
  if (object.raw.type === SecretType.serviceAccountToken) {
    const account = object.metadata.annotations[WellKnownAnnotation.serviceAccountName] ?? "";
    return refused(
      `the type ${SecretType.serviceAccountToken} makes it a token of service account "${account}", by which its reader would be that account`,
    );
  }
  const found = STEERING.find(([label]) => object.metadata.labels[label] !== undefined);
  if (found === undefined) return ALLOWED;
  const [label, consequence] = found;
  return refused(`the label ${label} makes it ${consequence}`);
}
