import { Label } from "../api";
import { isRecord } from "../api/invalid-object";
import { type AdmissionRequest, ALLOWED, denied, type Verdict } from "./admission-review";

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
