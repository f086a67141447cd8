import { ShadowPod } from "../../api";
import { EventReason, Label, LabelValue } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import {
  type Informer,
  isConflict,
  isForbidden,
  type KubeClient,
  messageOf,
  type Outcome,
  refOfKey,
} from "../../kube";
import type { Peer } from "../peer/peer";
import type { RemoteNamespace } from "../peer/remote-namespace";
import { tokenSecretName } from "../peer/token-secret";
import { REFUSAL_GRACE_MS } from "../reflection/reflection-report";
import { holdsEarlierTokens } from "../tokens/pod-tokens";
import {
  decideNotOffloaded,
  decidePod,
  type PodDecision,
  viewOfLocal,
  viewOfRemote,
  viewOfShadow,
} from "./pod-decision";
import {
  forgetRemoteWrites,
  type PodExpectations,
  PodExpectationsByKey,
  UNSEEN_MS,
} from "./pod-expectations";
import { localStatus, rememberRestarts, shownAddress, whyWithheld } from "./pod-status";
import {
  lostStatus,
  refusedStatus,
  rejectedStatus,
  type Rejection,
  takenStatus,
} from "./pod-status-not-running";
import { PodStatusWriter } from "./pod-status-writer";
import { CONFLICT_RETRY_MS, RemovalLimiter, type ShadowPodParts, ShadowPodWriter } from "./shadow-pod-writer";

/** How often a namespace that cannot be listed yet is checked, in milliseconds. Its objects bring events once it can. */
const UNLISTED_RETRY_MS = 15_000;
/** The delay before tokens that are being renewed are checked again, in milliseconds: it grows with the time that they take. */
const TOKENS_AGAIN_MS = { least: 50, most: 5_000 };

interface Parts extends ShadowPodParts {
  /** Bound to the node. */
  localPods: Informer<Pod>;
  /** Has a key reconciled again. */
  enqueue: (key: string) => void;
}

/** Brings the pods of one virtual node to its provider and their status back (offloading reference 11). */
export class PodReconciler {
  private readonly expectations: PodExpectationsByKey;
  private readonly statuses: PodStatusWriter;
  private readonly shadows: ShadowPodWriter;
  private readonly removals: RemovalLimiter;

  constructor(private readonly parts: Parts) {
    this.expectations = new PodExpectationsByKey(parts.clock);
    this.statuses = new PodStatusWriter(parts.localClient, parts.clock);
    this.shadows = new ShadowPodWriter(parts);
    this.removals = new RemovalLimiter(parts.clock, parts.enqueue);
  }

  /** @param key `namespace/name` of a local pod */
  reconcile(key: string): Promise<Outcome> {
    return this.parts.report.counting(key, () => this.reconcilePod(key));
  }

  private async reconcilePod(key: string): Promise<Outcome> {
    const { peer, access, localPods, nodeName } = this.parts;
    const { namespace = "", name } = refOfKey(key);
    if (!peer.known) return;
    const local = localPods.getByKey(key);
    const expected = this.expectations.of(key);
    if (peer.remoteNamespaceOf(namespace) === undefined)
      return await this.reconcileNotOffloaded(key, local, expected);
    const remote = peer.cacheOf(namespace);
    // The namespace and the client each bring an event when they appear.
    if (remote === undefined || access.client === undefined) return;
    if (!remote.synced) return await this.reconcileUnsynced(local, expected, remote);

    const shadow = remote.shadowPods.get(name, remote.remote);
    this.expectations.observe(expected, shadow, remote.shadowPods);
    const remotePod = remote.pods.get(name, remote.remote);
    const stays = remotePod !== undefined && remotePod.metadata.deletionTimestamp == null;
    if (!stays) this.removals.followed(key);
    const decision = decidePod({
      nodeName,
      local: local && viewOfLocal(local),
      shadow: viewOfShadow(shadow, expected, nodeName, peer.pair),
      remote: viewOfRemote(remotePod, peer.pair),
    });
    this.expectations.keep(key, local !== undefined, expected);
    const outcome = await this.carryOut(decision, {
      key,
      name,
      local,
      expected,
      remote,
      client: access.client,
    });
    if (outcome === undefined && expected.created !== undefined) return { requeueAfterMs: UNSEEN_MS };
    return outcome;
  }

