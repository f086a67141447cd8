import { Label } from "../api";
import { creatorUserLabel } from "../plan/peer-objects";
import { podFault, type PodPolicy } from "../plan/pod-policy";
import { type AdmissionRequest, ALLOWED, denied, errored, type Verdict } from "./admission-review";
import type { Leadership } from "./leadership";
import { type PodDemand, podDemand, UnreadableDemand } from "./pod-demand";
import type { QuotaLedger } from "./quota-ledger";
import { type QuotaLimits, quotaViolation } from "./quota-rules";
import { podOf, validateShadowPodUpdate } from "./shadow-pod-update";
import type { Webhook } from "./webhook";

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
  // Written by our mutating webhook unless it is right already; if that one was not called, nothing vouches for the label.
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
  // The watch may lag behind a deletion: only the API server knows.
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

/** Without a pause between check and claim, so that no other request comes between them. */
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
