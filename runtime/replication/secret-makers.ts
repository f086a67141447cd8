import { Identity, kubeconfigSecretName, Namespace, type Secret } from "../api";
import {
  exceptStatus,
  type Informer,
  type InformerSet,
  type KubeClient,
  keyOfRef,
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
        ? [keyOfRef({ name: kubeconfigSecretName(metadata.name), namespace: metadata.namespace })]
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
    const [maker] = this.identities.byIndex(bySecret, keyOfRef(metadata));
    if (maker === undefined || maker.metadata.deletionTimestamp) return false;
    const found = await Promise.all([
      this.client.get(Identity, maker.metadata),
      this.client.get(Namespace, { name: metadata.namespace ?? "" }),
    ]);
    return found.every((object) => object !== undefined && !object.metadata.deletionTimestamp);
  }
}
