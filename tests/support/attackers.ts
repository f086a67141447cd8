/** Who attacks a provider, with the credentials that the runtime makes for a consumer, and no others. */
import { RoleBinding, Secret } from "../../runtime/api";
import { peeringUserSubject } from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import { peeringUserBindings } from "../../runtime/plan/peering-user";
import type { ManagedCluster } from "./managed-cluster";
import { until } from "./until";

/** The control plane of a consumer, by the kubeconfig that it got in a peering. */
export async function controlPlaneOf(
  consumer: ManagedCluster,
  tenantNamespace: string,
  provider: string,
): Promise<KubeClient> {
  const ref = { name: `kubeconfig-controlplane-${provider}`, namespace: tenantNamespace };
  const secret = await until("the kubeconfig of the control plane", () => consumer.admin.get(Secret, ref));
  return KubeClient.fromKubeconfig(Buffer.from(secret.data?.kubeconfig ?? "", "base64").toString(), {
    userAgent: "attacker",
  });
}

/** The administrator of a consumer, by the certificate and the rights of a peering user. */
export async function peeringUserOf(
  consumer: string,
  provider: ManagedCluster,
  tenantNamespace: string,
): Promise<KubeClient> {
  const { commonName, organization } = peeringUserSubject(consumer);
  for (const binding of peeringUserBindings({
    consumerClusterId: consumer,
    userName: commonName,
    liqoNamespace: provider.liqoNamespace,
    tenantNamespace,
  }))
    await provider.admin.create(RoleBinding, binding);
  const kubeconfig = await provider.controlPlane.kubeconfigFor({ name: commonName, groups: [organization] });
  return KubeClient.fromKubeconfig(kubeconfig, { userAgent: "attacker" });
}
