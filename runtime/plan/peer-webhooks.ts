import { Label } from "../api/keys";
import {
  authenticationGroup,
  BY_PEER,
  labelOf,
  MAY_MAKE_TOKENS,
  NOT_DELETING,
  offloadingGroup,
  type Registration,
  TOKEN_OF_AN_ACCOUNT,
} from "./webhook-registration";

/** What a peering user makes to lead its cluster to an address of this one. */
export function peerIPs(): Registration {
  return {
    name: "ip.peer.liqo.io",
    path: "/validate/peer-ips",
    group: "ipam.liqo.io",
    version: "v1alpha1",
    resource: "ips",
    operations: ["CREATE", "UPDATE"],
    skippable: false,
    conditions: { "by-peer": BY_PEER, "not-deleting": NOT_DELETING },
  };
}

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

const secretWrites = {
  group: "",
  version: "v1",
  resource: "secrets",
  operations: ["CREATE" as const, "UPDATE" as const],
  skippable: false,
};
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
  const secrets = { ...secretWrites, path: "/validate/peer-secrets" };
  const conditions = { "by-peer": BY_PEER };
  return [
    { ...secrets, name: "identity-secret.peer.liqo.io", labelled: Label.identityType, conditions },
    { ...secrets, name: "nonce-secret.peer.liqo.io", labelled: Label.signedNonce, conditions },
    {
      ...secrets,
      name: "token-secret.peer.liqo.io",
      conditions: {
        ...conditions,
        "of-an-account": TOKEN_OF_AN_ACCOUNT,
      },
    },
  ];
}

/**
 * Secrets of a consumer's virtual kubelets, in the namespaces made for it, that Kubernetes fills with a token of an account there. Their certificates
 * carry the consumer's own group, so that not the group but what they may do tells them from those who are not asked about. It is one condition, since the
 * API server works out all of them, and each pod with a token is a Secret of another type.
 */
export function consumerSecrets(): Registration {
  return {
    ...secretWrites,
    name: "token-secret.consumer.liqo.io",
    path: "/validate/consumer-secrets",
    namespaces: { labelled: Label.remoteClusterID },
    conditions: { "gains-a-token": `${TOKEN_OF_AN_ACCOUNT} && !${MAY_MAKE_TOKENS}` },
  };
}
