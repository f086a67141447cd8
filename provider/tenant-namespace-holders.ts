import { z } from "zod";

import { Annotation, HOLDER_PREFIX, isOn } from "../runtime/api/keys/annotations";
import { Label } from "../runtime/api/keys/labels";
import { type Namespace } from "../runtime/api/kubernetes/cluster";
import { type ObjectMeta } from "../runtime/api/meta";
import { isTenantNamespace } from "../runtime/plan/peer-objects";
import { tenantNamespace } from "../runtime/plan/peering";
import {
  Configuration,
  GatewayClient,
  GatewayServer,
  Identity,
  type Kind,
  type KubeObject,
  LabelValue,
  ResourceSlice,
  RoleBinding,
  Tenant,
} from "../runtime/api";
import type { KubeClient } from "../runtime/kube";

import { peeringUserBindingNames } from "../runtime/plan/peering-user";
import { listIfServed } from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";

/** The namespace for one peer, as a stack wants it. */
export interface WantedNamespace {
  name: string;
  /** Cluster ID of the peer. */
  peer: string;
}

/** What is there, for a stack that wants a tenant namespace. */
export type Standing =
  | { is: "absent" }
  /** On its way out; another one can be made when it is gone. */
  | { is: "leaving" }
  | {
      is: "present";
      /** Whose it is, in words. */
      whose: string;
      /** Those of the labels that it does not have; others' values stay. */
      missingLabels: Record<string, string>;
      /** Whether the one who made it was a stack. */
      madeByStack: boolean;
    }
  /** Not to be taken; why, and the way out. */
  | { is: "foreign"; reason: string };

/**
 * @param labelled the namespaces that are labelled for the peer, whatever their names
 */
export function standingOf(
  wanted: WantedNamespace,
  found: Namespace | undefined,
  labelled: readonly Namespace[],
): Standing {
  const { name, peer } = wanted;
  const other = labelled.find(
    ({ metadata }) =>
      metadata.name !== name && !metadata.deletionTimestamp && isTenantNamespace(metadata.labels ?? {}),
  );
  if (other !== undefined) {
    return {
      is: "foreign",
      reason: `namespace ${other.metadata.name} is the tenant namespace for cluster ${peer} already (${whose(other.metadata)}), and there can be one only. Give this side tenantNamespace: "${other.metadata.name}", or remove what is in that one, and then it`,
    };
  }
  if (found === undefined) return { is: "absent" };
  const { metadata } = found;
  if (metadata.deletionTimestamp) return { is: "leaving" };
  const labelledFor = metadata.labels?.[Label.remoteClusterID];
  if (labelledFor !== peer || !isTenantNamespace(metadata.labels ?? {})) {
    const lacks =
      labelledFor !== undefined && labelledFor !== peer
        ? `is for cluster ${labelledFor}, by its label ${Label.remoteClusterID}`
        : `lacks the labels ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=${peer} of a tenant namespace for cluster ${peer}`;
    return {
      is: "foreign",
      reason: `namespace ${name} exists and ${lacks}. Give this side another name by tenantNamespace; or, if it is meant for ${peer}, label it so`,
    };
  }
  const labels = tenantNamespace(name, peer).metadata.labels ?? {};
  return {
    is: "present",
    whose: whose(metadata),
    missingLabels: Object.fromEntries(
      Object.entries(labels).filter(([key]) => metadata.labels?.[key] === undefined),
    ),
    madeByStack: madeByStack(metadata),
  };
}

/** Those who hold a namespace, by their marks. */
export function holdersOf({ annotations = {} }: ObjectMeta): Map<string, string> {
  const holders = Object.entries(annotations)
    .filter(([key]) => key.startsWith(HOLDER_PREFIX))
    .map(([key, who]): [string, string] => [key.slice(HOLDER_PREFIX.length), who]);
  return new Map(holders);
}

function whose(metadata: ObjectMeta): string {
  const holders = [...holdersOf(metadata).values()];
  if (holders.length > 0) return `held by ${holders.join(" and ")}`;
  return `made by ${writersOf(metadata).join(" and ") || "somebody else"}`;
}

/**
 * Whether a namespace goes with the last stack that holds it. One that nobody holds yet may be of a stack of an earlier version, which made it by
 * the Kubernetes plugin: then nobody else has written its label.
 */
function madeByStack(metadata: ObjectMeta): boolean {
  if (isOn(metadata.annotations?.[Annotation.madeByStack])) return true;
  if (holdersOf(metadata).size > 0) return false;
  const writers = writersOf(metadata, `f:${Label.tenantNamespace}`);
  return writers.length > 0 && writers.every(isPlugin);
}

/** Whether a writer is the Kubernetes plugin, as it calls itself when it applies objects and when it makes them. */
export function isPlugin(writer: string): boolean {
  return /^pulumi-(resource-)?kubernetes/.test(writer);
}

const managedFields = z.object({
  manager: z.string(),
  fieldsV1: z.object({ "f:metadata": z.object({ "f:labels": z.record(z.string(), z.unknown()) }) }),
});

/** The names under which clients have written labels of an object: any of them, or one. */
function writersOf({ managedFields: entries = [] }: ObjectMeta, label?: string): string[] {
  const writers = entries
    .map((entry) => managedFields.safeParse(entry).data)
    .filter((entry) => entry !== undefined)
    .filter(({ fieldsV1 }) => label === undefined || label in fieldsV1["f:metadata"]["f:labels"])
    .map(({ manager }) => manager);
  return [...new Set(writers)].sort();
}

/**
 * What of a tenant namespace somebody else still needs, as texts: objects that a person or a program put there and that stay. What controllers make
 * of them, and copies of the peer's, follow those.
 */
export async function neededInside(
  client: KubeClient,
  { name: namespace, peer }: WantedNamespace,
  context: ProviderContext,
): Promise<string[]> {
  const put = async <T extends KubeObject>(kind: Kind<T>, counts: (object: T) => boolean = () => true) => {
    const found = await listIfServed(client, kind, context, { namespace });
    return found
      .filter((object) => !object.metadata.deletionTimestamp && counts(object))
      .map(({ metadata }) => `${kind.kind} ${metadata.name}`);
  };
  const user = peeringUserBindingNames(peer).tenantNamespace;
  const found = await Promise.all([
    put(Tenant),
    put(Identity, ({ spec }) => spec.type === "ControlPlane"),
    put(ResourceSlice, ({ metadata }) => metadata.labels?.[Label.replicated] !== LabelValue.true),
    put(Configuration),
    put(GatewayServer),
    put(GatewayClient),
    put(RoleBinding, ({ metadata }) => metadata.name === user),
  ]);
  return found.flat();
}
