import { generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { CertificateSigningRequest } from "../../api/kubernetes";
import { checkCertificate, createCertificateRequest, parseCertificate, type Subject } from "../../identity";
import { createCertificateAuthority, issueServingCertificate } from "../../identity/serving-certificate";
import type { KubeClient, Logger } from "../../kube";

/** A certificate with its key, both PEM. */
export interface CertifiedKey {
  certificate: string;
  key: string;
}

/** Signers of kubelets' serving certificates, by `--certificate-type`. */
const SIGNERS = {
  kubelet: "kubernetes.io/kubelet-serving",
  aws: "beta.eks.amazonaws.com/app-serving",
} as const;
export type CertificateType = keyof typeof SIGNERS | "self-signed";

const DAY_MS = 86_400_000;
const SELF_SIGNED_DAYS = 365;
/** How long the cluster may take to sign a request before another one is made, in milliseconds. */
const SIGNING_DEADLINE_MS = 10 * 60_000;
const POLL_FIRST_MS = 100;
const POLL_MAX_MS = 10_000;
const RETRY_MS = 60_000;
/** Share of the lifetime after which a certificate is renewed. */
const RENEW_AFTER = 0.7;

interface Settings {
  type: CertificateType;
  /** Node that the certificate names; the address is what clients check. */
  node: () => string;
  address: string;
}

/** The serving certificate of the kubelet endpoint: signed by the cluster, renewed in time, self-signed until there is one. */
export class ServingCertificate {
  constructor(
    private readonly client: KubeClient,
    private readonly settings: Settings,
    private readonly log: Logger,
  ) {}

  /** A certificate to serve with until the cluster has signed one. */
  selfSigned(): CertifiedKey {
    const now = Date.now();
    const validity = {
      notBefore: new Date(now - DAY_MS),
      notAfter: new Date(now + SELF_SIGNED_DAYS * DAY_MS),
    };
    const authority = createCertificateAuthority(
      { commonName: "liqo.io", organization: "liqo.io" },
      validity,
    );
    const names = { ip: [this.settings.address] };
    const { certificate, privateKey } = issueServingCertificate(authority, this.subject(), names, validity);
    return { certificate, key: privateKey };
  }

  /** Keeps a valid certificate in place until the signal is aborted. */
  async keep(use: (certified: CertifiedKey) => void, signal: AbortSignal): Promise<void> {
    const { type } = this.settings;
    while (!signal.aborted) {
      try {
        const certified =
          type === "self-signed" ? this.selfSigned() : await this.request(SIGNERS[type], signal);
        use(certified);
        await pause(renewAt(certified.certificate) - Date.now(), signal);
      } catch (error) {
        if (signal.aborted) return;
        this.log.warn("no signed serving certificate; clients that check it cannot connect", { error });
        await pause(RETRY_MS, signal);
      }
    }
  }

  private async request(signerName: string, signal: AbortSignal): Promise<CertifiedKey> {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const subject = this.subject();
    const addresses = [this.settings.address];
    const pem = createCertificateRequest(subject, privateKey, { ip: addresses });
    const created = await this.client.create(CertificateSigningRequest, {
      apiVersion: CertificateSigningRequest.apiVersion,
      kind: CertificateSigningRequest.kind,
      metadata: { generateName: "liqo-kubelet-serving-" },
      spec: {
        signerName,
        request: Buffer.from(pem).toString("base64"),
        usages: ["digital signature", "server auth"],
      },
    });
    const signed = await this.untilSigned(created.metadata.name, signerName, signal);
    const expected = { subject, publicKey, purpose: "server", addresses, now: new Date() } as const;
    const certificate = checkCertificate(signed, expected);
    return { certificate, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  }

  private async untilSigned(name: string, signerName: string, signal: AbortSignal): Promise<string> {
    const deadline = Date.now() + SIGNING_DEADLINE_MS;
    for (let delay = POLL_FIRST_MS; Date.now() < deadline; delay = Math.min(delay * 1.5, POLL_MAX_MS)) {
      const request = await this.client.get(CertificateSigningRequest, { name });
      const status = request?.status;
      if (status?.certificate) return Buffer.from(status.certificate, "base64").toString("utf8");
      const refusal = status?.conditions?.find(({ type }) => type === "Denied" || type === "Failed");
      if (request === undefined || refusal !== undefined) {
        const why = refusal === undefined ? "it was deleted" : `${refusal.type}: ${refusal.message ?? ""}`;
        throw new Error(`CertificateSigningRequest "${name}" for ${signerName} was not signed: ${why}`);
      }
      await pause(delay, signal);
    }
    const minutes = SIGNING_DEADLINE_MS / 60_000;
    throw new Error(
      `CertificateSigningRequest "${name}" for ${signerName} was not signed in ${minutes} min; ` +
        "see that it is approved and that the cluster runs that signer, or use --certificate-type=self-signed",
    );
  }

  private subject(): Subject {
    return { commonName: `system:node:${this.settings.node()}`, organization: "system:nodes" };
  }
}

function renewAt(certificate: string): number {
  const { notBefore, notAfter } = parseCertificate(certificate);
  return notBefore.getTime() + (notAfter.getTime() - notBefore.getTime()) * RENEW_AFTER;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits, or until the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.min(Math.max(ms, 0), MAX_TIMER_MS), undefined, { signal, ref: false }).catch(
    () => undefined,
  );
}
