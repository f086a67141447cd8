import type { KeyObject } from "node:crypto";
import { Label, LabelValue, Name } from "../api";
import { isRecord } from "../api/invalid-object";
import {
  checkCertificateRequest,
  controlPlaneSubject,
  InvalidCertificateRequest,
  KeyError,
  parseCertificateRequest,
  readPublicKey,
} from "../identity";
import { DerError, readElement, readInside, tag } from "../identity/der";
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
import { type ValidationResult, verdictOnValidation } from "./validation";

/**
 * Adds the label that peers are looked up by (control plane reference 13). Where a peer writes another condition than the provider's administrator set, the
 * condition is kept, with a warning: upstream's `liqoctl authenticate` writes `Active` each time.
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
interface TenantDependencies {
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

/** A consumer may write its Tenant, but not change the condition that the provider's administrator set. */
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

const ED25519_SIGNATURE = 64;
/** Of the shortest RSA key that anybody still takes, 1024 bits. */
const SHORTEST_RSA_SIGNATURE = 128;

/**
 * Checks the consumer's key, certificate request and signature as far as that is possible without the nonce: what is no key, request or signature at
 * all is a fault, and so is a request for another subject. Fields may be absent or empty at first. No message quotes a key or a signature.
 *
 * @see control plane reference 2.3, 4.1 to 4.3
 */
function validateCredentials({ raw }: AdmittedObject): ValidationResult {
  const spec = isRecord(raw.spec) ? raw.spec : {};
  const faults: string[] = [];
  const key = keyOrFault(bytesOf(spec.publicKey));
  if (typeof key === "string") faults.push(`spec.publicKey: ${key}`);
  const request = requestFault(bytesOf(spec.csr), spec.clusterID);
  if (request !== undefined)
    faults.push(
      `spec.csr: ${request}; give the base64 of the PEM block CERTIFICATE REQUEST that the consumer made with its key, or leave the field out until it is there`,
    );
  const signature = bytesOf(spec.signature);
  if (signature !== undefined && !canBeSignature(signature, typeof key === "string" ? undefined : key)) {
    const type = typeof key === "object" ? "the type that spec.publicKey has" : "type Ed25519, RSA or ECDSA";
    faults.push(
      `spec.signature: its ${signature.length} bytes are no signature by a key of ${type}; give the base64 of the nonce signed with the consumer's key, or leave the field out until it is there`,
    );
  }
  return { faults, warnings: [] };
}

function bytesOf(value: unknown): Buffer | undefined {
  return typeof value === "string" && value !== "" ? Buffer.from(value, "base64") : undefined;
}

function keyOrFault(bytes: Buffer | undefined): KeyObject | string | undefined {
  if (bytes === undefined) return undefined;
  // Reading it as a public key would succeed, and hide that the private key has leaked.
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(bytes.toString("latin1")))
    return "holds a private key, which must never leave its cluster; give the public one, and renew that pair";
  try {
    return readPublicKey(bytes);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return `${error.message}; give the base64 of the consumer's key of type Ed25519, RSA or ECDSA, or leave the field out until it is there`;
  }
}

function requestFault(bytes: Buffer | undefined, clusterID: unknown): string | undefined {
  if (bytes === undefined) return undefined;
  try {
    if (typeof clusterID !== "string" || clusterID === "") parseCertificateRequest(bytes);
    else checkCertificateRequest(bytes, { subject: controlPlaneSubject(clusterID) });
    return undefined;
  } catch (error) {
    if (error instanceof InvalidCertificateRequest) return error.message;
    throw error;
  }
}

/** Whether bytes can be a signature by a key; without a key, by any of the supported types. */
function canBeSignature(signature: Buffer, key: KeyObject | undefined): boolean {
  switch (key?.asymmetricKeyType) {
    case "ed25519":
      return signature.length === ED25519_SIGNATURE;
    case "rsa":
      return signature.length === Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    case "ec":
      return isPairOfIntegers(signature);
    default:
      return (
        signature.length === ED25519_SIGNATURE ||
        signature.length >= SHORTEST_RSA_SIGNATURE ||
        isPairOfIntegers(signature)
      );
  }
}

/** How ECDSA writes a signature (RFC 3279, section 2.2.3). */
function isPairOfIntegers(signature: Buffer): boolean {
  try {
    const parts = readInside(readElement(signature, tag.sequence), tag.sequence);
    return parts.length === 2 && parts.every((part) => part.tag === tag.integer);
  } catch (error) {
    if (error instanceof DerError) return false;
    throw error;
  }
}

/** The label that peers are looked up by says what the spec says (control plane reference 13). */
export function labelForeignCluster({ object }: AdmissionRequest): Verdict {
  const spec = object?.raw.spec;
  if (object === undefined || !isRecord(spec) || typeof spec.clusterID !== "string") return ALLOWED;
  return patched(labelPatch(object, Label.remoteClusterID, spec.clusterID));
}
