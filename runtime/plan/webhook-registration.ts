import { Label, LabelValue, Name, SecretType } from "../api/keys";
import { Port } from "./component-deployment";

/** Where the API server finds the webhook, and whom it trusts there. */
export interface WebhookEndpoint {
  /** The Liqo namespace. Its pods are never held up by the pod webhook, so that the webhook itself can always be started. */
  namespace: string;
  /** Service of the webhook, in that namespace; the one of its leader is called the same with `-leader` after it. */
  serviceName: string;
  /** PEM. When absent, the webhook fills it in once it serves, and until then what it guards is refused. */
  caBundle?: string;
  /** `https://host:port` to call in place of the Service: for API servers that reach no Service. */
  baseUrl?: string;
}

/** The Service that leads to the replica that books quotas. */
export function leaderServiceName(serviceName: string): string {
  return `${serviceName}-leader`;
}

/** What the installation says of one webhook. */
export interface Registration {
  name: string;
  path: string;
  group: string;
  resource: string;
  version: string;
  /** `status` and the like, where the webhook looks at their writes too. */
  subresources?: string[];
  operations: ("CREATE" | "UPDATE" | "DELETE")[];
  /** Objects labelled `liqo.io/webhook-skip=true` are left alone. */
  skippable: boolean;
  /**
   * CEL. The API server calls the webhook only where all of them hold, so that nothing is asked whose answer is known: metadata edits of
   * controllers, removals of finalizers, deletions. What a condition leaves out must be out of reach of whom the webhook guards against.
   */
  conditions: Record<string, string>;
  /**
   * Tells of mistakes and guards nothing: where no webhook answers, objects pass. Upstream has none such, and a peering whose webhook is away
   * must be able to get new credentials.
   */
  advice?: true;
  /** Of several replicas only the leader answers, because it books what it admits. */
  leader?: true;
  /** Only objects with this label are looked at, whatever its value; all by default. */
  labelled?: string;
  /** Namespaces that the webhook looks at: those whose label is `true` but for some, or those with a label whatever its value; all by default. */
  namespaces?: { label: string; except: string[] } | { labelled: string };
}

export const offloadingGroup = { group: "offloading.liqo.io", version: "v1beta1" };
export const authenticationGroup = { group: "authentication.liqo.io", version: "v1beta1" };

/** A registration as the API server takes it. */
export function webhook(registration: Registration, endpoint: WebhookEndpoint) {
  const { name, group, version, resource, operations, conditions, namespaces } = registration;
  const resources = [resource, ...(registration.subresources ?? []).map((each) => `${resource}/${each}`)];
  return {
    name,
    clientConfig: clientConfig(registration, endpoint),
    rules: [{ apiGroups: [group], apiVersions: [version], resources, operations, scope: "*" }],
    failurePolicy: registration.advice === true ? "Ignore" : "Fail",
    matchPolicy: "Equivalent",
    sideEffects: resource === "shadowpods" ? "NoneOnDryRun" : "None",
    timeoutSeconds: 10,
    admissionReviewVersions: ["v1", "v1beta1"],
    ...(Object.keys(conditions).length === 0
      ? {}
      : {
          matchConditions: Object.entries(conditions).map(([condition, expression]) => ({
            name: condition,
            expression,
          })),
        }),
    objectSelector: objectSelector(registration),
    namespaceSelector: namespaceSelector(namespaces),
  };
}

function namespaceSelector(namespaces: Registration["namespaces"]) {
  if (namespaces === undefined) return {};
  if ("labelled" in namespaces)
    return { matchExpressions: [{ key: namespaces.labelled, operator: "Exists" }] };
  return {
    matchLabels: { [namespaces.label]: LabelValue.true },
    matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: namespaces.except }],
  };
}

function objectSelector({ skippable, labelled }: Registration) {
  if (labelled !== undefined) return { matchExpressions: [{ key: labelled, operator: "Exists" }] };
  return skippable
    ? { matchExpressions: [{ key: Label.webhookSkip, operator: "NotIn", values: [LabelValue.true] }] }
    : {};
}

function clientConfig(
  { path, leader }: Registration,
  { namespace, serviceName, caBundle, baseUrl }: WebhookEndpoint,
) {
  const name = leader === true ? leaderServiceName(serviceName) : serviceName;
  return {
    ...(baseUrl === undefined
      ? { service: { namespace, name, path, port: Port.webhook } }
      : { url: `${baseUrl}${path}` }),
    ...(caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle).toString("base64") }),
  };
}

// CEL from which the match conditions are built: with them an API server decides whether to call a webhook at all.

export const labelOf = (object: string, key: string): string =>
  `(has(${object}.metadata.labels) && '${key}' in ${object}.metadata.labels ? ${object}.metadata.labels['${key}'] : '')`;
export const mapOf = (object: string, field: "labels" | "annotations"): string =>
  `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : {})`;
export const differs = (field: "labels" | "annotations"): string =>
  `${mapOf("object", field)} != ${mapOf("oldObject", field)}`;
export const CREATED = "request.operation == 'CREATE'";
export const SPEC_DIFFERS = "object.spec != oldObject.spec";
/** Finalizers can always be removed from an object that is being deleted. */
export const NOT_DELETING = "!has(object.metadata.deletionTimestamp)";

export const creator = (object: string): string => labelOf(object, Label.creatorUser);
export const origin = (object: string): string => labelOf(object, Label.reflectionOrigin);
export const peerLabel = labelOf("object", Label.remoteClusterID);
export const PEER_DIFFERS = `${peerLabel} != ${labelOf("oldObject", Label.remoteClusterID)}`;

/**
 * The client has a certificate of a peer: its control plane's, or its peering user's. A webhook with this condition locks out neither this cluster's
 * controllers nor its administrators when it does not answer.
 */
export const BY_PEER = `has(request.userInfo.groups) && '${Name.controlPlaneOrganization}' in request.userInfo.groups`;

/** A slice of this cluster's own, not a peer's copy. */
export const SOURCE = `${labelOf("object", Label.replicated)} != 'true'`;
export const fieldOf = (object: string, field: string): string =>
  `(has(${object}.spec.${field}) ? ${object}.spec.${field} : '')`;
export const fieldDiffers = (field: string): string =>
  `${fieldOf("object", field)} != ${fieldOf("oldObject", field)}`;

/** A Secret that Kubernetes fills with a token of an account. */
export const TOKEN_OF_AN_ACCOUNT = `has(object.type) && object.type == '${SecretType.serviceAccountToken}'`;
/** Who may have Kubernetes make tokens of the accounts there gains nothing by such a Secret. */
export const MAY_MAKE_TOKENS =
  "authorizer.group('').resource('serviceaccounts').subresource('token').namespace(request.namespace).check('create').allowed()";
