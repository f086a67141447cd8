import {
  Annotation,
  CertificateSigningRequest,
  ConditionReason,
  DataKey,
  type Desired,
  Label,
  LabelValue,
  remoteCertificateName,
  Secret,
} from "../../api";
import {
  CertificateError,
  type CertificateRequest,
  certificateRequestDer,
  certificateRequestPem,
  checkCertificate,
  checkCertificateRequest,
  parseCertificate,
  type Renewal,
  renewal,
} from "../../identity";
import {
  type Clock,
  type GlobalMetadata,
  type Informer,
  isAlreadyExists,
  type KubeClient,
  timestamp,
  withGlobalMetadata,
  writeIfChanged,
} from "../../kube";
import type { CredentialRequest, Credentials, IdentityProvider } from "./identity-provider";
import { type Issuance, issuance, issuanceName } from "./issuance";

export interface X509ProviderDependencies {
  client: KubeClient;
  clock: Clock;
  requests: Informer<CertificateSigningRequest>;
  /** Secrets labelled `liqo.io/remote-cluster-id`, the issued certificates among them. */
  secrets: Informer<Secret>;
  /** How consumers reach this cluster: URL, and CA as base64 of PEM where they need one. */
  endpoint: () => Promise<{ apiServer: string; ca: string | undefined }>;
  global: GlobalMetadata;
}

const signer = "kubernetes.io/kube-apiserver-client";
const usages = ["digital signature", "key encipherment", "client auth"];
/** A certificate that is due as soon as it is issued comes from a signer with next to no lifetime: asked again this often, no more. */
const attempts = 3;

/** Client certificates that the cluster's own signer issues (control plane reference 7.2). */
export class X509Provider implements IdentityProvider {
  /** Requests that wait for the signer, by name, since when on the monotonic clock. */
  private readonly waiting = new Map<string, number>();

  constructor(private readonly own: X509ProviderDependencies) {}

  async credentials(request: CredentialRequest): Promise<Credentials> {
    const { apiServer, ca } = await this.own.endpoint();
    const asked = checkCertificateRequest(request.csr, { subject: request.subject });
    const cached = this.cached(request, asked);
    let replaced: Buffer | undefined;
    let certificate = cached;
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (certificate !== undefined) {
        const due = this.renewal(certificate);
        if (!due.due) {
          if (certificate !== cached) await this.remember(request, certificate);
          return {
            outcome: "issued",
            renewed: replaced !== undefined,
            checkAgainAfterMs: due.checkAgainAfterMs,
            authParams: {
              ...(ca === undefined ? {} : { ca }),
              signedCRT: certificate.toString("base64"),
              apiServer,
              ...(request.proxyUrl ? { proxyURL: request.proxyUrl } : {}),
            },
          };
        }
        replaced = certificate;
      }
      const issued = await this.issue(request, asked, replaced);
      if (!Buffer.isBuffer(issued)) return { outcome: "pending", checkAgainAfterMs: issued.remainingMs };
      certificate = issued;
    }
    throw new Error(
      `the certificates that signer ${signer} issues are due for renewal as soon as they are issued; give it a longer lifetime, or set the clocks right: this one may be ahead of the signer's`,
    );
  }

  private renewal(certificate: Buffer): Renewal {
    return renewal(parseCertificate(certificate), new Date(this.own.clock.now()));
  }

  /**
   * The certificate kept for this very request; one for another request is of a key that the consumer no longer uses. What is not to be handed
   * out is as good as missing, unless it is due and replaced anyway.
   */
  private cached(request: CredentialRequest, asked: CertificateRequest): Buffer | undefined {
    const data = this.secret(request)?.data;
    const certificate = Buffer.from(data?.[DataKey.certificate] ?? "", "base64");
    const csr = certificateRequestDer(Buffer.from(data?.[DataKey.csr] ?? "", "base64"));
    if (csr?.equals(asked.der) !== true) return undefined;
    try {
      if (!this.renewal(certificate).due) checked(certificate, request, asked);
      return certificate;
    } catch (error) {
      if (error instanceof CertificateError) return undefined;
      throw error;
    }
  }

  private secret({ tenantNamespace, sliceName }: CredentialRequest): Secret | undefined {
    return this.own.secrets.get(remoteCertificateName(sliceName), tenantNamespace);
  }

  private async remember(request: CredentialRequest, certificate: Buffer): Promise<void> {
    const secret: Desired<Secret> = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: remoteCertificateName(request.sliceName),
        namespace: request.tenantNamespace,
        labels: { [Label.remoteClusterID]: request.consumerClusterId },
      },
      type: "Opaque",
      data: {
        [DataKey.csr]: request.csr.toString("base64"),
        [DataKey.certificate]: certificate.toString("base64"),
      },
    };
    await writeIfChanged(
      this.own.client,
      Secret,
      withGlobalMetadata(secret, this.own.global),
      this.secret(request),
    );
  }

  /**
   * The issued certificate, or how long it may still take. Approves at once what it has made.
   *
   * @throws CertificateError where the signer answered with another certificate than was asked for
   */
  private async issue(
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

/** A certificate just as its consumer gets it. @throws CertificateError where it is another than was asked for */
function checked(certificate: Buffer, { subject }: CredentialRequest, asked: CertificateRequest): Buffer {
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
