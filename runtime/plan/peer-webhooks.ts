import { Label, SecretType } from "../api/keys";
import { BY_PEER, labelOf, NOT_DELETING } from "./admission-conditions";
import { authenticationGroup, offloadingGroup, type Registration } from "./webhook-registration";

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
