import { Label, LabelValue, Name } from "../api/keys";
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "../api/kubernetes";
import { componentLabels } from "./component-labels";
import { DeploymentName, Port } from "./deployments";
import type { ManifestOf } from "./manifest";

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

export interface WebhookConfigurations {
  mutating: ManifestOf<MutatingWebhookConfiguration>;
  validating: ManifestOf<ValidatingWebhookConfiguration>;
}

/** The Service that leads to the replica that books quotas. */
export function leaderServiceName(serviceName: string): string {
  return `${serviceName}-leader`;
}

/** Name of both configurations; the webhook writes its CA into the ones of this name and no others. */
export const WEBHOOK_CONFIGURATION = DeploymentName.webhook;

interface Registration {
  name: string;
  path: string;
  group: string;
  resource: string;
  version: string;
  operations: ("CREATE" | "UPDATE")[];
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
  /** Namespaces that the webhook looks at; all by default. */
  namespaces?: { label: string; except: string[] };
}

const labelOf = (object: string, key: string): string =>
  `(has(${object}.metadata.labels) && '${key}' in ${object}.metadata.labels ? ${object}.metadata.labels['${key}'] : '')`;
const mapOf = (object: string, field: "labels" | "annotations"): string =>
  `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : {})`;
const differs = (field: "labels" | "annotations"): string =>
  `${mapOf("object", field)} != ${mapOf("oldObject", field)}`;
const CREATED = "request.operation == 'CREATE'";
const SPEC_DIFFERS = "object.spec != oldObject.spec";
/** An object on its way out must always be able to lose its finalizers. */
const NOT_DELETING = "!has(object.metadata.deletionTimestamp)";

const creator = (object: string): string => labelOf(object, Label.creatorUser);
const origin = (object: string): string => labelOf(object, Label.reflectionOrigin);
const peerLabel = labelOf("object", Label.remoteClusterID);
const PEER_DIFFERS = `${peerLabel} != ${labelOf("oldObject", Label.remoteClusterID)}`;

/** A slice of this cluster's own, not a peer's copy. */
const SOURCE = `${labelOf("object", Label.replicated)} != 'true'`;
const fieldOf = (object: string, field: string): string =>
  `(has(${object}.spec.${field}) ? ${object}.spec.${field} : '')`;
const fieldDiffers = (field: string): string =>
  `${fieldOf("object", field)} != ${fieldOf("oldObject", field)}`;

const offloading = { group: "offloading.liqo.io", version: "v1beta1" };
const networking = { group: "networking.liqo.io", version: "v1beta1" };
const namelessIn = (rules: string): string =>
  `(has(c.rules.${rules}) && c.rules.${rules}.exists(r, !has(r.name) || r.name == ''))`;
const NAMELESS_RULE = `has(object.spec.table.chains) && object.spec.table.chains.exists(c, ${["natRules", "filterRules", "routeRules"].map(namelessIn).join(" || ")})`;
const authentication = { group: "authentication.liqo.io", version: "v1beta1" };

/** Order, names and paths as upstream has them: runbooks quote them (offloading reference 16.1, control plane reference 13). */
function mutatingRegistrations({ namespace }: WebhookEndpoint): Registration[] {
  return [
    {
      name: "pod.mutate.liqo.io",
      path: "/mutate/pod",
      group: "",
      version: "v1",
      resource: "pods",
      operations: ["CREATE"],
      skippable: false,
      namespaces: { label: Label.schedulingEnabled, except: [namespace, "kube-system"] },
      // A condition on a pod costs the API server more than the call: it translates the whole pod for it.
      conditions: {},
    },
    {
      name: "shadowpod.mutate.liqo.io",
      path: "/mutate/shadowpods",
      ...offloading,
      resource: "shadowpods",
      operations: ["CREATE", "UPDATE"],
      skippable: false,
      // On creation: unless the request names its own user, which is all that the webhook would write. On update: when the name would
      // change, or when somebody else than the creator changes anything but finalizers and owners.
      conditions: {
        "creator-is-due": `${CREATED} ? ${creator("object")} != request.userInfo.username : (${creator("object")} != ${creator("oldObject")} || (request.userInfo.username != ${creator("oldObject")} && (${SPEC_DIFFERS} || ${differs("labels")} || ${differs("annotations")})))`,
      },
    },
    {
      name: "fc.mutate.liqo.io",
      path: "/mutate/foreign-cluster",
      group: "core.liqo.io",
      version: "v1beta1",
      resource: "foreignclusters",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      conditions: { "not-deleting": NOT_DELETING, "label-is-due": `${peerLabel} != object.spec.clusterID` },
    },
    {
      name: "virtualnode.mutate.liqo.io",
      path: "/mutate/virtualnodes",
      ...offloading,
      resource: "virtualnodes",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      conditions: { "not-deleting": NOT_DELETING, "spec-differs": `${CREATED} || ${SPEC_DIFFERS}` },
    },
    {
      name: "firewallconfiguration.mutate.liqo.io",
      path: "/mutate/firewallconfigurations",
      ...networking,
      resource: "firewallconfigurations",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      conditions: { "not-deleting": NOT_DELETING, "a-rule-has-no-name": NAMELESS_RULE },
    },
    {
      name: "tenant.validate.liqo.io",
      path: "/mutate/tenants",
      ...authentication,
      resource: "tenants",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      conditions: { "not-deleting": NOT_DELETING, "label-is-due": `${peerLabel} == ''` },
    },
  ];
}

