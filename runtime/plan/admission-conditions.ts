import { Label, Name, SecretType } from "../api/keys";

/** Pieces of the CEL by which API servers decide whether to ask a webhook at all. */

export const labelOf = (object: string, key: string): string =>
  `(has(${object}.metadata.labels) && '${key}' in ${object}.metadata.labels ? ${object}.metadata.labels['${key}'] : '')`;
export const mapOf = (object: string, field: "labels" | "annotations"): string =>
  `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : {})`;
export const differs = (field: "labels" | "annotations"): string =>
  `${mapOf("object", field)} != ${mapOf("oldObject", field)}`;
export const CREATED = "request.operation == 'CREATE'";
export const SPEC_DIFFERS = "object.spec != oldObject.spec";
/** An object on its way out must always be able to lose its finalizers. */
export const NOT_DELETING = "!has(object.metadata.deletionTimestamp)";

export const creator = (object: string): string => labelOf(object, Label.creatorUser);
export const origin = (object: string): string => labelOf(object, Label.reflectionOrigin);
export const peerLabel = labelOf("object", Label.remoteClusterID);
export const PEER_DIFFERS = `${peerLabel} != ${labelOf("oldObject", Label.remoteClusterID)}`;

/**
 * Who asks has a certificate of a peer: its control plane's, or its peering user's. Where nobody else is asked about, a webhook that does not
 * answer locks out neither this cluster's controllers nor its administrators.
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
