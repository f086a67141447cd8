import { Annotation, Label, LabelValue, Name } from "../api";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";

/** Annotations by which this cluster's administrator, or the Tenant controller, cordons a slice. */
const CORDONS = [Annotation.cordon, Annotation.cordonTenant];

/**
 * Validates writes of a peer's control plane to replicated kinds. It may create, change and delete its own copies, and nothing else: an object without
 * the labels of a copy would be a source of this cluster, and one of another origin belongs to another consumer. An update may not change that an object is
 * a copy, whose copy it is, or whether it is cordoned. Only this cluster writes the status.
 *
 * Peers are recognised by the group of their certificates. All others are allowed, since an old API server does not filter them out by itself.
 *
 * @see control plane reference 4.3, 11.4 and 13
 */
export function validatePeerWrite(
  request: AdmissionRequest,
  { ownClusterID }: { ownClusterID: string },
): Verdict {
  const { groups, object, oldObject, subResource, username, namespace, name } = request;
  if (!groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const subject = `${kindOf(object ?? oldObject)} "${namespace}/${name || (object?.metadata.name ?? "")}"`;
  const refuse = (fault: string | undefined): Verdict =>
    fault === undefined ? ALLOWED : denied(`${subject}: ${fault}`);
  if (subResource !== "")
    return refuse(
      `its ${subResource} is written by cluster "${ownClusterID}" alone; user "${username}" of a peer may read it`,
    );
  if (oldObject !== undefined) {
    const foreign = markFault(oldObject, marksOfOrigin(username), username);
    if (foreign !== undefined) return refuse(foreign);
  }
  if (object === undefined) return ALLOWED;
  if (oldObject !== undefined) {
    const overreach = overreachOf(oldObject, object);
    if (overreach !== undefined) return denied(overreach);
  }
  return refuse(markFault(object, marksOf(username, ownClusterID), username));
}

interface Mark {
  label: string;
  value: string;
  /** Replicators of other versions may leave it out, and nothing follows from that. */
  mayMiss?: true;
}

/** What tells whose a copy is. */
function marksOfOrigin(username: string): Mark[] {
  return [
    { label: Label.replicated, value: LabelValue.true },
    { label: Label.replicationOrigin, value: username },
  ];
}

/** Everything that a replicator marks a copy with: by the last one both ends look up what concerns the peer. */
function marksOf(username: string, ownClusterID: string): Mark[] {
  return [
    ...marksOfOrigin(username),
    { label: Label.replication, value: LabelValue.false, mayMiss: true },
    { label: Label.replicationDestination, value: ownClusterID, mayMiss: true },
    { label: Label.remoteClusterID, value: username, mayMiss: true },
  ];
}

/** Why an object is no copy that a user made; undefined where it is one. */
function markFault(
  { metadata: { labels } }: AdmittedObject,
  marks: readonly Mark[],
  username: string,
): string | undefined {
  for (const { label, value, mayMiss } of marks) {
    const found = labels[label];
    if (found === value || (found === undefined && mayMiss === true)) continue;
    return `is no copy of cluster "${username}": the label ${label} is ${found === undefined ? "missing" : `"${found}"`}, and a copy has "${value}"; create the object in that cluster, whose replicator copies it`;
  }
  return undefined;
}

/** What a peer would change of its copy that is not its to change. */
function overreachOf(before: AdmittedObject, after: AdmittedObject): string | undefined {
  const label = edit(before.metadata.labels, after.metadata.labels, Label.remoteClusterID);
  if (label !== undefined) return `can't ${label} the remoteClusterID label`;
  for (const key of CORDONS) {
    const annotation = edit(before.metadata.annotations, after.metadata.annotations, key);
    if (annotation !== undefined) return `control plane users can't ${annotation} the ${key} annotation`;
  }
  return undefined;
}

function edit(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
  key: string,
): "add" | "change" | "delete" | undefined {
  const [old, now] = [before[key], after[key]];
  if (old === now) return undefined;
  if (old === undefined) return "add";
  return now === undefined ? "delete" : "change";
}

function kindOf(object: AdmittedObject | undefined): string {
  return typeof object?.raw.kind === "string" ? object.raw.kind : "object";
}
