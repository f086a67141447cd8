/** A kubeconfig of a service account by a token of its own, which is how a pod reaches its API server. */
import { stringify } from "yaml";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { ServiceAccount, TokenRequest } from "../../runtime/api/kubernetes";
import type { KubeClient } from "../../runtime/kube";

/** Longer than any test. */
const EXPIRATION_SECONDS = 24 * 3600;

export async function accountKubeconfig(
  admin: KubeClient,
  cluster: ControlPlane,
  account: { name: string; namespace: string },
): Promise<string> {
  const { apiVersion, kind } = TokenRequest;
  const { status } = await admin.createSubresource(
    ServiceAccount,
    account,
    "token",
    { apiVersion, kind, spec: { expirationSeconds: EXPIRATION_SECONDS } },
    (answer) => TokenRequest.parse(answer),
  );
  if (status?.token === undefined) throw new Error(`no token for service account "${account.name}"`);
  return tokenKubeconfig(cluster, account.name, status.token);
}

/** A kubeconfig with a token of a service account, however one came by it. */
export function tokenKubeconfig(cluster: ControlPlane, account: string, token: string): string {
  const ca = Buffer.from(cluster.caCertificate).toString("base64");
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: cluster.name, cluster: { server: cluster.url, "certificate-authority-data": ca } }],
    users: [{ name: account, user: { token } }],
    contexts: [{ name: cluster.name, context: { cluster: cluster.name, user: account } }],
    "current-context": cluster.name,
  });
}
