import { createHash, randomBytes } from "node:crypto";
import { Name, peeringUserName } from "../api/keys/names";

/** Who a certificate speaks for: the user name (CN) and the group (O) that the API server sees. */
export interface Subject {
  commonName: string;
  organization: string;
}

/** The subject of a consumer's control-plane identity (control plane reference 4.3). */
export function controlPlaneSubject(consumerClusterId: string): Subject {
  return { commonName: consumerClusterId, organization: Name.controlPlaneOrganization };
}

/** The subject of the identity that belongs to a resource slice. */
export function resourceSliceSubject(sliceName: string, consumerClusterId: string): Subject {
  return { commonName: resourceSliceUser(sliceName, consumerClusterId), organization: consumerClusterId };
}

/** The user of a resource slice at the provider; the slice's Quota bears the same name. `pool` of `rome` → `pool-a8a4c692b93b`. */
export function resourceSliceUser(sliceName: string, consumerClusterId: string): string {
  const digest = createHash("sha256").update(consumerClusterId).digest("hex");
  return `${sliceName}-${digest.slice(0, 12)}`;
}

/** The subject of a peering user. The random part makes each credential its own. */
export function peeringUserSubject(consumerClusterId: string, random: Uint8Array = randomBytes(16)): Subject {
  return {
    commonName: `${peeringUserName(consumerClusterId)}-${Buffer.from(random).toString("hex")}`,
    organization: Name.controlPlaneOrganization,
  };
}
