import { CertificateSigningRequest, VirtualNode } from "../api";
import { type Controller, keyOf, runController, type RuntimeContext, timestamp, watches } from "../kube";
import { approval, refusal, servingSigners } from "./serving-certificate-approval";

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
