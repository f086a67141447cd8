import { EventReason, Label, ResourceSlice, type StorageClass, type Tenant } from "../api";
import {
  CertificateError,
  checkCertificateRequest,
  InvalidCertificateRequest,
  KeyError,
  parseCertificateRequest,
  readPublicKey,
  resourceSliceSubject,
} from "../identity";
import {
  ApiError,
  asError,
  type Controller,
  exceptStatus,
  type Informer,
  isConflict,
  keyOf,
  type Outcome,
  patchStatusIfChanged,
  runController,
  type Source,
  timestamp,
  watches,
} from "../kube";
import { isCopy } from "../plan/peer-objects";
import { type AuthenticationContext, requeueAfter } from "./context";
import type { IdentityProvider } from "./identity-provider/identity-provider";
import { tellUnservedClass } from "./slice-class";
import { isAccepted, type SliceAuthentication, sliceStatus } from "./slice-status";
import { isReplaced } from "./tenant-key";
import { describeLookup, labelledPeer } from "./tenant-namespace";

/**
 * At the provider: gives credentials and resources to the slices that consumers ask for (control plane reference 6.7, 10.2).
 *
 * @param endpointChanges sources of the given keys for when this cluster's address changes
 * @param storageClasses undefined where the storage fabric is off
 */
export function runResourceSliceRemote(
  authentication: AuthenticationContext,
  identityProvider: IdentityProvider,
  endpointChanges: (keys: () => string[]) => Source[],
  storageClasses: Informer<StorageClass> | undefined,
): Controller {
  const { runtime, caches } = authentication;
  const { slices } = caches;
  const reconciler = new SliceReconciler(authentication, identityProvider, storageClasses);
  const copiesOf = (peer: string | undefined) =>
    caches
      .ofPeer(slices, peer ?? "")
      .filter(isCopy)
      .map(keyOf);
  const allCopies = () => slices.list().filter(isCopy).map(keyOf);
  return runController(
    {
      name: "resourceslice_remote",
      sources: [
        // The status is ours: an edit of it is reverted.
        watches(slices, { when: ({ object }) => isCopy(object) }),
        watches(caches.tenants, { keys: ({ spec }) => copiesOf(spec.clusterID), when: exceptStatus }),
        watches(caches.tenantNamespaces.informer, {
          keys: (namespace) => copiesOf(labelledPeer(namespace)),
          when: exceptStatus,
        }),
        watches(caches.certificateRequests, {
          keys: (request) =>
            caches
              .ofPeer(slices, labelledPeer(request) ?? "")
              .filter(
                ({ metadata }) => metadata.name === request.metadata.annotations?.[Label.resourceSliceName],
              )
              .map(keyOf),
        }),
        ...endpointChanges(allCopies),
        ...(storageClasses === undefined ? [] : [watches(storageClasses, { keys: allCopies })]),
      ],
      // It holds the credentials that were issued before.
      reads: [caches.peerSecrets],
      objectOf: (key) => slices.getByKey(key),
      reconcile: (key) => reconciler.reconcile(key),
    },
    runtime,
  );
}

class SliceReconciler {
  constructor(
    private readonly authentication: AuthenticationContext,
    private readonly identityProvider: IdentityProvider,
    private readonly storageClasses: Informer<StorageClass> | undefined,
  ) {}

  async reconcile(key: string): Promise<Outcome> {
    const { runtime, caches, options } = this.authentication;
    const slice = caches.slices.getByKey(key);
    if (slice === undefined || !isCopy(slice) || !slice.spec.csr) return;
    const consumer = slice.spec.consumerClusterID;
    if (slice.metadata.deletionTimestamp) return await this.denyDrained(slice, consumer ?? "");
    if (consumer === undefined) {
      runtime.events.warning(
        slice,
        EventReason.remoteCertificateFailed,
        "spec.consumerClusterID is missing; the consumer's controllers fill it",
      );
      return;
    }
    const misplaced = this.misplacement(slice, consumer);
    if (misplaced !== undefined) {
      runtime.events.warning(slice, EventReason.invalidResourceSlice, misplaced);
      await this.write(
        slice,
        sliceStatus(slice, { authentication: { outcome: "denied", why: misplaced } }, this.now()),
      );
      return;
    }
    const tenant = this.tenantOf(slice, consumer);
    if (typeof tenant === "string") {
      runtime.events.warning(slice, EventReason.tenantNotFound, tenant);
      return;
    }
    const attempt = await this.authenticate(slice, tenant, consumer);
    const status = sliceStatus(
      slice,
      {
        authentication: attempt.authentication,
        resources: {
          tenantCondition: tenant.spec.tenantCondition,
          storageClasses: this.storageClasses?.list() ?? [],
          defaultClass: options.defaultClass,
        },
      },
      this.now(),
    );
    await this.write(slice, status);
    if (attempt.error !== undefined) throw attempt.error;
    const own = options.defaultClass.enabled ? 'class "default"' : "no class, by its administrator's choice";
    const lookAgainAfterMs = tellUnservedClass(
      { ...slice, status },
      runtime,
      `Liqo's own controller serves ${own}; run the controller of this one in cluster "${options.clusterId}", or ask for another class at the consumer`,
    );
    return requeueAfter(earliest(attempt.checkAgainAfterMs, lookAgainAfterMs));
  }

  /** Draining deletes copies. A copy that a finalizer still holds is denied. */
  private async denyDrained(slice: ResourceSlice, consumer: string): Promise<void> {
    const tenant = this.tenantOf(slice, consumer);
    if (typeof tenant === "string" || tenant.spec.tenantCondition !== "Drained") return;
    const { defaultClass } = this.authentication.options;
    const resources = { tenantCondition: tenant.spec.tenantCondition, storageClasses: [], defaultClass };
    await this.write(
      slice,
      sliceStatus(slice, { authentication: { outcome: "pending" }, resources }, this.now()),
    );
  }

