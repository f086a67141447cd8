import { EventReason, Finalizer, type KubeObject, Tenant } from "../api";
import { controlPlaneSubject } from "../identity";
import {
  type Controller,
  exceptStatus,
  isConflict,
  keyOf,
  messageOf,
  type Outcome,
  patchStatusIfChanged,
  runController,
  type Source,
  Terminal,
  watches,
  withFinalizer,
  withoutFinalizer,
} from "../kube";
import { type AuthenticationContext, requeueAfter } from "./context";
import { labelledPeer, takesGrantsAlong, tenantMisplacement } from "./tenant-namespace";
import { changedKeyMessage } from "./tenant-key";
import { verifyHandshake } from "./handshake";
import type { Credentials, IdentityProvider } from "./identity-provider/identity-provider";
import { cordonSlices, deleteNamespaceMaps, deleteSlices } from "./tenant-drain";
import { TenantRoleBindings } from "./tenant-role-bindings";

/**
 * At the provider: verifies consumers, gives them credentials and roles, takes both back (control plane reference 6.3, 9).
 *
 * @param endpointChanges sources of the given keys for when this cluster's address changes
 */
export function runTenantController(
  authentication: AuthenticationContext,
  identityProvider: IdentityProvider,
  endpointChanges: (keys: () => string[]) => Source[],
): Controller {
  const { runtime, caches } = authentication;
  const reconciler = new TenantReconciler(authentication, identityProvider);
  const tenantsOf = (peer: string | undefined) => caches.ofPeer(caches.tenants, peer ?? "").map(keyOf);
  const ofPeer = (object: KubeObject) => tenantsOf(labelledPeer(object));
  return runController(
    {
      name: "tenant",
      sources: [
        watches(caches.tenants, { when: exceptStatus }),
        watches(caches.nonces, { keys: ofPeer }),
        watches(caches.tenantNamespaces.informer, { keys: ofPeer, when: exceptStatus }),
        watches(caches.certificateRequests, { keys: ofPeer }),
        watches(caches.roleBindings, { keys: ofPeer }),
        watches(caches.clusterRoleBindings, { keys: ofPeer }),
        watches(caches.consumerRoles, { keys: () => caches.tenants.list().map(keyOf) }),
        // Copies that come after their Tenant was cordoned or drained.
        watches(caches.slices, { keys: ofPeer, when: exceptStatus }),
        // By their namespace: the labels are the peer's.
        watches(caches.namespaceMaps, {
          keys: ({ metadata: { namespace } }) => [
            ...tenantsOf(caches.tenantNamespaces.clusterOf(namespace)),
            ...caches.tenants
              .list()
              .flatMap((one) => (one.metadata.namespace === namespace ? [keyOf(one)] : [])),
          ],
          when: exceptStatus,
        }),
        ...endpointChanges(() => caches.tenants.list().map(keyOf)),
      ],
      // It holds the credentials that were issued before.
      reads: [caches.peerSecrets],
      objectOf: (key) => caches.tenants.getByKey(key),
      reconcile: (key) => reconciler.reconcile(key),
    },
    runtime,
  );
}

class TenantReconciler {
  private readonly roleBindings: TenantRoleBindings;

  constructor(
    private readonly authentication: AuthenticationContext,
    private readonly identityProvider: IdentityProvider,
  ) {
    this.roleBindings = new TenantRoleBindings(authentication);
  }

  async reconcile(key: string): Promise<Outcome> {
    const observed = this.authentication.caches.tenants.getByKey(key);
    if (observed === undefined) return;
    const consumer = observed.spec.clusterID;
    if (consumer === undefined) {
      throw new Terminal(
        EventReason.missingClusterID,
        "spec.clusterID is missing; give the consumer's cluster ID",
      );
    }
    if (observed.metadata.deletionTimestamp) return await this.release(observed, consumer);
    const misplaced = tenantMisplacement(observed, consumer, this.authentication.caches.tenantNamespaces);
    if (misplaced !== undefined) {
      this.authentication.runtime.events.warning(observed, misplaced.reason, misplaced.message);
      return;
    }

    const tenant = await withFinalizer(
      this.authentication.runtime.client,
      Tenant,
      observed,
      Finalizer.tenant,
    );
    if (tenant.spec.tenantCondition === "Drained") return await this.drain(tenant, consumer);
    await cordonSlices(this.authentication, consumer, tenant.spec.tenantCondition === "Cordoned");
    return await this.admit(await this.roleBindings.restoreBindings(tenant), consumer);
  }

  private async release(tenant: Tenant, consumer: string): Promise<void> {
    const { tenantNamespaces, tenants } = this.authentication.caches;
    const present = this.authentication.caches.ofPeer(tenants, consumer);
    if (takesGrantsAlong(tenant, consumer, present, tenantNamespaces))
      await this.roleBindings.unbindClusterWide(consumer);
    await withoutFinalizer(this.authentication.runtime.client, Tenant, tenant, Finalizer.tenant);
  }

