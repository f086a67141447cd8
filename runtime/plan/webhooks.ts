import { Label, LabelValue } from "../api/keys";
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "../api/kubernetes";
import {
  authenticationGroup,
  BY_PEER,
  CREATED,
  creator,
  differs,
  fieldDiffers,
  NOT_DELETING,
  offloadingGroup,
  origin,
  PEER_DIFFERS,
  peerLabel,
  type Registration,
  SOURCE,
  SPEC_DIFFERS,
  webhook,
  type WebhookEndpoint,
} from "./webhook-registration";
import { componentLabels, type ManifestOf } from "./manifest";
import { DeploymentName } from "./deployments";
import {
  consumerSecrets,
  consumerServices,
  peerCopies,
  peerGateways,
  peerIPs,
  peerSecrets,
} from "./peer-webhooks";

interface WebhookConfigurations {
  mutating: ManifestOf<MutatingWebhookConfiguration>;
  validating: ManifestOf<ValidatingWebhookConfiguration>;
}

/** Name of both configurations; the webhook writes its CA into the ones of this name and no others. */
export const WEBHOOK_CONFIGURATION = DeploymentName.webhook;

const networking = { group: "networking.liqo.io", version: "v1beta1" };
const namelessIn = (rules: string): string =>
  `(has(c.rules.${rules}) && c.rules.${rules}.exists(r, !has(r.name) || r.name == ''))`;
const NAMELESS_RULE = `has(object.spec.table.chains) && object.spec.table.chains.exists(c, ${["natRules", "filterRules", "routeRules"].map(namelessIn).join(" || ")})`;

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
      ...offloadingGroup,
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
      ...offloadingGroup,
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
      ...authenticationGroup,
      resource: "tenants",
      operations: ["CREATE", "UPDATE"],
      // Upstream's is. But who may write a Tenant may label it, and would have no rules at all.
      skippable: false,
      conditions: {
        "not-deleting": NOT_DELETING,
        "anything-is-due": `${peerLabel} == '' || (!(${CREATED}) && ${BY_PEER} && ${fieldDiffers("tenantCondition")})`,
      },
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
      ...offloadingGroup,
      resource: "namespaceoffloadings",
      operations: ["CREATE", "UPDATE"],
      skippable: true,
      conditions: { "not-deleting": NOT_DELETING, "spec-differs": `${CREATED} || ${SPEC_DIFFERS}` },
    },
    {
      name: "shadowpod.validate.liqo.io",
      path: "/validate/shadowpods",
      ...offloadingGroup,
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
      name: "configuration.validate.liqo.io",
      path: "/validate/configurations",
      ...networking,
      resource: "configurations",
      operations: ["CREATE", "UPDATE"],
      // What a peer labels would not be looked at.
      skippable: false,
      conditions: {
        "not-deleting": NOT_DELETING,
        // They add this cluster's own networks.
        "not-ours": byOthers,
        "anything-guarded-differs": `${CREATED} || ${SPEC_DIFFERS} || ${PEER_DIFFERS}`,
      },
    },
    {
      name: "resourceslice.validate.liqo.io",
      path: "/validate/resourceslices",
      ...authenticationGroup,
      resource: "resourceslices",
      operations: ["CREATE", "UPDATE"],
      skippable: false,
      // Of sources each creation, and what people change in it; our own controllers complete it.
      conditions: {
        "source-is-guarded": `${SOURCE} && (${CREATED} || (${NOT_DELETING} && ${byOthers} && (${SPEC_DIFFERS} || ${PEER_DIFFERS})))`,
      },
    },
    ...peerCopies(),
    ...peerSecrets(),
    peerIPs(),
    consumerSecrets(),
    ...peerGateways(),
    consumerServices(),
    {
      name: "identity.validate.liqo.io",
      path: "/validate/identities",
      ...authenticationGroup,
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
      ...offloadingGroup,
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
      ...authenticationGroup,
      resource: "tenants",
      operations: ["CREATE", "UPDATE"],
      skippable: false,
      // An administrator can always cordon or drain a consumer: a change of that alone is asked about only where a peer makes it.
      conditions: {
        "not-deleting": NOT_DELETING,
        "not-ours": byOthers,
        "anything-guarded-differs": `${CREATED} || ${differs("labels")} || ${TENANT_FIELDS.map(fieldDiffers).join(" || ")} || (${BY_PEER} && ${SPEC_DIFFERS})`,
      },
    },
  ];
}

/** What a Tenant says of its consumer, as against what its provider's administrator says of it. */
const TENANT_FIELDS = ["clusterID", "authzPolicy", "publicKey", "csr", "signature", "proxyURL"];

/**
 * The registrations of the admission webhooks, for the installation and for the runtime alike.
 *
 * All that guard something fail closed, and none can lock a cluster out of repairing itself: what they guard is Liqo's own kinds and the pods of
 * namespaces that are offloaded, never the Liqo namespace or `kube-system`, and objects that are being deleted pass without a call. What guards
 * against peers asks about peers alone, and no label on an object excuses it.
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