  /** Why a slice is not valid where it is: a consumer requests resources from its own namespace, in its own name, and of this cluster. */
  private misplacement(slice: ResourceSlice, consumer: string): string | undefined {
    const { tenantNamespaces } = this.authentication.caches;
    const { clusterId } = this.authentication.options;
    const { providerClusterID: provider } = slice.spec;
    if (provider !== undefined && provider !== clusterId)
      return `spec.providerClusterID is "${provider}", and this is cluster "${clusterId}"; give its ID, or leave the field out`;
    const { namespace = "", labels } = slice.metadata;
    const origin = labels?.[Label.replicationOrigin];
    if (origin !== consumer) {
      return `label ${Label.replicationOrigin} is "${origin ?? ""}" and spec.consumerClusterID "${consumer}"; both name the consumer`;
    }
    if (tenantNamespaces.clusterOf(namespace) === consumer) {
      const lookup = tenantNamespaces.of(consumer);
      return lookup.outcome === "found" ? undefined : describeLookup(lookup, consumer);
    }
    return `namespace "${namespace}" is not the tenant namespace of cluster "${consumer}"`;
  }

  /** The Tenant of a slice, or what is wrong. */
  private tenantOf(slice: ResourceSlice, consumer: string): Tenant | string {
    const { caches } = this.authentication;
    const found = caches
      .ofPeer(caches.tenants, consumer)
      .filter(
        ({ metadata }) => metadata.namespace === slice.metadata.namespace && !metadata.deletionTimestamp,
      );
    const [tenant, second] = found;
    if (tenant === undefined) {
      return `no Tenant of cluster "${consumer}" is in namespace "${slice.metadata.namespace}"; create it there`;
    }
    if (second === undefined) return tenant;
    const names = found.map(({ metadata }) => metadata.name).sort();
    return `cluster "${consumer}" has ${found.length} Tenants (${names.join(", ")}), exactly one is needed; delete the others`;
  }

  private async authenticate(
    slice: ResourceSlice,
    tenant: Tenant,
    consumer: string,
  ): Promise<{ authentication: SliceAuthentication; checkAgainAfterMs?: number; error?: Error }> {
    const { events } = this.authentication.runtime;
    const subject = resourceSliceSubject(slice.metadata.name, consumer);
    const csr = Buffer.from(slice.spec.csr ?? "", "base64");
    try {
      const exchangesKeys = tenant.spec.authzPolicy !== "TolerateNoHandshake";
      checkCertificateRequest(csr, {
        subject,
        ...(exchangesKeys && {
          publicKey: readPublicKey(Buffer.from(tenant.spec.publicKey ?? "", "base64")),
        }),
      });
    } catch (error) {
      if (!(error instanceof InvalidCertificateRequest || error instanceof KeyError)) throw error;
      // The consumer is about to request a certificate for its new key. Until then it keeps the one that it has.
      if (isAccepted(slice, "Authentication") && isForReplacedKey(csr, tenant))
        return { authentication: { outcome: "pending" } };
      const why = `spec.csr: ${error.message}`;
      events.warning(slice, EventReason.invalidCSR, why);
      return { authentication: { outcome: "denied", why } };
    }
    try {
      const credentials = await this.identityProvider.credentials({
        consumerClusterId: consumer,
        tenantNamespace: slice.metadata.namespace ?? "",
        sliceName: slice.metadata.name,
        subject,
        csr,
        ...(tenant.spec.proxyURL ? { proxyUrl: tenant.spec.proxyURL } : {}),
      });
      return {
        checkAgainAfterMs: credentials.checkAgainAfterMs,
        authentication:
          credentials.outcome === "pending"
            ? { outcome: "pending" }
            : { outcome: "accepted", authParams: credentials.authParams },
      };
    } catch (thrown) {
      const error = asError(thrown);
      if (!isConflict(error)) events.warning(slice, EventReason.authParamsFailed, error.message);
      // A consumer deletes the identity of a denied slice, so an error of the API server does not deny it, nor anything while it has an accepted certificate.
      if (error instanceof ApiError || isAccepted(slice, "Authentication"))
        return { authentication: { outcome: "pending" }, error };
      // Other messages may reveal details of this cluster to the consumer.
      const why = error instanceof CertificateError ? error.message : undefined;
      return { authentication: { outcome: "denied", ...(why === undefined ? {} : { why }) }, error };
    }
  }

  private async write(slice: ResourceSlice, status: NonNullable<ResourceSlice["status"]>): Promise<void> {
    const { client, events } = this.authentication.runtime;
    const { change } = await patchStatusIfChanged(client, ResourceSlice, slice, status, { exact: [""] });
    if (change === "none") return;
    const before = slice.status?.conditions ?? [];
    for (const { type, status: state, reason = "", message = "" } of status.conditions ?? []) {
      const same = before.some((condition) => condition.type === type && condition.status === state);
      if (!same) events.normal(slice, reason, message);
    }
  }

  private now(): string {
    return timestamp(this.authentication.runtime.clock);
  }
}

function earliest(...waits: (number | undefined)[]): number | undefined {
  const given = waits.filter((wait) => wait !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

/** Whether a request is for the key that its consumer had before it rotated its keys. */
function isForReplacedKey(csr: Buffer, tenant: Tenant): boolean {
  try {
    return isReplaced(tenant, parseCertificateRequest(csr).publicKey);
  } catch (error) {
    if (error instanceof InvalidCertificateRequest) return false;
    throw error;
  }
}
