/** What upstream's crd-replicator does for one peer (control plane reference 11): a dynamic client, which copies specs there and statuses back. */
import { collectionPath } from "../../../runtime/kube";
import { kindOf } from "../kind-of";
import { until } from "../until";
import { type GoClient, type Sort, sorts, specOf, type Wire } from "./go-client";
import { at, tenantNamespaceOf } from "./liqoctl";
import { conditionsOf } from "./liqoctl-network";

const FINALIZER = "crdreplicator.liqo.io/resource";

export interface Route {
  /** At the consumer, where the sources are. */
  home: GoClient;
  /** At the provider, by the identity of the control plane. */
  peer: GoClient;
  consumer: string;
  provider: string;
}

export class Replicator {
  constructor(private readonly route: Route) {}

  atHome = (name: string) => ({ name, namespace: tenantNamespaceOf(this.route.provider) });
  atPeer = (name: string) => ({ name, namespace: tenantNamespaceOf(this.route.consumer) });

  /** Once it has its rights, the watches of its copies. */
  async start(): Promise<void> {
    const renews = `/apis/${sorts.renew.apiVersion}/namespaces/${this.atPeer("").namespace}/renews`;
    await until(
      "the control plane's rights",
      async () => (await this.route.peer.status("GET", renews)) === 200,
    );
    const selector = `liqo.io/originID=${this.route.consumer},liqo.io/replicated=true`;
    const { namespace } = this.atPeer("");
    const kinds: Sort[] = [sorts.map, sorts.slice, sorts.renew];
    await Promise.all(kinds.map((sort) => this.route.peer.inform(sort, namespace, selector)));
  }

  /** Makes a source, as upstream's controllers complete it. */
  async source(sort: Sort, name: string, spec: object, metadata: Partial<Wire["metadata"]> = {}) {
    const { provider } = this.route;
    const labels = {
      "liqo.io/remote-cluster-id": provider,
      "liqo.io/remoteID": provider,
      "liqo.io/replication": "true",
      ...metadata.labels,
    };
    return await this.route.home.create({
      ...sort,
      metadata: { ...this.atHome(name), ...metadata, labels },
      spec,
    });
  }

  /** Asks for other resources, and leaves the rest of the slice. */
  async request(name: string, resources: Record<string, string>): Promise<void> {
    const spec = specOf(await this.route.home.get(sorts.slice, this.atHome(name)));
    await this.change(sorts.slice, name, { ...spec, resources });
  }

  /** Makes the copy of a source. */
  async create(sort: Sort, name: string): Promise<Wire> {
    const { home, peer, consumer } = this.route;
    const source = await home.edit(sort, this.atHome(name), (read) => ({
      ...read,
      metadata: { ...read.metadata, finalizers: [FINALIZER] },
    }));
    const { labels, annotations } = source.metadata;
    return await peer.createBare({
      ...sort,
      metadata: {
        ...this.atPeer(name),
        labels: {
          ...labels,
          "liqo.io/replication": "false",
          "liqo.io/replicated": "true",
          "liqo.io/originID": consumer,
          "liqo.io/remote-cluster-id": consumer,
        },
        ...(annotations === undefined ? {} : { annotations }),
      },
      spec: source.spec,
    });
  }

  /** Changes a source, and puts its spec into the copy, with what else the copy has as it was read. */
  async change(sort: Sort, name: string, spec: object): Promise<Wire> {
    const { home, peer } = this.route;
    const source = await home.edit(sort, this.atHome(name), (read) => ({ ...read, spec }));
    return await peer.edit(sort, this.atPeer(name), (read) => ({ ...read, spec: source.spec }));
  }

  /** Carries the copy's status back, whole. */
  async pull(sort: Sort, name: string): Promise<Wire> {
    const { home, peer } = this.route;
    const { status } = await peer.get(sort, this.atPeer(name));
    return await home.edit(sort, this.atHome(name), (read) => ({ ...read, status }), "status");
  }

  /** Returns once the provider has accepted a slice, by both conditions. */
  async granted(name: string): Promise<void> {
    await until(`slice ${name} is granted`, async () => {
      const conditions = conditionsOf(await this.route.peer.get(sorts.slice, this.atPeer(name)));
      return conditions.filter((each) => at(each, "status") === "Accepted").length === 2;
    });
  }

  /** Returns once the provider has accepted a namespace. */
  async offered(map: string, namespace: string): Promise<void> {
    await until(`namespace ${namespace} is accepted`, async () => {
      const read = await this.route.peer.get(sorts.map, this.atPeer(map));
      return at(read, "status", "currentMapping", namespace, "phase") === "Accepted";
    });
  }

  /** A source goes, its copy first. */
  async remove(sort: Sort, name: string): Promise<void> {
    const { home, peer } = this.route;
    await home.delete(sort, this.atHome(name));
    await peer.delete(sort, this.atPeer(name));
    await peer.gone(sort, this.atPeer(name));
    await this.release(sort, name);
  }

  /** Lets a source go whose copy is gone. */
  async release(sort: Sort, name: string): Promise<void> {
    const { home } = this.route;
    await home.delete(sort, this.atHome(name));
    await home.edit(sort, this.atHome(name), (read) => ({
      ...read,
      metadata: { ...read.metadata, finalizers: [] },
    }));
    await home.gone(sort, this.atHome(name));
  }

  /** What the API server answers to the making of a copy, as a status: a drained consumer is forbidden it. */
  async tryToCreate(sort: Sort, name: string): Promise<number> {
    const path = collectionPath(kindOf(sort), this.atPeer(name).namespace);
    return await this.route.peer.status("POST", path, { ...sort, metadata: { name } });
  }
}
