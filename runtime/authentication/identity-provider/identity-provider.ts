import { type AuthParams, DataKey, type Desired, Label, remoteCertificateName, Secret } from "../../api";
import type { Subject } from "../../identity";
import {
  type GlobalMetadata,
  type Informer,
  type KubeClient,
  withGlobalMetadata,
  writeIfChanged,
} from "../../kube";

/** Credentials that a consumer asks of this provider. */
export interface CredentialRequest {
  consumerClusterId: string;
  /** Where the consumer's objects are on this cluster; the issued credentials are kept there. */
  tenantNamespace: string;
  /** Undefined for the control plane. */
  sliceName?: string;
  /** Who the credentials speak for; already checked against the request. */
  subject: Subject;
  /** Certificate request, PEM; already checked. */
  csr: Buffer;
  /** How the consumer must reach this cluster, where not directly. */
  proxyUrl?: string;
}

export type Credentials =
  | {
      outcome: "issued";
      authParams: AuthParams;
      /** Whether they replace older ones that were about to expire. */
      renewed: boolean;
      /** When to look for renewal again; undefined for credentials that do not expire. */
      checkAgainAfterMs?: number;
    }
  /** Not issued yet: an event of one of the provider's sources requeues the request, at the latest after the given time. */
  | { outcome: "pending"; checkAgainAfterMs: number };

/** Issues the credentials by which a consumer reaches this cluster (control plane reference 7). The same request gets the same credentials. */
export interface IdentityProvider {
  /** @throws Error whose message says which step failed and what to do. */
  credentials(request: CredentialRequest): Promise<Credentials>;
}

/** The Secrets that store issued credentials, one for each request. */
export class IssuedSecrets {
  constructor(
    private readonly own: {
      client: KubeClient;
      /** Secrets labelled `liqo.io/remote-cluster-id`, those of issued credentials among them. */
      secrets: Informer<Secret>;
      global: GlobalMetadata;
    },
  ) {}

  /** The value of a key of a request's Secret; empty where there is none. */
  read(request: CredentialRequest, key: string): Buffer {
    return Buffer.from(this.secretOf(request)?.data?.[key] ?? "", "base64");
  }

  /** Writes the request itself and the given values. */
  async write(request: CredentialRequest, values: Readonly<Record<string, string | Buffer>>): Promise<void> {
    const data = Object.fromEntries(
      Object.entries({ [DataKey.csr]: request.csr, ...values }).map(([key, value]) => [
        key,
        Buffer.from(value).toString("base64"),
      ]),
    );
    const secret: Desired<Secret> = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: remoteCertificateName(request.sliceName),
        namespace: request.tenantNamespace,
        labels: { [Label.remoteClusterID]: request.consumerClusterId },
      },
      type: "Opaque",
      data,
    };
    const { client, global } = this.own;
    await writeIfChanged(client, Secret, withGlobalMetadata(secret, global), this.secretOf(request));
  }

  private secretOf({ tenantNamespace, sliceName }: CredentialRequest): Secret | undefined {
    return this.own.secrets.get(remoteCertificateName(sliceName), tenantNamespace);
  }
}
