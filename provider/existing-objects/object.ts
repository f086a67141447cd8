import { z } from "zod";

import { Label, type ObjectMeta } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { lookMs } from "../cluster-inputs";
import { isPlugin } from "../tenant-namespace/holds";
import { discoverKind } from "../waiting/kind-discovery";

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
  // By the time of the run it is gone, or asked about again.
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
