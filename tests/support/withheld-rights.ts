/** An installation whose role lacks rights for a while. */
import { ClusterRole } from "../../runtime/api";
import type { Kind, KubeObject } from "../../runtime/api";
import { isForbidden, KubeClient } from "../../runtime/kube";
import type { ManagedCluster } from "./managed-cluster";
import { until } from "./until";

type Rules = NonNullable<ClusterRole["rules"]>;

/** The rights of a cluster's controller manager as they were at the beginning, less those to delete some kinds. */
export class WithheldRights {
  private constructor(
    private readonly cluster: ManagedCluster,
    private readonly roles: readonly ClusterRole[],
  ) {}

  static async of(cluster: ManagedCluster): Promise<WithheldRights> {
    const roles = (await cluster.admin.list(ClusterRole)).filter(({ metadata }) =>
      metadata.name.startsWith("liqo-controller-manager"),
    );
    return new WithheldRights(cluster, roles);
  }

  /** Withholds the right to delete this kind alone, or gives all back; returns when the API server has noticed what is withheld. */
  async deletionOf<T extends KubeObject>(kind: Kind<T> | undefined): Promise<void> {
    const { admin, user, controlPlane, liqoNamespace } = this.cluster;
    for (const { metadata, rules = [] } of this.roles) {
      const changed = kind === undefined ? rules : without(rules, kind.plural);
      // One write, so that no moment lies between two rights.
      await admin.patch(ClusterRole, metadata, { rules: changed }, { type: "merge" });
    }
    if (kind === undefined) return;
    const client = KubeClient.fromKubeconfig(
      await controlPlane.kubeconfigFor({ name: user, groups: ["system:serviceaccounts"] }),
    );
    const attempt = () => client.delete(kind, { name: "none", namespace: liqoNamespace });
    await until(`${user} may not delete ${kind.plural}`, () => attempt().then(() => false, isForbidden));
    client.close();
  }
}

function without(rules: Rules, plural: string): Rules {
  return rules.flatMap((rule) => {
    const { resources = [], verbs } = rule;
    if (!resources.includes(plural)) return [rule];
    const others = resources.filter((resource) => resource !== plural);
    const withheld = { ...rule, resources: [plural], verbs: verbs.filter((verb) => verb !== "delete") };
    return others.length === 0 ? [withheld] : [{ ...rule, resources: others }, withheld];
  });
}
