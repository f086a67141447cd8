/** Signs client certificates of a control plane in place of kube-controller-manager, by a clock that a test can move. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { loadCertificateAuthority } from "../../provider/local-cluster/control-plane-pki";
import { CertificateSigningRequest } from "../../runtime/api";
import { InformerSet, type KubeClient } from "../../runtime/kube";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export class CertificateSigner {
  /** How far its clock is ahead of this machine's. */
  aheadMs = 0;
  /** Whom it certifies, such as `O=system:masters, CN=admin`, whoever asks; undefined while it is honest. */
  certifiesInstead: string | undefined;
  /** UIDs of the requests that it signed. */
  private readonly signed = new Set<string>();
  private readonly informers: InformerSet;
  private readonly failures: unknown[] = [];

  private constructor(
    private readonly client: KubeClient,
    private readonly authority: { certificate: string; privateKey: string },
    private readonly lifetimeMs: number,
  ) {
    this.informers = new InformerSet(client);
  }

  /** @param client of an administrator of the control plane, which must have no other signer */
  static async start(
    controlPlane: ControlPlane,
    client: KubeClient,
    lifetimeMs: number,
  ): Promise<CertificateSigner> {
    const { pem } = await loadCertificateAuthority(join(controlPlane.folder, "pki"));
    const signer = new CertificateSigner(client, pem, lifetimeMs);
    const look = (request: CertificateSigningRequest) =>
      void signer.look(request).catch((error: unknown) => signer.failures.push(error));
    signer.informers
      .informer(CertificateSigningRequest)
      .on({ added: look, updated: (_, request) => look(request) });
    return signer;
  }

  /** @throws what went wrong meanwhile */
  async stop(): Promise<void> {
    await this.informers.stop();
    if (this.failures.length > 0) throw new AggregateError(this.failures, "certificates could not be signed");
  }

  private async look({ metadata, spec, status }: CertificateSigningRequest): Promise<void> {
    const approved = status?.conditions?.some(({ type }) => type === "Approved") === true;
    const { uid = "" } = metadata;
    if (!approved || status?.certificate || this.signed.has(uid)) return;
    this.signed.add(uid);
    const certificate = await this.sign(Buffer.from(spec.request, "base64").toString());
    await this.client.patch(
      CertificateSigningRequest,
      { name: metadata.name },
      { status: { certificate: Buffer.from(certificate).toString("base64") } },
      { type: "merge", subresource: "status" },
    );
  }

  private async sign(pem: string): Promise<string> {
    const request = new x509.Pkcs10CertificateRequest(pem);
    const issuer = new x509.X509Certificate(this.authority.certificate);
    const der = x509.PemConverter.decodeFirst(this.authority.privateKey);
    const notBefore = new Date(Date.now() + this.aheadMs);
    const certificate = await x509.X509CertificateGenerator.create({
      notBefore,
      notAfter: new Date(notBefore.getTime() + this.lifetimeMs),
      subject: this.certifiesInstead ?? request.subjectName,
      issuer: issuer.subjectName,
      publicKey: request.publicKey,
      signingKey: await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]),
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
        await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ],
    });
    return `${certificate.toString("pem")}\n`;
  }
}
