import { CertificateSigningRequest, ConditionReason, VirtualNode } from "../api";
import { checkCertificateRequest, InvalidCertificateRequest, parseCertificateRequest } from "../identity";
import { type Controller, keyOf, runController, type RuntimeContext, timestamp, watches } from "../kube";
import { DeploymentName } from "../plan/deployments";

/** Signers of the certificates that virtual kubelets serve with. */
const servingSigners = ["kubernetes.io/kubelet-serving", "beta.eks.amazonaws.com/app-serving"] as const;

const nodePrefix = "system:node:";
const nodesOrganization = "system:nodes";
const allowedUsages = ["digital signature", "key encipherment", "server auth"];

/** Approves the serving certificates of virtual kubelets, and nobody else's; the cluster's signer does the rest (control plane reference 7.2). */
export function runServingCertificateApprover(runtime: RuntimeContext, liqoNamespace: string): Controller {
  const virtualNodes = runtime.informers.informer(VirtualNode);
  const requests = runtime.informers.informer(CertificateSigningRequest);
  const isOpen = ({ spec, status }: CertificateSigningRequest) =>
    servingSigners.some((signer) => signer === spec.signerName) &&
    !status?.certificate &&
    (status?.conditions ?? []).length === 0;
  return runController(
    {
      name: "csr_approver",
      sources: [
        watches(requests, { when: ({ object }) => isOpen(object) }),
        // A request may come before the virtual node that it is for is known.
        watches(virtualNodes, {
          when: ({ type }) => type === "added",
          keys: () => requests.list().filter(isOpen).map(keyOf),
        }),
      ],
      reconcile: async (key, { log }) => {
        const request = requests.getByKey(key);
        if (request === undefined || !isOpen(request)) return;
        const why = refusal(request, liqoNamespace, virtualNodes.list());
        if (why !== undefined) {
          log.debug("certificate request not approved", { why });
          return;
        }
        await runtime.client.patch(
          CertificateSigningRequest,
          request.metadata,
          {
            metadata: { uid: request.metadata.uid, resourceVersion: request.metadata.resourceVersion },
            status: { conditions: [approval(timestamp(runtime.clock))] },
          },
          { type: "merge", subresource: "approval" },
        );
      },
    },
    runtime,
  );
}

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
function approval(now: string) {
  return {
    type: "Approved",
    status: "True",
    reason: ConditionReason.csrApprovedByLiqo,
    message: "Serving certificate of a virtual kubelet",
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
}
