import { type CertificateSigningRequest, ConditionReason, type VirtualNode } from "../api";
import { checkCertificateRequest, InvalidCertificateRequest, parseCertificateRequest } from "../identity";
import { DeploymentName } from "../plan/deployments";

/** Signers of the certificates that virtual kubelets serve with. */
export const servingSigners = [
  "kubernetes.io/kubelet-serving",
  "beta.eks.amazonaws.com/app-serving",
] as const;

const nodePrefix = "system:node:";
const nodesOrganization = "system:nodes";
const allowedUsages = ["digital signature", "key encipherment", "server auth"];

/**
 * Why a request for a serving certificate is none of a virtual kubelet's, which alone are approved: made by the virtual kubelet's own
 * service account, for a server certificate of a virtual node that exists. Undefined where it is one.
 */
export function refusal(
  request: CertificateSigningRequest,
  liqoNamespace: string,
  virtualNodes: readonly VirtualNode[],
): string | undefined {
  const { username = "", usages = [], signerName } = request.spec;
  if (!servingSigners.some((signer) => signer === signerName)) return `signer ${signerName} is none of ours`;
  let virtualNode: VirtualNode | undefined;
  try {
    const pem = Buffer.from(request.spec.request, "base64");
    const { commonName = "" } = parseCertificateRequest(pem);
    const node = commonName.startsWith(nodePrefix) ? commonName.slice(nodePrefix.length) : undefined;
    virtualNode = virtualNodes.find(({ metadata }) => metadata.name === node);
    if (virtualNode === undefined) return `common name "${commonName}" names no virtual node`;
    checkCertificateRequest(pem, {
      subject: { commonName, organization: nodesOrganization },
      addresses: "any",
    });
  } catch (error) {
    if (error instanceof InvalidCertificateRequest) return error.message;
    throw error;
  }
  const { namespace = "", name } = virtualNode.metadata;
  // Of the process for all virtual nodes, or of a process for this one alone, whose account bears the node's name.
  const accounts = [`${liqoNamespace}:${DeploymentName.virtualKubelet}`, `${namespace}:${name}`];
  if (!accounts.some((account) => username === `system:serviceaccount:${account}`)) {
    return `user "${username}" is not the virtual kubelet of "${name}"`;
  }
  const excess = usages.filter((usage) => !allowedUsages.includes(usage));
  return excess.length === 0 ? undefined : `usage ${excess.join(", ")} is none of a server's`;
}

/** The condition by which a request is approved. */
export function approval(now: string) {
  return {
    type: "Approved",
    status: "True",
    reason: ConditionReason.csrApprovedByLiqo,
    message: "Serving certificate of a virtual kubelet",
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
}
