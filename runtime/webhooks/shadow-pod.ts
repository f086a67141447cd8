import { isDeepStrictEqual } from "node:util";
import { Label } from "../api";
import { isRecord } from "../api/invalid-object";
import { creatorUserLabel } from "../plan/peer-objects";
import { podFault, type PodPolicy } from "../plan/pod-policy";
import {
  type AdmissionRequest,
  ALLOWED,
  denied,
  errored,
  labelPatch,
  patched,
  type Verdict,
  type Webhook,
} from "./admission-review";
import type { Leadership } from "./leadership";
import { type PodDemand, podDemand, type QuotaLimits, quotaViolation, UnreadableDemand } from "./quota-check";
import type { QuotaLedger } from "./quota-ledger";

export interface ShadowPodWebhookOptions {
  /** Whether creators are held to their quotas. */
  enforce: boolean;
  /** What pods may name of this cluster; that is looked at in any case. */
  policy: PodPolicy;
  ledger: QuotaLedger;
  /** Whether the ledger has seen everything that is stored. */
  ready: () => boolean;
  /** Whether this process may book: of several, one does. */
  leadership: Leadership;
  /** The quota of a user, by its creator label. */
  quotaOf: (creator: string) => QuotaLimits | undefined;
  /** Finds out whether pods of a user that still count are gone; whether there may be room now. */
  makeRoom: (creator: string) => Promise<boolean>;
  /** Labels of a namespace; undefined when there is none. */
  namespaceLabels: (namespace: string) => Promise<Readonly<Record<string, string>> | undefined>;
  /** Whether a ShadowPod exists, asked of the API server itself. */
  exists: (namespace: string, name: string) => Promise<boolean>;
}

/**
 * Decides about ShadowPods: that they come from the cluster that the namespace belongs to, that they name nothing of the provider that is not
 * for strangers, that their creator has the quota, and that updates touch only what a Pod may change.
 *
 * @see offloading reference 16.4
 */
export function shadowPodValidator(options: ShadowPodWebhookOptions): Webhook {
  return async (request) => {
    if (options.enforce && !options.ready()) return errored(500, "initialization in progress");
    if (request.operation === "UPDATE") return validateShadowPodUpdate(request);
    return request.operation === "CREATE" ? await validateCreation(request, options) : ALLOWED;
  };
}

async function validateCreation(
  request: AdmissionRequest,
  options: ShadowPodWebhookOptions,
): Promise<Verdict> {
  const { object, namespace, username } = request;
  if (object === undefined) return errored(400, "the request carries no ShadowPod");
  const { labels } = object.metadata;
  const origin = labels[Label.reflectionOrigin];
  if (origin === undefined) return denied("missing origin Cluster ID label");
  const namespaceLabels = await options.namespaceLabels(namespace);
  if (namespaceLabels === undefined) return errored(400, `namespace ${namespace} not found`);
  if (namespaceLabels[Label.remoteClusterID] !== origin) return denied("shadowpod Cluster ID label mismatch");
  const fault = podFault(podOf(object.raw), options.policy);
  if (fault !== undefined) return denied(fault);
  if (!options.enforce) return ALLOWED;
  const creator = labels[Label.creatorUser];
  // Our mutating webhook sets the label. If it was not called, nothing vouches for the label.
  if (creator === undefined || creator !== creatorUserLabel(username)) return denied("missing creator label");
  let demand: PodDemand;
  try {
    demand = podDemand(podOf(object.raw));
  } catch (error) {
    if (error instanceof UnreadableDemand) return denied(error.message);
    throw error;
  }
  const name = object.metadata.name ?? request.name;
  const key = `${namespace}/${name}`;
  const stored = options.ledger.stored(key);
  // The watch may lag behind a deletion, so the API server is asked.
  if (stored !== undefined && (await options.exists(namespace, name))) {
    return denied(
      stored.released ? "ShadowPod still exists in the system" : `ShadowPod ${name} is already running`,
    );
  }
  const refusal = await options.leadership.refusal();
  // Not final: API servers that try again reach the leader.
  if (refusal !== undefined) return errored(503, refusal);
  const verdict = charge(request, key, creator, demand, options);
  if (verdict.allowed || !(await options.makeRoom(creator))) return verdict;
  const since = await options.leadership.refusal();
  return since === undefined ? charge(request, key, creator, demand, options) : errored(503, since);
}

/** Checks the quota and books the demand synchronously, so that no other request comes in between. */
function charge(
  request: AdmissionRequest,
  key: string,
  creator: string,
  demand: PodDemand,
  { ledger, quotaOf }: ShadowPodWebhookOptions,
): Verdict {
  const quota = quotaOf(creator);
  if (quota === undefined)
    return denied(
      `failed getting quota: there is none for user "${creator}"; it comes with a granted ResourceSlice of that user`,
    );
  const violation = quotaViolation(quota, demand, ledger.usage(creator, key));
  if (violation !== undefined) return denied(violation);
  if (!request.dryRun)
    ledger.admit(key, { uid: request.object?.metadata.uid, creator, demand: demand.total });
  return ALLOWED;
}

