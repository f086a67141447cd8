/** A control plane, `rome`, whose objects informers follow, on connections that a test can break. */
import assert from "node:assert/strict";

import { Registry } from "prom-client";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { ConfigMap, Namespace } from "../../runtime/api/kubernetes";
import type { KubeObject } from "../../runtime/api/meta";
import { type Informer, InformerSet, keyOf, KubeClient } from "../../runtime/kube";
import type { Witness } from "./informer-witness";
import { editKubeconfig } from "./kubeconfig-edit";
import { TcpProxy } from "./tcp-proxy";
import { until } from "./until";
import { withControlPlanes } from "./with-control-planes";

export class WatchedCluster {
  readonly client: KubeClient;
  private readonly shutdown: (() => Promise<void> | void)[] = [];

  private constructor(readonly controlPlane: ControlPlane) {
    this.client = KubeClient.fromKubeconfig(controlPlane.kubeconfig);
  }

  /** For a mocha suite; the cluster is there from `before` hooks on, with these namespaces. */
  static forSuite(namespaces: readonly string[]): () => WatchedCluster {
    const controlPlane = withControlPlanes({ rome: { definitions: "absent" } });
    let cluster: WatchedCluster | undefined;
    before(async () => {
      cluster = new WatchedCluster(controlPlane("rome"));
      for (const name of namespaces) {
        await cluster.client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      }
    });
    afterEach(() => cluster?.end());
    after(() => cluster?.client.close());
    return () => {
      if (cluster === undefined)
        throw new Error("the cluster is not running yet; use it inside a hook or a test");
      return cluster;
    };
  }

  /** What is to end after the test, the last one first. */
  atEnd(...shutdown: (() => Promise<void> | void)[]): void {
    this.shutdown.push(...shutdown);
  }

  /** Informers on a connection that the test can break. */
  async behindProxy(options: { heartbeatMs?: number } = {}) {
    const { hostname, port } = new URL(this.controlPlane.url);
    const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
    const server = { server: `https://127.0.0.1:${proxy.port}` };
    const broken = KubeClient.fromKubeconfig(editKubeconfig(this.controlPlane.kubeconfig, server), options);
    const metrics = new Registry();
    const informers = new InformerSet(broken, { metrics });
    this.atEnd(
      () => proxy.close(),
      () => broken.close(),
      () => informers.stop(),
    );
    const restarts = async (kind: string, reason: string) => {
      const counter = await metrics.getSingleMetric("liqo_kube_watch_restarts_total")?.get();
      return (
        counter?.values.find(({ labels }) => labels.kind === kind && labels.reason === reason)?.value ?? 0
      );
    };
    return { proxy, informers, restarts };
  }

  /** Informers on the connection that nothing breaks. */
  direct(): InformerSet {
    const informers = new InformerSet(this.client);
    this.atEnd(() => informers.stop());
    return informers;
  }

  /** Waits until an informer has what the API server has; its events have told the same. */
  async agrees(informer: Informer<ConfigMap>, witness: Witness<ConfigMap>, namespace: string): Promise<void> {
    await until("the cache agrees with the API server", async () => {
      const truth = versions(await this.client.list(ConfigMap, { namespace }));
      return versions(informer.list()).join("\n") === truth.join("\n");
    });
    assert.deepEqual(versions(witness.present.values()), versions(informer.list()));
    assert.deepEqual(witness.faults, []);
  }

  private async end(): Promise<void> {
    for (const end of this.shutdown.splice(0).reverse()) await end();
  }
}

function versions(objects: Iterable<KubeObject>): string[] {
  return [...objects]
    .map((object) => `${keyOf(object)} ${object.metadata.uid} ${object.metadata.resourceVersion}`)
    .sort();
}
