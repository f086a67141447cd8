import type { AuthParams } from "../../api";
import type { Subject } from "../../identity";

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
  /** On the way: an event of a source of the provider's brings the request back, at the latest after the given time. */
  | { outcome: "pending"; checkAgainAfterMs: number };

/** Makes the credentials by which a consumer reaches this cluster (control plane reference 7). Asked again, it gives the same ones. */
export interface IdentityProvider {
  /** @throws Error whose message says which step failed and what to do. */
  credentials(request: CredentialRequest): Promise<Credentials>;
}
