import { z } from "zod";

import { ConfigMap, DataKey, Label, Name, type ObjectMeta } from "../runtime/api";
import {
  ApiError,
  CannotConnectError,
  ConnectionError,
  DeadlineError,
  KubeClient,
  KubeconfigError,
} from "../runtime/kube";
import { lookMs } from "./core/cluster-access";
import { discoverKind } from "./core/observation";
import { isPlugin } from "./tenant-namespace-holders";

/** Looks at a cluster, where it can be reached and looked at; what is wrong with it otherwise is told by whatever is made there. */
export async function lookBeforehand(
  kubeconfig: string,
  look: (client: KubeClient, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let client: KubeClient;
  try {
    client = KubeClient.fromKubeconfig(kubeconfig, { deadlineMs: lookMs });
  } catch (error) {
    if (error instanceof KubeconfigError) return;
    throw error;
  }
  try {
    await look(client, AbortSignal.timeout(2 * lookMs));
  } catch (error) {
    if (!cannotLook(error)) throw error;
  } finally {
    client.close();
  }
}

function cannotLook(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    error instanceof CannotConnectError ||
    error instanceof DeadlineError ||
    (error instanceof ApiError && (error.status === 401 || error.status === 403))
  );
}

/** What is wrong with a cluster ID, by the installation that is there; undefined where there is none (yet). */
export async function clusterIdFault(
  client: KubeClient,
  { clusterId, namespace }: { clusterId: string; namespace: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const ref = { name: Name.clusterIDConfigMap, namespace };
  const has = (await client.get(ConfigMap, ref, { signal, deadlineMs: lookMs }))?.data?.[DataKey.clusterID];
  if (has === undefined || has === clusterId) return undefined;
  return `clusterId is "${clusterId}", but the cluster at ${client.server} has the ID "${has}" (ConfigMap ${namespace}/${ref.name}). Nothing was changed. Give "${has}", best as the Installation's clusterId; or, for "${clusterId}", the kubeconfig of that cluster`;
}

/** An object that is to be made. */
export interface PlannedObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string | undefined; labels?: Record<string, string> | undefined };
}

export interface ExistingObjectOptions {
  /** Whether the program takes over what is there. */
  adopt: boolean;
  preview: boolean;
  signal: AbortSignal;
  /** A line for the person who waits. */
  tell: (line: string) => void;
}

/** @throws Error where the object is there and must not be taken over */
export async function existingObject(
  client: KubeClient,
  planned: PlannedObject,
  { adopt, preview, signal, tell }: ExistingObjectOptions,
): Promise<void> {
  const { name, namespace } = planned.metadata;
  const limits = { signal, deadlineMs: lookMs };
  const kind = await discoverKind(client, planned.apiVersion, planned.kind, limits);
  const found = kind && (await client.get(kind, { name, ...(namespace && { namespace }) }, limits));
  if (found === undefined) return;
  const verdict = verdictOn(planned, found.metadata, { adopt, preview });
  const subject = `${planned.kind} ${namespace === undefined ? "" : `${namespace}/`}${name} at ${client.server}`;
  if (verdict.is === "refused") throw new Error(`${subject} ${verdict.text}`);
  if (verdict.is === "told") tell(`${subject} ${verdict.text}`);
}

export type Verdict = { is: "fine" } | { is: "told" | "refused"; text: string };

/** What becomes of an object that is there already. */
export function verdictOn(
  planned: PlannedObject,
  found: FoundMetadata,
  { adopt, preview }: Pick<ExistingObjectOptions, "adopt" | "preview">,
): Verdict {
  // A preview passes: by the time of the run it is gone, or it is checked again.
  if (found.deletionTimestamp)
    return preview ? { is: "fine" } : { is: "refused", text: "is being removed; run again when it is gone" };
  const writers = writersOf(found);
  const of = `is there already, written by ${writers.join(" and ") || "somebody else"}`;
  const [wanted, has] = [planned.metadata.labels, found.labels].map(
    (labels) => labels?.[Label.remoteClusterID],
  );
  if (wanted !== has) {
    return {
      is: "refused",
      text: `${of}, and is for ${has === undefined ? "no cluster" : `cluster ${has}`}, by its label ${Label.remoteClusterID}, not for ${wanted}. Remove it, or give another tenantNamespace`,
    };
  }
  if (adopt)
    return {
      is: "told",
      text: `${of}; ${preview ? "it will be" : "it is"} taken over, as adoptExisting says`,
    };
  const wayOut = `Give the cluster "adoptExisting: true" to take it over; or remove it, by whatever made it${NETWORK_KINDS.has(planned.kind) ? '; or, where another peering connects the networks of the two, give this one "networking: { enabled: false }"' : ""}`;
  // A preview cannot tell an object of this stack that is made anew from another stack's; the run can.
  if (preview && writers.some(isPlugin))
    return { is: "told", text: `${of}. If another stack has it, up will refuse to take it over. ${wayOut}` };
  return { is: "refused", text: `${of}, and this program would take it over. ${wayOut}` };
}

const NETWORK_KINDS: ReadonlySet<string> = new Set([
  "Configuration",
  "GatewayServer",
  "GatewayClient",
  "PublicKey",
]);

export type FoundMetadata = Pick<ObjectMeta, "deletionTimestamp" | "labels" | "managedFields">;

const managedField = z.object({ manager: z.string(), subresource: z.string().optional() });

/** Who wrote what a person declares: whoever wrote the status alone does not count. */
function writersOf({ managedFields = [] }: FoundMetadata): string[] {
  const writers = managedFields
    .map((field) => managedField.safeParse(field).data)
    .filter((field) => field !== undefined)
    .filter(({ subresource }) => !subresource)
    .map(({ manager }) => manager);
  return [...new Set(writers)].sort();
}
