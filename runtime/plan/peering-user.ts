import { Label, peeringUserName, RoleName } from "../api/keys";
import type { CertificateSigningRequest, RoleBinding } from "../api/kubernetes";
import type { ManifestOf } from "./manifest";
import { RBAC, roleBinding } from "./rbac/manifests";

/** A user by which a consumer's administrator peers at the provider, without being its administrator (control plane reference 17.2). */
export interface PeeringUser {
  consumerClusterId: string;
  /** The name that the API server knows the user by. */
  userName: string;
  /** Where Liqo is installed at the provider. */
  liqoNamespace: string;
  /** The provider's namespace for the consumer. */
  tenantNamespace: string;
}

/** Who signs certificates of users. */
const SIGNER = "kubernetes.io/kube-apiserver-client";
const MAX_LABEL_LENGTH = 63;

/** Names of the bindings, by which they are found again. */
export const peeringUserBindingNames = (consumer: string) => ({
  liqoNamespace: `${peeringUserName(consumer)}-liqo-ns-reader`,
  tenantNamespace: `${peeringUserName(consumer)}-tenant-ns-writer`,
});

/** The request for the user's certificate; its name is taken as long as there is such a user. */
export function peeringUserRequest(consumer: string, csr: string): ManifestOf<CertificateSigningRequest> {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: peeringUserName(consumer), labels: labelsOf(consumer) },
    spec: {
      signerName: SIGNER,
      request: Buffer.from(csr).toString("base64"),
      usages: ["digital signature", "key encipherment", "client auth"],
    },
  };
}

/** What the user may do: peer in the tenant namespace, and read what that needs in Liqo's. */
export function peeringUserBindings(user: PeeringUser): ManifestOf<RoleBinding>[] {
  const names = peeringUserBindingNames(user.consumerClusterId);
  const subjects = [{ apiGroup: RBAC, kind: "User", name: user.userName }];
  const labels = labelsOf(user.consumerClusterId);
  return [
    roleBinding({ name: names.liqoNamespace, namespace: user.liqoNamespace, labels }, subjects, {
      kind: "Role",
      name: RoleName.peeringUserLiqoNamespace,
    }),
    roleBinding({ name: names.tenantNamespace, namespace: user.tenantNamespace, labels }, subjects, {
      kind: "ClusterRole",
      name: RoleName.peeringUserTenantNamespace,
    }),
  ];
}

function labelsOf(consumer: string): Record<string, string> {
  const name = peeringUserName(consumer);
  return {
    [Label.remoteClusterID]: consumer,
    // The longest cluster IDs leave no room for the prefix; nothing is looked up by it.
    ...(name.length <= MAX_LABEL_LENGTH && { [Label.peeringUserName]: name }),
  };
}
