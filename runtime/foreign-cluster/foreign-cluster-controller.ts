import { createHash } from "node:crypto";
import { DataKey, type Desired, Finalizer, ForeignCluster, Label, type Secret } from "../api";
import { usableKubeconfig } from "../identity";
import {
  type Controller,
  type Outcome,
  patchStatusIfChanged,
  runController,
  type RuntimeContext,
  timestamp,
  writeIfChanged,
} from "../kube";
import { ApiServerChecker } from "./api-server-checker";
import { type ForeignClusterOptions, PeerCaches } from "./peer-caches";
import { observePeer } from "./observe-peer";
import { type PeerFacts, peerStatus } from "./status";

/** Starts the controller that keeps a ForeignCluster for each peer that any object speaks of (control plane reference 12). */
export function startForeignCluster(runtime: RuntimeContext, options: ForeignClusterOptions): Controller {
  return new ForeignClusters(runtime, options).run();
}

class ForeignClusters {
  private readonly caches: PeerCaches;

  constructor(
    private readonly runtime: RuntimeContext,
    private readonly options: ForeignClusterOptions,
  ) {
    this.caches = new PeerCaches(runtime.informers, options);
  }

  run(): Controller {
    const { runtime, options } = this;
    const checker = new ApiServerChecker({
      clock: runtime.clock,
      log: runtime.log,
      intervalMs: options.pingIntervalMs,
      timeoutMs: options.pingTimeoutMs,
      onChange: (clusterId) => controller.enqueue(clusterId),
    });
    const controller = runController(
      {
        name: "foreigncluster",
        workers: options.workers,
        sources: this.caches.sources(),
        reconcile: (clusterId) => this.reconcile(clusterId, checker),
      },
      runtime,
    );
    runtime.signal.addEventListener("abort", () => checker.stop());
    return controller;
  }

  private async reconcile(clusterId: string, checker: ApiServerChecker): Promise<Outcome> {
    const { client, clock } = this.runtime;
    const observed = observePeer(this.caches, clusterId);
    const [existing] = this.caches.ofPeer(this.caches.foreignClusters, clusterId);
    if (existing === undefined && !isKnown(observed)) {
      checker.forget(clusterId);
      return;
    }
    const foreignCluster = await this.ensure(clusterId, existing);
    if (foreignCluster.metadata.deletionTimestamp) {
      checker.forget(clusterId);
      await this.finalize(foreignCluster, false);
      return;
    }
    const checksOff = this.options.pingIntervalMs === 0;
    const { status, checked } = peerStatus(
      foreignCluster.status,
      foreignCluster.metadata.generation,
      { ...observed, apiServer: checksOff ? "disabled" : checker.health(clusterId) },
      timestamp(clock),
    );
    const again = this.check(clusterId, checked && !checksOff, checker);
    const held = await this.finalize(foreignCluster, checked && !checksOff);
    await patchStatusIfChanged(client, ForeignCluster, held, status, { exact: [""] });
    return again === undefined ? undefined : { requeueAfterMs: again };
  }

  /** Starts, goes on with or ends the checks of a peer. Returns when its token must be made anew. */
  private check(clusterId: string, wanted: boolean, checker: ApiServerChecker): number | undefined {
    const secret = wanted ? this.secretOf(clusterId) : undefined;
    const kubeconfig = usableKubeconfig(secret?.data, new Date(this.runtime.clock.now()));
    if (secret === undefined || kubeconfig === undefined) {
      checker.forget(clusterId);
      return undefined;
    }
    checker.watch(clusterId, fingerprintOf(secret), kubeconfig.text);
    return kubeconfig.refreshAfterMs;
  }

  private secretOf(clusterId: string): Secret | undefined {
    return this.caches.controlPlaneSecrets(clusterId).find(({ data }) => data?.[DataKey.kubeconfig]);
  }

  private async ensure(clusterId: string, existing: ForeignCluster | undefined): Promise<ForeignCluster> {
    const desired: Desired<ForeignCluster> = {
      apiVersion: "core.liqo.io/v1beta1",
      kind: "ForeignCluster",
      metadata: {
        name: existing?.metadata.name ?? clusterId,
        labels: { [Label.remoteClusterID]: clusterId },
      },
      spec: { clusterID: clusterId },
    };
    return (await writeIfChanged(this.runtime.client, ForeignCluster, desired, existing)).object;
  }

  /** The finalizer stands on a ForeignCluster as long as its API server is checked. */
  private async finalize(foreignCluster: ForeignCluster, checked: boolean): Promise<ForeignCluster> {
    const { uid, resourceVersion, finalizers = [] } = foreignCluster.metadata;
    if (finalizers.includes(Finalizer.apiServerChecker) === checked) return foreignCluster;
    const others = finalizers.filter((name) => name !== Finalizer.apiServerChecker);
    return await this.runtime.client.patch(
      ForeignCluster,
      foreignCluster.metadata,
      {
        metadata: {
          uid,
          resourceVersion,
          finalizers: checked ? [...others, Finalizer.apiServerChecker] : others,
        },
      },
      { type: "merge" },
    );
  }
}

/** Whether any object of a peer is there. */
function isKnown({ networking, authentication, offloading }: Omit<PeerFacts, "apiServer">): boolean {
  return (
    networking?.configuration === true ||
    networking?.server !== undefined ||
    networking?.client !== undefined ||
    networking?.connection !== undefined ||
    authentication?.tenant !== undefined ||
    authentication?.identity !== undefined ||
    authentication?.secret !== undefined ||
    (offloading?.length ?? 0) > 0
  );
}

function fingerprintOf({ data }: Secret): string {
  const hash = createHash("sha256");
  for (const key of Object.values(DataKey)) hash.update(`${key}=${data?.[key] ?? ""}\n`);
  return hash.digest("hex");
}
