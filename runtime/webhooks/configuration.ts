import { Configuration, Label, Name } from "../api";
import { isRecord } from "../api/invalid-object";
import { semanticallyEqual } from "../kube";
import { remoteFaults } from "../networking/configuration/configuration-decision";
import type { AdmissionRequest, AdmittedObject, Verdict } from "./admission-review";
import { verdictOnValidation } from "./fault-verdict";
import { tenantOf } from "../plan/peer-namespace";

/**
 * A Configuration gives networks that pods can have. Where a network is taken here, or holds what is this cluster's own, it gets another place,
 * so that is no fault.
 *
 * A peer speaks for itself alone, and not of this cluster's networks: nodes translate addresses by those.
 *
 * @see networking reference 7
 */
export function validateConfiguration(
  request: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
): Verdict {
  const byPeer = request.groups.includes(Name.controlPlaneOrganization);
  return verdictOnValidation("Configuration", request, (object) => {
    const configuration = Configuration.fromApiServer(object.raw);
    const faults = remoteFaults(configuration).map(
      (fault) => `${fault}; give the networks that the peer's pods and IPs have`,
    );
    if (!byPeer) return { faults, warnings: [] };
    const peer = tenantOf(namespaceLabels);
    const label = object.metadata.labels[Label.remoteClusterID];
    if (label !== peer) {
      faults.push(
        `the label ${Label.remoteClusterID} is ${JSON.stringify(label ?? "")}, and namespace "${request.namespace}" is that of cluster "${peer ?? ""}"; write that one`,
      );
    }
    if (isChanged(request.oldObject, object)) {
      faults.push(
        "spec.local: this cluster's own networks are not a peer's to give; leave it as it is, or out",
      );
    }
    return { faults, warnings: [] };
  });
}

/** Whether what an object says of this cluster's networks is something that the one before does not say. */
function isChanged(before: AdmittedObject | undefined, after: AdmittedObject): boolean {
  const local = localOf(after);
  return local !== undefined && (before === undefined || !semanticallyEqual(local, localOf(before)));
}

function localOf({ raw }: AdmittedObject): unknown {
  return isRecord(raw.spec) ? raw.spec.local : undefined;
}
