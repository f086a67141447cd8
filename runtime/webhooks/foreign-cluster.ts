import { Label } from "../api";
import { isRecord } from "../api/invalid-object";
import { type AdmissionRequest, ALLOWED, labelPatch, patched, type Verdict } from "./admission-review";

/** The label that peers are looked up by says what the spec says (control plane reference 13). */
export function labelForeignCluster({ object }: AdmissionRequest): Verdict {
  const spec = object?.raw.spec;
  if (object === undefined || !isRecord(spec) || typeof spec.clusterID !== "string") return ALLOWED;
  return patched(labelPatch(object, Label.remoteClusterID, spec.clusterID));
}
