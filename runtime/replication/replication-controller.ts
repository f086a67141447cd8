import { createHash } from "node:crypto";
import {
  Annotation,
  DataKey,
  EventReason,
  Finalizer,
  ForeignCluster,
  type KubeObject,
  Label,
  Namespace,
  Secret,
} from "../api";
import { isDeclaredDead, isSilent } from "../foreign-cluster/conditions";
import { usableKubeconfig } from "../identity";
import {
  type Controller,
  exceptStatus,
  type Informer,
  KubeClient,
  KubeconfigError,
  type Outcome,
  PEER_LIMITS,
  runController,
  type RuntimeContext,
  watches,
} from "../kube";
import { maySpeakOf } from "../plan/peer-objects";
import { chooseIdentity } from "./control-plane-secret";

import { SecretMakers, waitingMessage } from "./control-plane-secret";
import { PeerReplicator } from "./peer-replicator";
import { type ReplicationMetrics, replicationMetrics } from "./replication-metrics";
import { destinationOf, isDisowned, unlessGone, UnservedSources } from "./sources";

interface ReplicationOptions {
  /** This cluster's ID. */
  clusterId: string;
}

interface Running {
  replicator: PeerReplicator;
  localNamespace: string;
  remote: KubeClient;
  secretUid: string | undefined;
  /** Changes with everything that the replicator was made of. */
  fingerprint: string;
  refresh: { cancel(): void } | undefined;
}

const peer = "peer";
/** In place of a cluster ID, none of which has a blank in it. */
const DISOWNED = "objects that are sources no more";
/** A Secret that was deleted by hand is there again by then. */
const MADE_AGAIN_MS = 2_000;

/**
 * Starts the replicator (control plane reference 11): one replicator for each peer whose control-plane Secret is there, each with a queue,
 * watches and connections of its own, so that no peer waits for another.
 */
export function startReplication(runtime: RuntimeContext, options: ReplicationOptions): Controller {
  return new Replication(runtime, options).run();
}

class Replication {
  private readonly secrets: Informer<Secret>;
  private readonly foreignClusters: Informer<ForeignCluster>;
  /** Those that name a peer. */
  private readonly peerNamespaces: Informer<Namespace>;
  private readonly unserved: UnservedSources;
  private readonly makers: SecretMakers;
  private readonly running = new Map<string, Running>();
  private readonly metrics: ReplicationMetrics;

  constructor(
    private readonly runtime: RuntimeContext,
    private readonly options: ReplicationOptions,
  ) {
    const { client, informers, metrics, clock } = runtime;
    this.metrics = replicationMetrics(metrics, () => clock.monotonic());
    // Shared with the other controllers; the index holds the control planes' alone.
    this.secrets = informers.informer(Secret, { labelSelector: Label.remoteClusterID });
    this.secrets.addIndex(peer, controlPlanesPeer);
    this.foreignClusters = informers.informer(ForeignCluster);
    this.foreignClusters.addIndex(peer, ({ spec }) => [spec.clusterID]);
    this.peerNamespaces = informers.informer(Namespace, { labelSelector: Label.remoteClusterID });
    this.unserved = new UnservedSources(runtime);
    this.makers = new SecretMakers(informers, client);
  }

  run(): Controller {
    const controller = runController(
      {
        name: "secret_crdreplicator",
        sources: [
          watches(this.secrets, { keys: controlPlanesPeer }),
          watches(this.peerNamespaces, {
            keys: ({ metadata }) =>
              this.secrets
                .list()
                .filter((secret) => secret.metadata.namespace === metadata.name)
                .flatMap(controlPlanesPeer),
            when: exceptStatus,
          }),
          watches(this.foreignClusters, {
            keys: ({ spec }) => [spec.clusterID],
            when: (event) =>
              event.type !== "updated" ||
              isDeclaredDead(event.before) !== isDeclaredDead(event.object) ||
              isSilent(event.before) !== isSilent(event.object),
          }),
          this.makers.changes(),
          ...[...this.unserved.informers.values()].map((informer) =>
            watches(informer, {
              keys: destinationOf,
              when: ({ type, object }) => type !== "updated" || Boolean(object.metadata.deletionTimestamp),
            }),
          ),
          ...[...this.unserved.informers.values()].map((informer) =>
            watches(informer, {
              keys: () => [DISOWNED],
              when: ({ object }) => isDisowned(object) && Boolean(object.metadata.deletionTimestamp),
            }),
          ),
        ],
        reconcile: (clusterId) => this.reconcile(clusterId, controller),
      },
      this.runtime,
    );
    this.runtime.signal.addEventListener("abort", () => {
      for (const clusterId of [...this.running.keys()]) void this.stop(clusterId);
    });
    return controller;
  }

