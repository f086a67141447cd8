import "reflect-metadata";
import { webcrypto } from "node:crypto";

import * as x509 from "@peculiar/x509";

import { encodePem } from "../../runtime/identity";

/** A certificate with its private key, both PEM (PKCS#8). */
export interface KeyedCertificate {
  certificate: string;
  privateKey: string;
}

export interface CertificateSubject {
  commonName: string;
  /** Groups, in Kubernetes' words. */
  organizations?: string[];
  /** DNS names that a server answers to. */
  dnsNames?: string[];
  /** Addresses that a server answers to. */
  addresses?: string[];
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const lifetimeMs = 10 * 365 * 24 * 3600 * 1000;

/** A private certificate authority of one local cluster: P-256 keys, certificates that last ten years. */
export class CertificateAuthority {
  private constructor(
    private readonly issuer: x509.X509Certificate,
    private readonly key: webcrypto.CryptoKey,
    readonly pem: KeyedCertificate,
  ) {}

  static async create(commonName: string): Promise<CertificateAuthority> {
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      name: distinguishedName({ commonName }),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new CertificateAuthority(certificate, keys.privateKey, {
      certificate: certificate.toString("pem") + "\n",
      privateKey: await exportPrivateKey(keys.privateKey),
    });
  }

  static async fromPem(pem: KeyedCertificate): Promise<CertificateAuthority> {
    const der = x509.PemConverter.decodeFirst(pem.privateKey);
    const key = await webcrypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]);
    return new CertificateAuthority(new x509.X509Certificate(pem.certificate), key, pem);
  }

  /** Issues a certificate that serves for clients and, with names or addresses, for servers. */
  async issue(subject: CertificateSubject): Promise<KeyedCertificate> {
    const keys = await generateKeys();
    const names: x509.JsonGeneralName[] = [
      ...(subject.dnsNames ?? []).map((value) => ({ type: "dns" as const, value })),
      ...(subject.addresses ?? []).map((value) => ({ type: "ip" as const, value })),
    ];
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      subject: distinguishedName(subject),
      issuer: this.issuer.subjectName,
      publicKey: keys.publicKey,
      signingKey: this.key,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([
          x509.ExtendedKeyUsage.clientAuth,
          x509.ExtendedKeyUsage.serverAuth,
        ]),
        await x509.AuthorityKeyIdentifierExtension.create(this.issuer),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ],
    });
    return {
      certificate: certificate.toString("pem") + "\n",
      privateKey: await exportPrivateKey(keys.privateKey),
    };
  }
}

/** The key pair that signs service-account tokens, both PEM. */
export async function generateServiceAccountKeys(): Promise<{ publicKey: string; privateKey: string }> {
  const keys = await generateKeys();
  const publicKey = Buffer.from(await webcrypto.subtle.exportKey("spki", keys.publicKey));
  return {
    publicKey: encodePem("PUBLIC KEY", publicKey),
    privateKey: await exportPrivateKey(keys.privateKey),
  };
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function exportPrivateKey(key: webcrypto.CryptoKey): Promise<string> {
  return encodePem("PRIVATE KEY", Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key)));
}

function distinguishedName({ commonName, organizations = [] }: CertificateSubject): x509.JsonName {
  return [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }];
}

/** From five minutes ago, for clocks that differ a little. */
function validity() {
  const notBefore = new Date(Date.now() - 5 * 60 * 1000);
  return { notBefore, notAfter: new Date(notBefore.getTime() + lifetimeMs) };
}
