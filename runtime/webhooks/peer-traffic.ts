/** What a peer writes that decides where packets go: gateways and keys, addresses that are published, and Services. */
import { IP, Label, Name } from "../api";
import { isRecord } from "../api/invalid-object";
import { peerIPFaults, type PeerIPContext } from "../ipam/peer-ip-faults";
import { tenantOf } from "../plan/peer-objects";
import { type AdmissionRequest, ALLOWED, denied, type Verdict } from "./admission-review";
import { verdictOnValidation } from "./fault-verdict";

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

/**
 * An IP of a peering user leads peers to nothing that keeps this cluster running, and to no other consumer.
 *
 * Peers are known by the group of their certificates; all others pass, since the API server may be too old to leave them out by itself.
 *
 * @see networking reference 8
 */
export async function validatePeerIP(
  request: AdmissionRequest,
  contextOf: () => Promise<PeerIPContext>,
): Promise<Verdict> {
  if (!request.groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const found = await contextOf();
  return verdictOnValidation("IP", request, (object) => ({
    faults: peerIPFaults(IP.fromApiServer(object.raw), found),
    warnings: [],
  }));
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
