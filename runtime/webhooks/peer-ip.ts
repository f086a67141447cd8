import { IP, Name } from "../api";
import { peerIPFaults, type PeerIPContext } from "../ipam/peer-ip-faults";
import { type AdmissionRequest, ALLOWED, type Verdict } from "./admission-review";
import { verdictOnFindings } from "./fault-verdict";

/**
 * An IP of a peering user leads peers to nothing that keeps this cluster running, and to no other consumer.
 *
 * Peers are known by the group of their certificates; all others pass, since the API server may be too old to leave them out by itself.
 *
 * @see networking reference 8
 */
export async function validatePeerIP(
  request: AdmissionRequest,
  surroundings: () => Promise<PeerIPContext>,
): Promise<Verdict> {
  if (!request.groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const found = await surroundings();
  return verdictOnFindings("IP", request, (object) => ({
    faults: peerIPFaults(IP.fromApiServer(object.raw), found),
    warnings: [],
  }));
}