  private async carryOut(decision: PodDecision, pod: ReconciledPod): Promise<Outcome> {
    const { expected, local } = pod;
    switch (decision.do) {
      case "nothing":
        return;
      case "report-conflict":
        this.parts.report.conflict(local);
        return { requeueAfterMs: CONFLICT_RETRY_MS };
      case "delete-shadow-pod":
        return await this.deleteShadow(pod, decision.uid);
      case "delete-local-pod":
        return await this.deleteLocal(pod.key, decision.uid, expected);
      case "create-shadow-pod":
        return local && (await this.create(local, pod));
      case "reflect":
        return local && (await this.reflect(local, pod, decision));
      case "finish":
        return local && (await this.reject(local, expected, decision.rejection, true));
    }
  }

  private async deleteShadow(
    { key, name, remote, expected, client }: ReconciledPod,
    uid: string,
  ): Promise<Outcome> {
    const waitMs = this.removals.take(key);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    try {
      await ignoringConflict(client.delete(ShadowPod, { name, namespace: remote.remote }, { uid }));
    } catch (error) {
      this.removals.followed(key);
      throw error;
    }
    expected.deleted = uid;
  }

  private async create(local: Pod, { remote, name, expected, client }: ReconciledPod): Promise<Outcome> {
    const { peer, dependencies } = this.parts;
    const secret = remote.secrets.get(tokenSecretName(name), remote.remote);
    const isOffered = dependencies().settings.flags.enableApiserverSupport;
    if (holdsEarlierTokens(secret, local, isOffered, peer.pair)) {
      const now = this.parts.clock.monotonic();
      expected.tokensDueSince ??= now;
      const { least, most } = TOKENS_AGAIN_MS;
      return { requeueAfterMs: Math.min(most, Math.max(least, now - expected.tokensDueSince)) };
    }
    delete expected.tokensDueSince;
    try {
      const outcome = await this.shadows.create(local, { name, namespace: remote.remote }, expected, client);
      delete expected.refusedSince;
      return outcome;
    } catch (error) {
      await this.writeLostStatus(local, expected, messageOf(error));
      if (isForbidden(error)) await this.writeRefusedStatus(local, expected, messageOf(error));
      throw error;
    }
  }

  /** For a pod that never ran. Refusals that end within seconds are not written. */
  private async writeRefusedStatus(local: Pod, expected: PodExpectations, why: string): Promise<void> {
    const now = this.parts.clock.monotonic();
    expected.refusedSince ??= now;
    if (now - expected.refusedSince < REFUSAL_GRACE_MS) return;
    const refused = refusedStatus(local.status, why);
    if (refused !== undefined) await this.statuses.write(local, refused, expected, false);
  }

  /** The remote namespace is not listed yet. Where the provider forbids to list it, the status of the local pod says so. */
  private async reconcileUnsynced(
    local: Pod | undefined,
    expected: PodExpectations,
    { forbidden }: RemoteNamespace,
  ): Promise<Outcome> {
    if (local !== undefined && forbidden !== undefined)
      await this.writeLostStatus(local, expected, forbidden);
    return { requeueAfterMs: UNLISTED_RETRY_MS };
  }

  /** For a pod that was ready and is no longer known to run. A pod that never ran keeps waiting. */
  private async writeLostStatus(local: Pod, expected: PodExpectations, why: string): Promise<void> {
    const lost = lostStatus(local.status, why, this.now());
    if (lost !== undefined) await this.writeStatus(local, lost, expected);
  }

  private async reflect(
    local: Pod,
    pod: ReconciledPod,
    decision: { metadata: boolean; remote: boolean },
  ): Promise<Outcome> {
    const { remote, name, expected, client } = pod;
    const { settings, nodeIp, translateIp } = this.parts.dependencies();
    const shadow = remote.shadowPods.get(name, remote.remote);
    if (decision.metadata && shadow !== undefined) await this.shadows.alignMetadata(local, shadow, client);

    const remotePod = decision.remote ? remote.pods.get(name, remote.remote) : undefined;
    const unavailable = local.metadata.labels?.[Label.remoteUnavailable] === LabelValue.true;
    if (remotePod === undefined) {
      // There is no status yet, except why the provider creates no pod. The local pod is marked as taken over all the same.
      const why = decision.remote ? undefined : shadow?.status?.message;
      const refused = why === undefined ? undefined : refusedStatus(local.status, why);
      const before = expected.written;
      const outcome = await this.writeStatus(local, refused ?? takenStatus(local.status), expected);
      if (refused !== undefined && expected.written !== before) this.parts.report.failed(local, why);
      return outcome;
    }
    expected.restarts = rememberRestarts(
      expected.restarts,
      { uid: local.metadata.uid ?? "", status: local.status },
      { uid: remotePod.metadata.uid ?? "", status: remotePod.status },
    );
    const addresses = { translateIp, reflectIps: !settings.flags.disableIpReflection };
    this.warnOfWithheldAddress(local, expected, shownAddress(remotePod.status, addresses).withheld);
    const desired = localStatus(remotePod.status, local.status, {
      nodeIp,
      ...addresses,
      restartOffset: expected.restarts.offset,
      readinessGates: (local.spec.readinessGates ?? []).map(({ conditionType }) => conditionType),
      unavailable,
      now: this.now(),
    });
    return await this.writeStatus(local, desired, expected);
  }

