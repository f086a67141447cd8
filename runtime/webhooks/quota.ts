import { Label, Quota } from "../api";
import { amountFaults } from "../api/quantity";
import { resourceSliceUser } from "../identity";
import type { AdmissionRequest, Verdict } from "./admission-review";
import { verdictOnValidation } from "./validation";
import { tenantOf } from "../plan/peer-objects";

/**
 * A Quota that somebody makes by hand has amounts that a node can have, and is in the tenant namespace of the consumer that it names. Users of
 * another form than a slice's pass with a warning: an administrator may have given such credentials out.
 *
 * @see control plane reference 10.4
 */
export function validateQuota(
  request: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
): Verdict {
  const { namespace } = request;
  const consumer = tenantOf(namespaceLabels);
  return verdictOnValidation("Quota", request, ({ metadata, raw }) => {
    const { user, resources } = Quota.fromApiServer(raw).spec;
    const faults = amountFaults(resources).map((fault) => `spec.resources: ${fault}`);
    if (consumer === undefined) {
      return {
        faults,
        warnings: [
          `namespace "${namespace}" is no tenant namespace (yet); create it in the one of the consumer, or label this one ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=<the consumer's cluster ID>`,
        ],
      };
    }
    const label = metadata.labels[Label.remoteClusterID];
    if (label !== undefined && label !== consumer) {
      faults.push(
        `the label ${Label.remoteClusterID} is "${label}", and namespace "${namespace}" is the tenant namespace of cluster "${consumer}"; create it in that of "${label}", or make them equal`,
      );
    }
    const ending = resourceSliceUser("", consumer);
    const warnings = user.endsWith(ending)
      ? []
      : [
          `spec.user: "${user}" is no user of a slice of cluster "${consumer}", which are called <slice>${ending}; give such a name, unless you made credentials for "${user}" yourself`,
        ];
    return { faults, warnings };
  });
}
