import { ConditionReason } from "../api";
import type { ConditionType, DesiredCondition, DesiredModule } from "./conditions";

/** What exists of the authentication with one peer, in both directions. */
export interface AuthenticationFacts {
  /** The Tenant by which the peer may consume from us. */
  tenant?: {
    authzPolicy: "KeysExchange" | "TolerateNoHandshake";
    hasAuthParams: boolean;
    /** `status.tenantNamespace`. */
    tenantNamespace?: string;
  };
  /** The control-plane Identity by which we may consume from the peer. */
  identity?: {
    namespace: string;
    /** `spec.namespace`: where our objects go at the peer. */
    remoteNamespace?: string;
    apiServer?: string;
    proxyUrl?: string;
    /** Whether `status.kubeconfigSecretRef` is set. */
    hasSecret: boolean;
  };
  /** A control-plane kubeconfig Secret, made by the identity controller or by hand. */
  secret?: { namespace: string; remoteNamespace?: string; server?: string };
}

interface DesiredAuthentication extends DesiredModule {
  /** The peer consumes from us. */
  consumer: boolean;
  /** The peer lends to us. */
  provider: boolean;
  apiServerUrl?: string;
  foreignProxyUrl?: string;
  localNamespace?: string;
  remoteNamespace?: string;
}

export const authenticationConditions: readonly ConditionType[] = [
  "AuthTenantStatus",
  "AuthIdentityControlPlaneStatus",
];

/** The authentication module, the role that follows from it, and how to reach the peer (control plane reference 12.2). */
export function authenticationModule({
  tenant,
  identity,
  secret,
}: AuthenticationFacts): DesiredAuthentication {
  const desiredConditions: DesiredCondition[] = [];
  if (tenant !== undefined) desiredConditions.push(tenantCondition(tenant));
  if (identity !== undefined) desiredConditions.push(identityCondition(identity));
  return {
    enabled: tenant !== undefined || identity !== undefined || secret !== undefined,
    desiredConditions,
    consumer: tenant !== undefined,
    provider: identity !== undefined || secret !== undefined,
    apiServerUrl: identity === undefined ? secret?.server : identity.apiServer,
    foreignProxyUrl: identity?.proxyUrl,
    localNamespace: identity?.namespace ?? tenant?.tenantNamespace ?? secret?.namespace,
    remoteNamespace: identity === undefined ? secret?.remoteNamespace : identity.remoteNamespace,
  };
}

function tenantCondition(tenant: NonNullable<AuthenticationFacts["tenant"]>): DesiredCondition {
  const type = "AuthTenantStatus";
  if (tenant.authzPolicy === "KeysExchange" && !tenant.hasAuthParams) {
    return {
      type,
      status: "NotReady",
      reason: ConditionReason.tenantNotReady,
      message: "The Tenant has no credentials for the peer yet",
    };
  }
  if (!tenant.tenantNamespace) {
    return {
      type,
      status: "NotReady",
      reason: ConditionReason.tenantNotReady,
      message: "The Tenant has no tenant namespace yet",
    };
  }
  return {
    type,
    status: "Ready",
    reason: ConditionReason.tenantReady,
    message: "The Tenant is ready: the peer may ask for resources",
  };
}

function identityCondition({ hasSecret }: NonNullable<AuthenticationFacts["identity"]>): DesiredCondition {
  const type = "AuthIdentityControlPlaneStatus";
  return hasSecret
    ? {
        type,
        status: "Ready",
        reason: ConditionReason.identityReady,
        message: "The control-plane identity is ready",
      }
    : {
        type,
        status: "NotReady",
        reason: ConditionReason.identityNotReady,
        message: "The control-plane identity has no kubeconfig Secret yet",
      };
}