  /** One event for each address; the condition on the pod stays as long as the address is withheld. */
  private warnOfWithheldAddress(local: Pod, expected: PodExpectations, address: string | undefined): void {
    if (address !== undefined && expected.withheld !== address)
      this.parts.report.warn(local, EventReason.addressWithheld, whyWithheld(address));
    if (address === undefined) delete expected.withheld;
    else expected.withheld = address;
  }

  private async writeStatus(
    local: Pod,
    desired: NonNullable<Pod["status"]>,
    expected: PodExpectations,
  ): Promise<Outcome> {
    try {
      return await this.statuses.write(local, desired, expected, true);
    } catch (error) {
      if (!isConflict(error)) this.parts.report.failedBack(local, error);
      throw error;
    }
  }

  /** For a pod whose namespace is not offloaded to the provider. */
  private async reconcileNotOffloaded(
    key: string,
    local: Pod | undefined,
    expected: PodExpectations,
  ): Promise<Outcome> {
    const decision = decideNotOffloaded(local && viewOfLocal(local));
    forgetRemoteWrites(expected);
    this.expectations.keep(key, local !== undefined, expected);
    switch (decision.do) {
      case "nothing":
        return;
      case "delete-local-pod":
        return await this.deleteLocal(key, decision.uid, expected);
      case "reject":
        return local && (await this.reject(local, expected, decision.rejection, false));
    }
  }

  private async reject(
    local: Pod,
    expected: PodExpectations,
    rejection: Rejection,
    takeOver: boolean,
  ): Promise<Outcome> {
    const desired = rejectedStatus(local.status, rejection, this.now());
    const before = expected.written;
    const outcome = await this.statuses.write(local, desired, expected, takeOver);
    if (expected.written === before || takeOver) return outcome;
    const why = disabledBecause(local, rejection, this.provider, this.parts.peer);
    if (why !== undefined) this.parts.report.warn(local, EventReason.reflectionDisabled, why);
    return outcome;
  }

  private async deleteLocal(key: string, uid: string, expected: PodExpectations): Promise<void> {
    const { localClient, localPods } = this.parts;
    if (expected.ended === uid) return;
    try {
      await ignoringConflict(localClient.delete(Pod, refOfKey(key), { uid, gracePeriodSeconds: 0 }));
      expected.ended = uid;
    } catch (error) {
      const message = `Error deleting local object: ${messageOf(error)}`;
      this.parts.report.warn(localPods.getByKey(key), EventReason.failedDeletion, message);
      throw error;
    }
  }

  private get provider(): string {
    return this.parts.peer.identity.clusterId;
  }

  private now(): string {
    return new Date(this.parts.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  }
}

/** One pod while it is reconciled. */
interface ReconciledPod {
  key: string;
  name: string;
  local: Pod | undefined;
  expected: PodExpectations;
  remote: RemoteNamespace;
  client: KubeClient;
}

/** Why a pod does not run in a namespace without a twin, and the way out; undefined where it needs to do no more than wait for the twin. */
function disabledBecause(
  { metadata: { namespace = "" } }: Pod,
  { phase }: Rejection,
  provider: string,
  peer: Peer,
): string | undefined {
  const disabled = `Reflection to cluster "${provider}" disabled for namespace "${namespace}"`;
  if (!peer.isToBeOffloaded(namespace)) {
    return `${disabled}. Offload the namespace to run the pod there; for a DaemonSet, exclude nodes labelled liqo.io/type=virtual-node`;
  }
  if (phase === "Pending") return undefined;
  return `${disabled}: the remote namespace was removed there, and this pod with it. New pods start when it is there again`;
}

/** A UID that no longer fits means that what was to go is gone. */
async function ignoringConflict(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}