  /** Revokes all grants, in the order of control plane reference 9.3. Of the status only the observed generation changes. */
  private async drain(tenant: Tenant, consumer: string): Promise<void> {
    const { client, events } = this.authentication.runtime;
    const step = <T>(failure: string, work: () => Promise<T>) => this.step(tenant, failure, work);
    await step(EventReason.clusterRolesClusterWideUnbindingFailed, () =>
      this.roleBindings.unbindClusterWide(consumer),
    );
    const bindings = await step(EventReason.clusterRolesUnbindingFailed, () =>
      this.roleBindings.unbindControlPlane(tenant, consumer),
    );
    if (bindings > 0) {
      events.normal(
        tenant,
        EventReason.clusterRolesUnbindingSuccess,
        `Deleted ${bindings} role bindings of the consumer's control plane`,
      );
    }
    const slices = await deleteSlices(this.authentication, consumer);
    if (slices > 0)
      events.normal(tenant, EventReason.resourceSlicesDeleted, `Deleted ${slices} resource slices`);
    const maps = await deleteNamespaceMaps(this.authentication, tenant, consumer);
    if (maps > 0) events.normal(tenant, EventReason.namespaceMapsDeleted, `Deleted ${maps} namespace maps`);
    await patchStatusIfChanged(client, Tenant, tenant, {});
  }

  private async admit(tenant: Tenant, consumer: string): Promise<Outcome> {
    const { runtime, caches } = this.authentication;
    const exchangesKeys = tenant.spec.authzPolicy !== "TolerateNoHandshake";
    if (exchangesKeys) {
      // Only from its own namespace: others may write elsewhere.
      const nonces = caches
        .ofPeer(caches.nonces, consumer)
        .filter(({ metadata }) => metadata.namespace === tenant.metadata.namespace);
      const handshake = verifyHandshake(tenant, nonces);
      if (handshake.outcome === "refused") throw new Terminal(handshake.reason, handshake.message);
      if (handshake.outcome === "waiting") {
        runtime.events.warning(tenant, handshake.reason, handshake.message);
        return;
      }
    }
    const namespace = tenant.metadata.namespace ?? "";
    const status: NonNullable<Tenant["status"]> = { ...tenant.status, tenantNamespace: namespace };
    let credentials: Credentials | undefined;
    try {
      if (exchangesKeys) {
        credentials = await this.step(tenant, EventReason.authParamsFailed, () =>
          this.identityProvider.credentials({
            consumerClusterId: consumer,
            tenantNamespace: namespace,
            subject: controlPlaneSubject(consumer),
            csr: Buffer.from(tenant.spec.csr ?? "", "base64"),
            ...(tenant.spec.proxyURL ? { proxyUrl: tenant.spec.proxyURL } : {}),
          }),
        );
        if (credentials.outcome === "issued") {
          status.authParams = credentials.authParams;
          await this.step(tenant, EventReason.clusterRolesBindingFailed, () =>
            this.roleBindings.bindControlPlane(tenant, consumer, namespace),
          );
        }
      }
      await this.step(tenant, EventReason.clusterRolesClusterWideBindingFailed, () =>
        this.roleBindings.bindClusterWide(consumer),
      );
    } finally {
      // The status shows what was reached, even if a later step failed.
      await this.writeStatus(tenant, status, credentials);
    }
    return requeueAfter(credentials?.checkAgainAfterMs);
  }

  private async writeStatus(
    tenant: Tenant,
    status: NonNullable<Tenant["status"]>,
    credentials: Credentials | undefined,
  ): Promise<void> {
    const { client, events } = this.authentication.runtime;
    const { change } = await this.step(tenant, EventReason.updateFailed, () =>
      patchStatusIfChanged(client, Tenant, tenant, status, { exact: ["authParams"] }),
    );
    if (change === "none") return;
    const changedKey = credentials?.outcome === "issued" ? changedKeyMessage(tenant) : undefined;
    if (changedKey !== undefined) events.warning(tenant, EventReason.keyChanged, changedKey);
    if (credentials?.outcome === "issued" && credentials.renewed) {
      events.normal(tenant, EventReason.certificateRenewed, "Certificate renewed");
    }
    events.normal(tenant, EventReason.reconciled, "Tenant reconciled");
  }

  /** Runs a step and reports its failure as an event on the Tenant, except for a write conflict. */
  private async step<T>(tenant: Tenant, failure: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isConflict(error)) throw error;
      this.authentication.runtime.events.warning(tenant, failure, messageOf(error));
      throw error;
    }
  }
}
