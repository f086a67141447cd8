import type { PodSpec } from "kubernetes-types/core/v1";

import { Configuration, Label } from "../api";
import type { Informer, InformerSet } from "../kube";
import { mapAddress } from "../networking/address-mapping";
import { BY_CLUSTER } from "./shared-caches";

/** Name under which offloaded pods call the API server of the cluster they come from. */
const HOME_API_SERVER = "kubernetes.default";

/** Addresses of consumers' API servers as this cluster reaches them: a consumer can only know the one under which it reaches itself. */
export class HomeAddresses {
  private readonly configurations: Informer<Configuration>;

  constructor(informers: InformerSet) {
    this.configurations = informers.informer(Configuration);
    this.configurations.addIndex(BY_CLUSTER, ({ metadata }) => [
      metadata.labels?.[Label.remoteClusterID] ?? "",
    ]);
  }

  /**
   * A pod's spec whose aliases of its home API server lead there from here. Without a Configuration the clusters share no network, and an alias
   * of that name is the pod's own business.
   *
   * @throws Error while the networks of the consumer have no place here yet
   * @see offloading reference 12.1 and 12.4
   */
  withReachableHome(spec: PodSpec, consumer: string): PodSpec {
    const { hostAliases = [] } = spec;
    if (!hostAliases.some(isHome)) return spec;
    const [configuration] = this.configurations.byIndex(BY_CLUSTER, consumer);
    if (configuration === undefined) return spec;
    return {
      ...spec,
      hostAliases: hostAliases.map((alias) =>
        isHome(alias) && alias.ip !== undefined
          ? { ...alias, ip: mapAddress(alias.ip, configuration) }
          : alias,
      ),
    };
  }
}

function isHome({ hostnames = [] }: { hostnames?: readonly string[] }): boolean {
  return hostnames.includes(HOME_API_SERVER);
}
