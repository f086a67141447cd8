import { type CertificateSigningRequest, DataKey, type Secret } from "../../api";
import {
  CertificateError,
  type CertificateRequest,
  certificateRequestDer,
  checkCertificateRequest,
  parseCertificate,
  type Renewal,
  renewal,
} from "../../identity";
import type { Clock, GlobalMetadata, Informer, KubeClient } from "../../kube";
import { CertificateSigning, checked, signer } from "./certificate-signing";
import {
  type CredentialRequest,
  type Credentials,
  type IdentityProvider,
  IssuedSecrets,
} from "./identity-provider";

interface X509ProviderDependencies {
  client: KubeClient;
  clock: Clock;
  requests: Informer<CertificateSigningRequest>;
  /** Secrets labelled `liqo.io/remote-cluster-id`, the issued certificates among them. */
  secrets: Informer<Secret>;
  /** How consumers reach this cluster: URL, and CA as base64 of PEM where they need one. */
  endpoint: () => Promise<{ apiServer: string; ca: string | undefined }>;
  global: GlobalMetadata;
}

/** How often to ask for a certificate where each is due for renewal as soon as it is issued. */
const attempts = 3;

/** Client certificates that the cluster's own signer issues (control plane reference 7.2). */
export class X509Provider implements IdentityProvider {
  private readonly issued: IssuedSecrets;
  private readonly signing: CertificateSigning;

  constructor(private readonly own: X509ProviderDependencies) {
    this.issued = new IssuedSecrets(own);
    this.signing = new CertificateSigning(own);
  }

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
          if (certificate !== cached)
            await this.issued.write(request, { [DataKey.certificate]: certificate });
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
      const issued = await this.signing.sign(request, asked, replaced);
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
   * The stored certificate for this request; one for another request is for a key that the consumer no longer uses. A certificate that fails the checks
   * counts as missing, unless it is due for renewal and replaced anyway.
   */
  private cached(request: CredentialRequest, asked: CertificateRequest): Buffer | undefined {
    const certificate = this.issued.read(request, DataKey.certificate);
    const csr = certificateRequestDer(this.issued.read(request, DataKey.csr));
    if (csr?.equals(asked.der) !== true) return undefined;
    try {
      if (!this.renewal(certificate).due) checked(certificate, request, asked);
      return certificate;
    } catch (error) {
      if (error instanceof CertificateError) return undefined;
      throw error;
    }
  }
}
