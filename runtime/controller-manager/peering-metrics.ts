import { Gauge, type Registry } from "prom-client";
import { ForeignCluster, Identity, ResourceSlice, Tenant } from "../api";
import { CertificateError, parseCertificate } from "../identity";
import type { InformerSet } from "../kube";
import { isCopy, isSource } from "../plan/peer-objects";
import { isQuantity, parseQuantity } from "../api/quantity";

/**
 * Registers what upstream has no metrics of: the state of each peering, when certificates expire, what slices grant. All of it is read from the
 * caches when somebody asks.
 */
export function registerPeeringMetrics(metrics: Registry, informers: InformerSet): void {
  const registers = [metrics];
  const foreignClusters = informers.informer(ForeignCluster);
  const identities = informers.informer(Identity);
  const slices = informers.informer(ResourceSlice);
  const tenants = informers.informer(Tenant);

  new Gauge({
    name: "liqo_peer_role",
    help: "1 for the role of each peer: Consumer, Provider, ConsumerAndProvider or Unknown",
    labelNames: ["cluster_id", "role"],
    registers,
    collect() {
      this.reset();
      for (const { spec, status } of foreignClusters.list()) {
        this.set({ cluster_id: spec.clusterID, role: status?.role ?? "Unknown" }, 1);
      }
    },
  });
  new Gauge({
    name: "liqo_peer_condition",
    help: "Whether a condition of a peer is good (Ready or Established), by type",
    labelNames: ["cluster_id", "type"],
    registers,
    collect() {
      this.reset();
      for (const { spec, status } of foreignClusters.list()) {
        const { networking, authentication, offloading } = status?.modules ?? {};
        const conditions = [status, networking, authentication, offloading].flatMap(
          (holder) => holder?.conditions ?? [],
        );
        for (const condition of conditions) {
          const good = condition.status === "Ready" || condition.status === "Established";
          this.set({ cluster_id: spec.clusterID, type: condition.type }, good ? 1 : 0);
        }
      }
    },
  });
  new Gauge({
    name: "liqo_identity_certificate_expiry_seconds",
    help: "When the certificate of an identity expires, seconds since 1970",
    labelNames: ["cluster_id", "identity", "type"],
    registers,
    collect() {
      this.reset();
      for (const { metadata, spec } of identities.list()) {
        const expiry = expirySeconds(spec.authParams?.signedCRT);
        if (expiry === undefined) continue;
        this.set(
          { cluster_id: spec.clusterID ?? "", identity: metadata.name, type: spec.type ?? "" },
          expiry,
        );
      }
    },
  });
  new Gauge({
    name: "liqo_issued_certificate_expiry_seconds",
    help: "When a certificate that was issued to a consumer expires, seconds since 1970; slice is empty for its control plane's",
    labelNames: ["cluster_id", "slice"],
    registers,
    collect() {
      this.reset();
      const issued = [
        ...tenants.list().map(({ spec, status }) => ({ peer: spec.clusterID, slice: "", status })),
        ...slices
          .list()
          .filter((slice) => isCopy(slice))
          .map(({ metadata, spec, status }) => ({
            peer: spec.consumerClusterID,
            slice: metadata.name,
            status,
          })),
      ];
      for (const { peer, slice, status } of issued) {
        const expiry = expirySeconds(status?.authParams?.signedCRT);
        if (expiry !== undefined) this.set({ cluster_id: peer ?? "", slice }, expiry);
      }
    },
  });
  new Gauge({
    name: "liqo_resource_slice_granted",
    help: "Amounts granted by a slice, in the resource's base unit; direction consuming or providing",
    labelNames: ["cluster_id", "slice", "direction", "resource"],
    registers,
    collect() {
      this.reset();
      for (const slice of slices.list()) {
        const direction = isCopy(slice) ? "providing" : isSource(slice) ? "consuming" : undefined;
        if (direction === undefined) continue;
        const peer = direction === "providing" ? slice.spec.consumerClusterID : slice.spec.providerClusterID;
        for (const [resource, amount] of Object.entries(slice.status?.resources ?? {})) {
          if (!isQuantity(amount)) continue;
          this.set(
            { cluster_id: peer ?? "", slice: slice.metadata.name, direction, resource },
            // Counted in billionths.
            Number(parseQuantity(amount)) / 1e9,
          );
        }
      }
    },
  });
}

function expirySeconds(signedCRT: string | undefined): number | undefined {
  if (!signedCRT) return undefined;
  try {
    return parseCertificate(Buffer.from(signedCRT, "base64")).notAfter.getTime() / 1000;
  } catch (error) {
    if (error instanceof CertificateError) return undefined;
    throw error;
  }
}