function validatingRegistrations({ namespace }: WebhookEndpoint): Registration[] {
  const byOthers = `request.userInfo.username != 'system:serviceaccount:${namespace}:${DeploymentName.controllerManager}'`;
  const tables = (kind: "firewall" | "route"): Registration => ({
    name: `${kind}configuration.validate.liqo.io`,
    path: `/validate/${kind}configurations`,
    ...networking,
    resource: `${kind}configurations`,
    operations: ["CREATE", "UPDATE"],
    skippable: true,
    conditions: {
      "not-deleting": NOT_DELETING,
      // What the controllers write is right by construction, and each pod that comes or goes is such a write.
      "not-ours": byOthers,
      "anything-guarded-differs": `${CREATED} || ${SPEC_DIFFERS} || ${differs("labels")}`,
    },
  });
  return [
    {
      name: "nsoff.validate.liqo.io",
      path: "/validate/namespace-offloading",
      ...offloading,
      resource: "namespaceoffloadings",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      conditions: { "not-deleting": NOT_DELETING, "spec-differs": `${CREATED} || ${SPEC_DIFFERS}` },
    },
    {
      name: "shadowpod.validate.liqo.io",
      path: "/validate/shadowpods",
      ...offloading,
      resource: "shadowpods",
      operations: ["CREATE", "UPDATE"],
      skippable: false,
      leader: true,
      // Every creation, as it will be stored. Deletions need no answer: what they give back is seen in the watch.
      conditions: {
        "anything-guarded-differs": `${CREATED} || ${SPEC_DIFFERS} || ${origin("object")} != ${origin("oldObject")} || ${creator("object")} != ${creator("oldObject")}`,
      },
    },
    tables("firewall"),
    tables("route"),
    {
      name: "resourceslice.validate.liqo.io",
      path: "/validate/resourceslices",
      ...authentication,
      resource: "resourceslices",
      operations: ["CREATE", "UPDATE"],
      skippable: false,
      // A source: each creation, and what people change in it; our own controllers complete it. A copy: what a peer changes.
      conditions: {
        "source-or-edited-by-peer": `${CREATED} ? ${SOURCE} : ((has(request.userInfo.groups) && '${Name.controlPlaneOrganization}' in request.userInfo.groups && (${differs("labels")} || ${differs("annotations")})) || (${SOURCE} && ${NOT_DELETING} && ${byOthers} && (${SPEC_DIFFERS} || ${PEER_DIFFERS})))`,
      },
    },
    {
      name: "identity.validate.liqo.io",
      path: "/validate/identities",
      ...authentication,
      resource: "identities",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      advice: true,
      // Renewed credentials are none of what it looks at.
      conditions: {
        "not-deleting": NOT_DELETING,
        "not-ours": byOthers,
        "anything-guarded-differs": `${CREATED} || ${PEER_DIFFERS} || ${["clusterID", "type", "namespace"].map(fieldDiffers).join(" || ")}`,
      },
    },
    {
      name: "quota.validate.liqo.io",
      path: "/validate/quotas",
      ...offloading,
      resource: "quotas",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      advice: true,
      conditions: {
        "not-deleting": NOT_DELETING,
        "not-ours": byOthers,
        "anything-guarded-differs": `${CREATED} || ${SPEC_DIFFERS} || ${PEER_DIFFERS}`,
      },
    },
    {
      name: "tenant.validate.liqo.io",
      path: "/validate/tenants",
      ...authentication,
      resource: "tenants",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      conditions: {
        "not-deleting": NOT_DELETING,
        "anything-guarded-differs": `${CREATED} || ${SPEC_DIFFERS} || ${differs("labels")}`,
      },
    },
  ];
}

/**
 * The registrations of the admission webhooks, for the installation and for the runtime alike.
 *
 * All that guard something fail closed, and none can lock a cluster out of repairing itself: what they guard is Liqo's own kinds and the pods of
 * namespaces that are offloaded, never the Liqo namespace or `kube-system`, and objects that are being deleted pass without a call.
 * Needs Kubernetes 1.27 or later (match conditions).
 */
export function webhookConfigurations(endpoint: WebhookEndpoint): WebhookConfigurations {
  const metadata = {
    name: WEBHOOK_CONFIGURATION,
    labels: { ...componentLabels("webhook", "webhook"), [Label.webhook]: LabelValue.true },
  };
  return {
    mutating: {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata,
      webhooks: mutatingRegistrations(endpoint).map((registration) => ({
        ...webhook(registration, endpoint),
        // Later webhooks of the cluster may change what ours decided on.
        reinvocationPolicy: registration.resource === "shadowpods" ? "IfNeeded" : "Never",
      })),
    },
    validating: {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata,
      webhooks: validatingRegistrations(endpoint).map((registration) => webhook(registration, endpoint)),
    },
  };
}

function webhook(registration: Registration, endpoint: WebhookEndpoint) {
  const { name, group, version, resource, operations, skippable, conditions, namespaces } = registration;
  return {
    name,
    clientConfig: clientConfig(registration, endpoint),
    rules: [{ apiGroups: [group], apiVersions: [version], resources: [resource], operations, scope: "*" }],
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
    objectSelector: skippable
      ? { matchExpressions: [{ key: Label.webhookSkip, operator: "NotIn", values: [LabelValue.true] }] }
      : {},
    namespaceSelector:
      namespaces === undefined
        ? {}
        : {
            matchLabels: { [namespaces.label]: LabelValue.true },
            matchExpressions: [
              { key: "kubernetes.io/metadata.name", operator: "NotIn", values: namespaces.except },
            ],
          },
  };
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