  private async reconcile(clusterId: string, controller: Controller): Promise<Outcome> {
    if (clusterId === DISOWNED) return await this.unserved.releaseDisowned(this.servedNamespaces());
    const secrets = await this.secretsFor(clusterId);
    const current = this.running.get(clusterId);
    const { use, leaving, faulty } = chooseIdentity(secrets, current?.secretUid);
    for (const { secret, message } of faulty) {
      this.runtime.events.warning(secret, EventReason.invalidControlPlaneSecret, message);
    }
    if (use === undefined) {
      await this.stop(clusterId);
      for (const secret of leaving) await this.release(secret);
      if (secrets.length > 0) return;
      await this.unserved.release(clusterId, undefined);
      if (current !== undefined) return { requeueAfterMs: MADE_AGAIN_MS };
      return this.unserved.tellMissingIdentity(clusterId);
    }
    const secret = await this.hold(use);
    const started = await this.ensureRunning(clusterId, secret, controller);
    await this.unserved.release(clusterId, use.metadata.namespace);
    if (!use.metadata.deletionTimestamp) {
      for (const other of leaving) await this.release(other);
      started?.replicator.enqueueAll();
      return;
    }
    // Deleted by hand: gone, it is made again, and the replication goes on with the new one.
    if (await this.makers.makeAgain(secret)) return await this.release(secret);
    return await this.leave(clusterId, leaving, started);
  }

  /**
   * The Secrets that this cluster made to reach a peer. One in a namespace that was made for a consumer, or in that of another peer, is a stranger's: it
   * leads this cluster nowhere, and does not stand in the way of the right one.
   */
  private async secretsFor(clusterId: string): Promise<Secret[]> {
    const counted: Secret[] = [];
    for (const secret of this.secrets.byIndex(peer, clusterId)) {
      const { namespace = "", deletionTimestamp, finalizers } = secret.metadata;
      if (maySpeakOf(this.peerNamespaces.get(namespace), clusterId)) counted.push(secret);
      else if (deletionTimestamp === undefined)
        this.runtime.events.warning(
          secret,
          EventReason.wrongNamespace,
          `namespace "${namespace}" is not this cluster's for cluster "${clusterId}", so that nothing is replicated by this Secret; delete it, or take its label ${Label.identityType} away`,
        );
      // Held by an earlier version.
      else if (finalizers?.includes(Finalizer.replicator) === true) await this.release(secret);
    }
    return counted;
  }

  /** Lets go of a peer's Secrets once nothing is left on either side (control plane reference 11.2). */
  private async leave(clusterId: string, leaving: Secret[], running: Running | undefined): Promise<Outcome> {
    running?.replicator.enqueueAll();
    const sources = running?.replicator.leftSources ?? [];
    const silent = !this.isDead(clusterId) && this.foreignClusters.byIndex(peer, clusterId).some(isSilent);
    const message = waitingMessage(clusterId, sources, silent);
    if (message !== undefined) {
      for (const secret of leaving)
        this.runtime.events.warning(secret, EventReason.controlPlaneSecretHeld, message);
    }
    if (sources.length > 0) return; // their going brings us back
    if (running !== undefined && !this.isDead(clusterId) && (await running.replicator.hasCopies())) {
      return { requeueAfterMs: 1_000 };
    }
    await this.stop(clusterId);
    for (const secret of leaving) await this.release(secret);
  }

