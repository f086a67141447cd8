import { Label, LabelValue, Name } from "../api";
import { isRecord } from "../api/invalid-object";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  errored,
  labelPatch,
  patched,
  type Verdict,
} from "./admission-review";
import { verdictOnValidation } from "./fault-verdict";
import { validateCredentials } from "./tenant-credentials";

/**
 * A Tenant without the label that peers are looked up by gets it (control plane reference 13). What the provider's administrator decided stays where a
 * peer writes another condition, with a warning: upstream's `liqoctl authenticate` writes `Active` each time.
 */
export function completeTenant(request: AdmissionRequest): Verdict {
  const { object } = request;
  if (object === undefined) return ALLOWED;
  const clusterID = clusterOf(object);
  const label =
    clusterID === undefined || object.metadata.labels[Label.remoteClusterID]
      ? []
      : labelPatch(object, Label.remoteClusterID, clusterID);
  const decided = conditionChangedByPeer(request);
  if (decided === undefined) return patched(label);
  const { before, after } = decided;
  return {
    allowed: true,
    patch: [...label, { op: "add", path: "/spec/tenantCondition", value: before }],
    warnings: [
      `spec.tenantCondition stays "${before}" and does not become "${after}": only the administrator of this cluster changes it`,
    ],
  };
}

/** What a Tenant is checked against. */
export interface TenantDependencies {
  /** Labels of its namespace; undefined when there is no such namespace. */
  namespaceLabels: Readonly<Record<string, string>> | undefined;
  /** All Tenants of the cluster. */
  tenants: readonly { name: string; namespace: string }[];
}

/**
 * A Tenant lives in the tenant namespace of its consumer, alone, under a name that no other Tenant of the cluster has, and its key material can
 * be read ({@link validateCredentials}). Whether it is active is its provider's to say.
 *
 * @see control plane reference 13, offloading reference 16.5
 */
export function validateTenant(request: AdmissionRequest, dependencies: TenantDependencies): Verdict {
  const { object, namespace, operation } = request;
  if (object === undefined || object.metadata.deleting) return ALLOWED;
  const overreach = overreachOfPeer(request);
  if (overreach !== undefined) return denied(overreach);
  const clusterID = clusterOf(object) ?? "";
  const { namespaceLabels: labels, tenants } = dependencies;
  if (labels?.[Label.tenantNamespace] !== LabelValue.true) {
    return errored(
      400,
      `a Tenant must be created in a tenant namespace: namespace ${namespace} lacks the label ${Label.tenantNamespace}=true`,
    );
  }
  const label = object.metadata.labels[Label.remoteClusterID];
  if (label !== clusterID) {
    return errored(
      400,
      `the label ${Label.remoteClusterID} is ${quoted(label)}, and spec.clusterID is ${quoted(clusterID)}: make them equal`,
    );
  }
  if (labels[Label.remoteClusterID] !== clusterID) {
    return denied(
      `namespace ${namespace} belongs to cluster ${quoted(labels[Label.remoteClusterID])}, and spec.clusterID is ${quoted(clusterID)}: create the Tenant in the tenant namespace of its cluster`,
    );
  }
  const name = object.metadata.name;
  const present = tenants.find((tenant) => tenant.namespace === namespace);
  if (operation === "CREATE" && present !== undefined) {
    return denied(
      `a Tenant already exists in the tenant namespace: ${quoted(present.name)} in ${quoted(namespace)}, which has room for one; change that one in place of making ${quoted(name)}, or delete it first`,
    );
  }
  const namesake = tenants.find((tenant) => tenant.name === name && tenant.namespace !== namespace);
  if (namesake === undefined) return verdictOnValidation("Tenant", request, validateCredentials);
  return denied(
    `a Tenant named ${quoted(name)} already exists in namespace ${namesake.namespace}, and names of Tenants are unique in the cluster: choose another`,
  );
}

/** A consumer's own administrator, who may write its Tenant, does not undo what the provider's decided about it. */
function overreachOfPeer(request: AdmissionRequest): string | undefined {
  const changed = conditionChangedByPeer(request);
  return changed === undefined
    ? undefined
    : `spec.tenantCondition is "${changed.before}" and may not become "${changed.after}" by user "${request.username}" of a peer; ask this cluster's administrator`;
}

function conditionChangedByPeer({
  object,
  oldObject,
  groups,
}: AdmissionRequest): { before: string; after: string } | undefined {
  if (object === undefined || oldObject === undefined) return undefined;
  if (!groups.includes(Name.controlPlaneOrganization)) return undefined;
  const [before, after] = [conditionOf(oldObject), conditionOf(object)];
  return before === after ? undefined : { before, after };
}

function conditionOf({ raw }: AdmittedObject): string {
  const condition = isRecord(raw.spec) ? raw.spec.tenantCondition : undefined;
  return typeof condition === "string" ? condition : "Active";
}

function clusterOf({ raw }: AdmittedObject): string | undefined {
  return isRecord(raw.spec) && typeof raw.spec.clusterID === "string" ? raw.spec.clusterID : undefined;
}

function quoted(value: string | undefined): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}
