import { runOnNode } from "../../provider/local-cluster/native/native-backend";

/** What of a node's network could be ours: interfaces, rules, routes and tables, without those of Kubernetes and its CNI. */
export async function networkOf(cluster: string, node: string): Promise<string> {
  const script = [
    "ip -o link | grep -o -E 'liqo[^:@]*'",
    "ip rule",
    "ip route show table all | grep ' table ' | grep -v ' table local'",
    "nft list tables | grep -v -E '(kube-proxy|mangle|filter|nat|pulumi-liqo)$'",
  ].join(";");
  return (await runOnNode(cluster, node, ["sh", "-c", `${script};true`])).trim();
}