  private async ensureRunning(
    clusterId: string,
    secret: Secret,
    controller: Controller,
  ): Promise<Running | undefined> {
    const { clock, events } = this.runtime;
    const remoteNamespace = secret.metadata.annotations?.[Annotation.remoteTenantNamespace] ?? "";
    const fingerprint = fingerprintOf(secret, remoteNamespace);
    const current = this.running.get(clusterId);
    if (current?.fingerprint === fingerprint) {
      current.secretUid = secret.metadata.uid;
      return current;
    }
    const kubeconfig = usableKubeconfig(secret.data, new Date(clock.now()));
    let remote: KubeClient;
    try {
      remote = KubeClient.fromKubeconfig(kubeconfig?.text ?? "", {
        selfContained: true,
        source: `Secret "${secret.metadata.namespace}/${secret.metadata.name}"`,
        userAgent: `liqo-crd-replicator/${this.options.clusterId}`,
        metrics: this.runtime.metrics,
        limits: PEER_LIMITS,
      });
    } catch (error) {
      if (!(error instanceof KubeconfigError)) throw error;
      events.warning(secret, EventReason.invalidControlPlaneSecret, error.message);
      return current;
    }
    await this.stop(clusterId);
    const localNamespace = secret.metadata.namespace ?? "";
    const replicator = new PeerReplicator(
      {
        route: { localClusterId: this.options.clusterId, remoteClusterId: clusterId, remoteNamespace },
        localNamespace,
        local: this.runtime.client,
        remote,
        sources: this.unserved.informers,
        isDead: () => this.isDead(clusterId),
        onPresenceChange: () => controller.enqueue(clusterId),
        lag: this.metrics.ofPeer(clusterId),
      },
      this.runtime,
    );
    const running: Running = {
      replicator,
      localNamespace,
      remote,
      secretUid: secret.metadata.uid,
      fingerprint,
      refresh: undefined,
    };
    this.running.set(clusterId, running);
    this.refreshToken(running, secret, kubeconfig?.refreshAfterMs);
    this.runtime.log.info("replication started", { peer: clusterId, localNamespace, remoteNamespace });
    return running;
  }

  /** Cloud identities prove themselves by tokens that expire. */
  private refreshToken(running: Running, secret: Secret, afterMs: number | undefined): void {
    if (afterMs === undefined) return;
    const { clock } = this.runtime;
    running.refresh = clock.after(afterMs, () => {
      const next = usableKubeconfig(secret.data, new Date(clock.now()));
      if (next === undefined) return;
      running.remote.replaceCredentials(next.text, { selfContained: true });
      this.refreshToken(running, secret, next.refreshAfterMs);
    });
  }

  private async stop(clusterId: string): Promise<void> {
    const current = this.running.get(clusterId);
    if (current === undefined) return;
    this.running.delete(clusterId);
    current.refresh?.cancel();
    await current.replicator.stop();
    this.runtime.log.info("replication stopped", { peer: clusterId });
  }

  private servedNamespaces(): Set<string> {
    return new Set([...this.running.values()].map(({ localNamespace }) => localNamespace));
  }

  private async hold(secret: Secret): Promise<Secret> {
    const finalizers = secret.metadata.finalizers ?? [];
    // Nothing can be held that is already being deleted.
    if (finalizers.includes(Finalizer.replicator) || secret.metadata.deletionTimestamp) return secret;
    return await this.writeFinalizers(secret, [...finalizers, Finalizer.replicator]);
  }

  private async release(secret: Secret): Promise<void> {
    const finalizers = secret.metadata.finalizers ?? [];
    const others = finalizers.filter((name) => name !== Finalizer.replicator);
    await unlessGone(this.writeFinalizers(secret, others));
  }

  private async writeFinalizers(secret: Secret, finalizers: string[]): Promise<Secret> {
    const { uid, resourceVersion } = secret.metadata;
    return await this.runtime.client.patch(
      Secret,
      secret.metadata,
      { metadata: { uid, resourceVersion, finalizers } },
      { type: "merge" },
    );
  }

  private isDead(clusterId: string): boolean {
    return this.foreignClusters.byIndex(peer, clusterId).some(isDeclaredDead);
  }
}

function fingerprintOf(secret: Secret, remoteNamespace: string): string {
  const hash = createHash("sha256").update(`${secret.metadata.namespace}\n${remoteNamespace}`);
  for (const key of Object.values(DataKey)) hash.update(`\n${key}=${secret.data?.[key] ?? ""}`);
  return hash.digest("hex");
}

/** The peer of a Secret that holds a control-plane identity. */
function controlPlanesPeer(secret: Secret): string[] {
  const type = secret.metadata.labels?.[Label.identityType];
  return type === "ControlPlane" ? labelOf(Label.remoteClusterID)(secret) : [];
}

function labelOf(label: string): (object: KubeObject) => string[] {
  return ({ metadata }) => {
    const value = metadata.labels?.[label];
    return value === undefined || value === "" ? [] : [value];
  };
}
