/** The version of every object of a cluster: to show that nothing is written while nothing changes. */
import {
  CertificateSigningRequest,
  ClusterRoleBinding,
  Event,
  ForeignCluster,
  Identity,
  type Kind,
  type KubeObject,
  Namespace,
  NamespaceMap,
  Quota,
  Renew,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import { type KubeClient, keyOf } from "../../runtime/kube";

/** What the controllers of a peering write. */
const kinds: readonly Kind<KubeObject>[] = [
  CertificateSigningRequest,
  ClusterRoleBinding,
  Event,
  ForeignCluster,
  Identity,
  Namespace,
  NamespaceMap,
  Quota,
  Renew,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
  VirtualNode,
];

/** `kind namespace/name` and the resource version of all objects of these kinds. */
export async function versions(client: KubeClient): Promise<Record<string, string>> {
  const lists = await Promise.all(kinds.map((kind) => client.list(kind)));
  const entries = lists
    .flat()
    .map((object): [string, string] => [
      `${object.kind} ${keyOf(object)}`,
      object.metadata.resourceVersion ?? "",
    ]);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}
