import { Label, Name } from "../api";
import { type AdmissionRequest, ALLOWED, denied, type Verdict } from "./admission-review";
import { tenantOf } from "./tenant-placement";

/**
 * A peering user makes gateways to its own cluster and no other, and gives keys of its own cluster alone: by the label of a gateway this cluster's
 * nodes know where to send what is for a peer.
 *
 * @see networking reference 9.1
 */
export function validatePeerGateway(
  { object, groups, username, namespace, name }: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
): Verdict {
  if (object === undefined || !groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const label = object.metadata.labels[Label.remoteClusterID];
  const peer = tenantOf(namespaceLabels);
  if (label === undefined || label === peer) return ALLOWED;
  const kind = typeof object.raw.kind === "string" ? object.raw.kind : "object";
  return denied(
    `${kind} "${namespace}/${name || (object.metadata.name ?? "")}": the label ${Label.remoteClusterID} is "${label}", and the namespace is that of cluster "${peer ?? ""}"; user "${username}" of a peer speaks for that one alone, so write its ID there`,
  );
}
