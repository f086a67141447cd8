import { Identity, kubeconfigSecretName, Namespace, type ObjectRef, type Secret } from "../api";
import {
  exceptStatus,
  type Informer,
  type InformerSet,
  type KubeClient,
  type Source,
  watches,
} from "../kube";

const bySecret = "secret";

/** The Identities that control-plane Secrets are made of. */
export class SecretMakers {
  private readonly identities: Informer<Identity>;

  constructor(
    informers: InformerSet,
    private readonly client: KubeClient,
  ) {
    this.identities = informers.informer(Identity);
    this.identities.addIndex(bySecret, ({ metadata, spec }) =>
      spec.type === "ControlPlane"
        ? [secretKey(metadata.namespace, kubeconfigSecretName(metadata.name))]
        : [],
    );
  }

  /** Peers whose control-plane Identity came, went or changed. */
  changes(): Source {
    return watches(this.identities, {
      keys: ({ spec: { type, clusterID } }) =>
        type === "ControlPlane" && clusterID !== undefined && clusterID !== "" ? [clusterID] : [],
      when: exceptStatus,
    });
  }

  /**
   * Whether a Secret would be made again, were it gone: its Identity is there to stay, and its namespace too. Asked of the API server, because a
   * cache may not know yet of a deletion that came before the Secret's.
   */
  async makeAgain({ metadata }: Secret): Promise<boolean> {
    const [maker] = this.identities.byIndex(bySecret, secretKey(metadata.namespace, metadata.name));
    if (maker === undefined || maker.metadata.deletionTimestamp) return false;
    const namespace: ObjectRef = { name: metadata.namespace ?? "" };
    const found = await Promise.all([
      this.client.get(Identity, maker.metadata),
      this.client.get(Namespace, namespace),
    ]);
    return found.every((object) => object !== undefined && !object.metadata.deletionTimestamp);
  }
}

function secretKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ""}/${name}`;
}
