import { CertificateSigningRequest, VirtualNode } from "../api";
import { type Controller, runController, type RuntimeContext, timestamp, watches } from "../kube";
import { approval, refusal, servingSigners } from "./serving-certificate-approval";

/** Approves the serving certificates of virtual kubelets, and nobody else's; the cluster's signer does the rest (control plane reference 7.2). */
export function runServingCertificateApprover(runtime: RuntimeContext, liqoNamespace: string): Controller {
  const virtualNodes = runtime.informers.informer(VirtualNode);
  const requests = servingSigners.map((signer) =>
    runtime.informers.informer(CertificateSigningRequest, { fieldSelector: `spec.signerName=${signer}` }),
  );
  const find = (key: string) =>
    requests.map((informer) => informer.getByKey(key)).find((found) => found !== undefined);
  return runController(
    {
      name: "csr_approver",
      sources: [
        ...requests.map((informer) => watches(informer, { when: ({ type }) => type !== "deleted" })),
        // A request may come before the virtual node that it is for is known.
        watches(virtualNodes, {
          when: ({ type }) => type === "added",
          keys: () => requests.flatMap((informer) => informer.list().map(({ metadata }) => metadata.name)),
        }),
      ],
      reconcile: async (key, { log }) => {
        const request = find(key);
        if (request === undefined) return;
        const { certificate, conditions = [] } = request.status ?? {};
        const settled = conditions.some(({ type }) => type === "Approved" || type === "Denied");
        if (settled || certificate) return;
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
            status: { conditions: [...conditions, approval(timestamp(runtime.clock))] },
          },
          { type: "merge", subresource: "approval" },
        );
      },
    },
    runtime,
  );
}
