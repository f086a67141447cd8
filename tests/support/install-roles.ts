/** The rights of an installation, without anything that would use them; and kubeconfigs of the service accounts that have them. */
import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import type { Desired, KubeObject } from "../../runtime/api/meta";
import type { KubeClient } from "../../runtime/kube";
import {
  clusterRoleBindings,
  clusterRoles,
  type InstalledModules,
  roleBindings,
  roles,
  virtualKubeletManifests,
} from "../../runtime/plan/roles";
import { kindOf } from "./kind-of";

export async function installRoles(
  client: KubeClient,
  namespace: string,
  modules: InstalledModules = { networking: false },
): Promise<void> {
  const manifests: Desired<KubeObject>[] = [
    ...clusterRoles(modules),
    ...clusterRoleBindings(namespace, modules),
    ...virtualKubeletManifests(namespace),
    ...roles(namespace),
    ...roleBindings(namespace),
  ];
  for (const manifest of manifests)
    await client.apply(kindOf(manifest), manifest, { fieldManager: "test", force: true });
}

/** A kubeconfig with just the rights of a component of the installation, such as `liqo-webhook`. */
export function kubeconfigOf(cluster: ControlPlane, namespace: string, account: string): Promise<string> {
  return cluster.kubeconfigFor({
    name: `system:serviceaccount:${namespace}:${account}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  });
}
