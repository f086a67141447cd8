import { Label, SecretType } from "../api/keys";
import { BY_PEER, labelOf, NOT_DELETING } from "./admission-conditions";
import { authenticationGroup, offloadingGroup, type Registration } from "./webhook-registration";

/**
 * The replicated kinds, as peers write them. A peer that deletes its own copy asks nobody, so that it can always leave.
 */
export function peerCopies(): Registration[] {
  const kinds = [
    { ...authenticationGroup, resource: "resourceslices" },
    { ...authenticationGroup, resource: "renews" },
    { ...offloadingGroup, resource: "namespacemaps" },
  ];
  const ownCopy = `${labelOf("oldObject", Label.replicated)} == 'true' && ${labelOf("oldObject", Label.replicationOrigin)} == request.userInfo.username`;
  return kinds.map((kind) => ({
    ...kind,
    name: `${kind.resource.slice(0, -1)}.peer.liqo.io`,
    path: "/validate/peer-copies",
    subresources: ["status"],
    operations: ["CREATE", "UPDATE", "DELETE"],
    skippable: false,
    conditions: {
      "by-peer": BY_PEER,
      "no-deletion-of-its-own": `request.operation != 'DELETE' || !(${ownCopy})`,
    },
  }));
}

/** The gateways and keys of a peering user, by whose label traffic for a peer is led there. */
export function peerGateways(): Registration[] {
  return ["gatewayservers", "gatewayclients", "publickeies"].map((resource) => ({
    name: `${resource === "publickeies" ? "publickey" : resource.slice(0, -1)}.peer.liqo.io`,
    path: "/validate/peer-gateways",
    group: "networking.liqo.io",
    version: "v1beta1",
    resource,
    operations: ["CREATE", "UPDATE"],
    skippable: false,
    conditions: { "by-peer": BY_PEER, "not-deleting": NOT_DELETING },
  }));
}

/**
 * Services of a consumer's virtual kubelets that would take this cluster's traffic for addresses that are not theirs. The certificates of those carry the
 * consumer's own group, so that what they may not do tells them from those who are not asked about.
 */
export function consumerServices(): Registration {
  return {
    name: "service.consumer.liqo.io",
    path: "/validate/consumer-services",
    group: "",
    version: "v1",
    resource: "services",
    operations: ["CREATE", "UPDATE"],
    skippable: false,
    namespaces: { labelled: Label.remoteClusterID },
    conditions: {
      "takes-addresses":
        "has(object.spec.externalIPs) && size(object.spec.externalIPs) > 0 && !authorizer.group('').resource('services').subresource('status').namespace(request.namespace).check('patch').allowed()",
    },
  };
}

/**
 * The Secrets that this cluster acts upon as a consumer, selected by label, and those that Kubernetes fills with a token of an account; no other Secret
 * is looked at.
 */
export function peerSecrets(): Registration[] {
  const secrets = {
    path: "/validate/peer-secrets",
    group: "",
    version: "v1",
    resource: "secrets",
    operations: ["CREATE" as const, "UPDATE" as const],
    skippable: false,
  };
  const conditions = { "by-peer": BY_PEER };
  return [
    { ...secrets, name: "identity-secret.peer.liqo.io", labelled: Label.identityType, conditions },
    { ...secrets, name: "nonce-secret.peer.liqo.io", labelled: Label.signedNonce, conditions },
    {
      ...secrets,
      name: "token-secret.peer.liqo.io",
      conditions: {
        ...conditions,
        "of-an-account": `has(object.type) && object.type == '${SecretType.serviceAccountToken}'`,
      },
    },
  ];
}