/**
 * Sets the creator label of a ShadowPod, by which the quota ledger books its demand. On creation it is the caller's name, whatever the request says;
 * on updates it stays the name of the creator.
 *
 * The peer that a ShadowPod came from (the group named by its origin) may change only what it created itself. RBAC decides about users of the provider,
 * among them its administrators and the garbage collector.
 *
 * @see offloading reference 16.4
 */
export function stampCreator(request: AdmissionRequest): Verdict {
  const { operation, object, oldObject, username } = request;
  if (object === undefined) return ALLOWED;
  const caller = creatorUserLabel(username);
  if (operation === "CREATE") {
    return caller === undefined
      ? denied("missing creator name")
      : patched(labelPatch(object, Label.creatorUser, caller));
  }
  const creator = oldObject?.metadata.labels[Label.creatorUser];
  const fromPeer = isPeer(request);
  if (creator === undefined) return fromPeer ? denied("missing creator name") : ALLOWED;
  if (fromPeer && caller !== creator) return denied("creator name cannot be modified");
  const asked = object.metadata.labels[Label.creatorUser];
  if (!fromPeer && asked !== undefined && asked !== creator) return denied("creator name cannot be modified");
  return patched(labelPatch(object, Label.creatorUser, creator));
}

function isPeer({ oldObject, groups }: AdmissionRequest): boolean {
  const origin = oldObject?.metadata.labels[Label.reflectionOrigin];
  return origin !== undefined && groups.includes(origin);
}

/**
 * Validates an update: the origin, the creator and the immutable part of the pod's spec may not change.
 *
 * @see offloading reference 16.4
 */
export function validateShadowPodUpdate({ object, oldObject }: AdmissionRequest): Verdict {
  if (object === undefined || oldObject === undefined) return ALLOWED;
  const origin = object.metadata.labels[Label.reflectionOrigin];
  if (origin === undefined) return denied("missing origin Cluster ID label");
  if (origin !== oldObject.metadata.labels[Label.reflectionOrigin])
    return denied("shadopow Cluster ID label is changed");
  const creator = oldObject.metadata.labels[Label.creatorUser];
  if (creator !== undefined && object.metadata.labels[Label.creatorUser] !== creator)
    return denied("creator name cannot be modified");
  const difference = frozenDifference(podOf(oldObject.raw), podOf(object.raw));
  if (difference === undefined) return ALLOWED;
  return denied(
    `${difference} cannot be modified: only images, activeDeadlineSeconds and tolerations of a ShadowPod may change`,
  );
}

/** `spec.pod` of a ShadowPod, as it came. */
export function podOf(shadowPod: Readonly<Record<string, unknown>>): unknown {
  return isRecord(shadowPod.spec) ? shadowPod.spec.pod : undefined;
}

/**
 * The first difference in the immutable part of two pod specs; undefined when there is none. As with pods, only images, `activeDeadlineSeconds` and
 * tolerations may change: the Pod exists already, and nothing else would reach it.
 *
 * @returns the field's path, such as `spec.pod.containers[0].env`
 * @see offloading reference 16.4
 */
export function frozenDifference(before: unknown, after: unknown): string | undefined {
  const path = "spec.pod";
  if (!isRecord(before) || !isRecord(after)) return isDeepStrictEqual(before, after) ? undefined : path;
  for (const field of fieldsOf(before, after)) {
    if (field === "activeDeadlineSeconds" || field === "tolerations") continue;
    const difference =
      field === "containers" || field === "initContainers"
        ? containersDifference(`${path}.${field}`, before[field], after[field])
        : plainDifference(`${path}.${field}`, before[field], after[field]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function containersDifference(path: string, before: unknown, after: unknown): string | undefined {
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length)
    return plainDifference(path, before, after);
  for (const [index, container] of before.entries()) {
    const other: unknown = after[index];
    if (!isRecord(container) || !isRecord(other)) {
      if (!isDeepStrictEqual(container, other)) return `${path}[${index}]`;
      continue;
    }
    for (const field of fieldsOf(container, other)) {
      if (field !== "image" && !isDeepStrictEqual(container[field], other[field]))
        return `${path}[${index}].${field}`;
    }
  }
  return undefined;
}

/** An absent field and an empty list or map mean the same in a pod. */
function plainDifference(path: string, before: unknown, after: unknown): string | undefined {
  return isDeepStrictEqual(orAbsent(before), orAbsent(after)) ? undefined : path;
}

function orAbsent(value: unknown): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value;
  return isRecord(value) && Object.keys(value).length === 0 ? undefined : value;
}

function fieldsOf(a: Record<string, unknown>, b: Record<string, unknown>): Set<string> {
  return new Set([...Object.keys(a), ...Object.keys(b)]);
}
