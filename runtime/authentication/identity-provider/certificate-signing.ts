import { createHash } from "node:crypto";
import { Annotation, CertificateSigningRequest, ConditionReason, Label, LabelValue, Name } from "../../api";
import {
  CertificateError,
  type CertificateRequest,
  certificateRequestPem,
  checkCertificate,
} from "../../identity";
import { type Clock, type Informer, isAlreadyExists, type KubeClient, timestamp } from "../../kube";
import type { CredentialRequest } from "./identity-provider";

/** The state of a CertificateSigningRequest. */
type Issuance =
  | { state: "issued"; certificate: Buffer }
  | { state: "unapproved" }
  | { state: "waiting"; remainingMs: number }
  | { state: "failed"; message: string };

/** How long a cluster's signer may take before it counts as missing. */
const issuanceDeadlineMs = 30_000;

/**
 * Reads the state of a request.
 *
 * @param waitedMs since it was first seen approved, on a clock of our own: the API server's may be another
 */
export function issuance(request: CertificateSigningRequest, waitedMs: number): Issuance {
  const { certificate, conditions = [] } = request.status ?? {};
  if (certificate) return { state: "issued", certificate: Buffer.from(certificate, "base64") };
  const refusal = conditions.find(({ type }) => type === "Denied" || type === "Failed");
  const name = request.metadata.name;
  if (refusal !== undefined) {
    return {
      state: "failed",
      message: `CertificateSigningRequest ${name} is ${refusal.type} (${refusal.reason ?? "no reason"}: ${refusal.message ?? ""}); delete it to have the certificate asked for again`,
    };
  }
  if (!conditions.some(({ type }) => type === "Approved")) return { state: "unapproved" };
  if (waitedMs < issuanceDeadlineMs) return { state: "waiting", remainingMs: issuanceDeadlineMs - waitedMs };
  return {
    state: "failed",
    message: `CertificateSigningRequest ${name} was approved and not signed within ${issuanceDeadlineMs / 1000} s; this cluster's control plane seems to have no signer for ${request.spec.signerName}, use a cloud identity instead`,
  };
}

/**
 * Name of the CertificateSigningRequest for a request. It follows from what is asked for and what it replaces, so that asking again, after a
 * crash too, finds the same one.
 *
 * @param replaced the certificate that is about to expire, undefined for the first one
 */
export function issuanceName(csr: Buffer, replaced: Buffer | undefined): string {
  const digest = createHash("sha256")
    .update(csr)
    .update("\n")
    .update(replaced ?? "")
    .digest("hex");
  return `${Name.identityCSRPrefix}${digest.slice(0, 20)}`;
}

export const signer = "kubernetes.io/kube-apiserver-client";
const usages = ["digital signature", "key encipherment", "client auth"];

/** Has this cluster's own signer sign requests, each through a CertificateSigningRequest that it creates, approves and waits for. */
export class CertificateSigning {
  /** Requests that wait for the signer, by name, since when on the monotonic clock. */
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly own: {
      client: KubeClient;
      clock: Clock;
      requests: Informer<CertificateSigningRequest>;
    },
  ) {}

  /**
   * The issued certificate, or how long it may still take. It approves the CertificateSigningRequests that it creates at once.
   *
   * @throws CertificateError where the signer answered with another certificate than was asked for
   */
  async sign(
    request: CredentialRequest,
    asked: CertificateRequest,
    replaced: Buffer | undefined,
  ): Promise<Buffer | { remainingMs: number }> {
    const pem = Buffer.from(certificateRequestPem(asked));
    let object = await this.requested(request, pem, issuanceName(pem, replaced));
    // Approving what somebody else put there under this name would give them a certificate of their choice.
    if (!isOurs(object, pem)) {
      throw new Error(
        `CertificateSigningRequest ${object.metadata.name} is not the one made for ${request.subject.commonName}; delete it`,
      );
    }
    let state = this.stateOf(object);
    if (state.state === "unapproved") {
      object = await this.approve(object);
      state = this.stateOf(object);
    }
    switch (state.state) {
      case "issued":
        return handedOut(object.metadata.name, () => checked(state.certificate, request, asked));
      case "waiting":
        return { remainingMs: state.remainingMs };
      case "failed":
        throw new Error(state.message);
      case "unapproved":
        throw new Error(`CertificateSigningRequest ${object.metadata.name} could not be approved`);
    }
  }

  private stateOf(object: CertificateSigningRequest): Issuance {
    const { name } = object.metadata;
    const now = this.own.clock.monotonic();
    const state = issuance(object, now - (this.waiting.get(name) ?? now));
    if (state.state === "issued") this.waiting.delete(name);
    else if (state.state === "waiting" && !this.waiting.has(name)) this.waiting.set(name, now);
    return state;
  }

  private async requested(
    request: CredentialRequest,
    pem: Buffer,
    name: string,
  ): Promise<CertificateSigningRequest> {
    const { client, requests } = this.own;
    const known = requests.get(name);
    if (known !== undefined) return known;
    try {
      return await client.create(CertificateSigningRequest, {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: {
          name,
          labels: {
            [Label.remoteTenantCSR]: LabelValue.true,
            [Label.remoteClusterID]: request.consumerClusterId,
          },
          // A slice's name may be longer than a label's value.
          annotations: {
            [Annotation.remoteTenantNamespace]: request.tenantNamespace,
            ...(request.sliceName === undefined ? {} : { [Label.resourceSliceName]: request.sliceName }),
          },
        },
        spec: {
          signerName: signer,
          request: pem.toString("base64"),
          usages,
        },
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await client.get(CertificateSigningRequest, { name });
      if (existing === undefined) throw error;
      return existing;
    }
  }

  private async approve(request: CertificateSigningRequest): Promise<CertificateSigningRequest> {
    const now = timestamp(this.own.clock);
    const condition = {
      type: "Approved",
      status: "True",
      reason: ConditionReason.csrApprovedByIdentityManager,
      message: "The consumer has been verified by the tenant controllers",
      lastUpdateTime: now,
      lastTransitionTime: now,
    };
    return await this.own.client.patch(
      CertificateSigningRequest,
      request.metadata,
      {
        metadata: { resourceVersion: request.metadata.resourceVersion },
        status: { conditions: [...(request.status?.conditions ?? []), condition] },
      },
      { type: "merge", subresource: "approval" },
    );
  }
}

function isOurs({ spec }: CertificateSigningRequest, pem: Buffer): boolean {
  return (
    spec.signerName === signer &&
    spec.request === pem.toString("base64") &&
    JSON.stringify([...(spec.usages ?? [])].sort()) === JSON.stringify([...usages].sort())
  );
}

/** The certificate as its consumer gets it. @throws CertificateError where it is not the one that was requested */
export function checked(
  certificate: Buffer,
  { subject }: CredentialRequest,
  asked: CertificateRequest,
): Buffer {
  const { publicKey } = asked;
  return Buffer.from(checkCertificate(certificate, { subject, publicKey, purpose: "client" }));
}

function handedOut(name: string, check: () => Buffer): Buffer {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new CertificateError(
      `the certificate that signer ${signer} issued for CertificateSigningRequest ${name} is not handed out: ${error.message}; see who signs in this cluster, and delete the CertificateSigningRequest to have it asked for again`,
      { cause: error },
    );
  }
}
