/** The Tenant of rome at milan, and what it grants, as a test reads and changes it. */
import assert from "node:assert/strict";

import {
  ClusterRoleBinding,
  Event,
  Namespace,
  NamespaceMap,
  Quota,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
} from "../../runtime/api";
import type { Kind, KubeObject, ObjectRef } from "../../runtime/api";
import { controlPlaneSubject, createCertificateRequest, parseCertificate } from "../../runtime/identity";
import { createCertificateAuthority } from "../../runtime/identity/serving-certificate";
import { semanticallyEqual } from "../../runtime/kube";
import type { ManagedCluster } from "./managed-cluster";
import {
  atMilan,
  atRome,
  clusterWide,
  controlPlaneBinding,
  quotaOfPool,
  tenantOfRome,
} from "./peering-of-rome";
import type { PeeringSteps } from "./peering-steps";
import { until } from "./until";

export const MARK = "liqo.io/cordon-tenant";

export class TenantOfRome {
  /** @param clusters called by each method, so that a suite may make this before its clusters run */
  constructor(private readonly clusters: () => { milan: ManagedCluster; steps: PeeringSteps }) {}

  readonly setCondition = (tenantCondition: string) =>
    this.clusters().milan.admin.patch(Tenant, tenantOfRome, { spec: { tenantCondition } }, { type: "merge" });
  readonly tenant = () => until("the Tenant", () => this.clusters().milan.admin.get(Tenant, tenantOfRome));
  readonly there = <T extends KubeObject>(kind: Kind<T>, ref: ObjectRef) =>
    until(`${kind.kind} ${ref.name}`, () => this.clusters().milan.admin.get(kind, ref));
  readonly copies = () => this.clusters().milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
  readonly maps = () => this.clusters().milan.admin.list(NamespaceMap, { namespace: "guests-from-rome" });
  readonly resourcesOf = async (name: string, cluster = this.clusters().milan) => {
    const ref = cluster === this.clusters().milan ? atMilan(name) : atRome(name);
    const conditions = (await cluster.admin.get(ResourceSlice, ref))?.status?.conditions ?? [];
    const found = conditions.find(({ type }) => type === "Resources");
    return found && `${found.status} ${found.reason}`;
  };
  readonly resourcesSay = (name: string, expected: string) =>
    until(`resources of ${name}: ${expected}`, async () => (await this.resourcesOf(name)) === expected);
  readonly marks = async () => (await this.copies()).map(({ metadata }) => metadata.annotations?.[MARK]);
  readonly quotaIsCordoned = (expected: true | undefined) =>
    until(`cordoned: ${expected}`, async () => {
      const quota = await this.clusters().milan.admin.get(Quota, quotaOfPool);
      return quota !== undefined && quota.spec.cordoned === expected;
    });
  readonly refusals = async () =>
    (
      await this.clusters().milan.admin.list(Event, {
        namespace: "guests-from-rome",
        fieldSelector: "reason=SignatureVerificationFailed",
      })
    ).reduce((sum, { count = 1 }) => sum + count, 0);

  /** What a consumer has of an active or a cordoned Tenant. */
  readonly everythingGranted = async (): Promise<void> => {
    await this.there(RoleBinding, controlPlaneBinding);
    await this.there(ClusterRoleBinding, clusterWide);
    await until("two copies and a map", async () => {
      return (await this.copies()).length === 2 && (await this.maps()).length === 1;
    });
    await this.there(Namespace, { name: "shop-rome" });
    await this.there(Quota, quotaOfPool);
  };

  /** Puts an expired certificate where the issued one is kept, and starts the controllers anew. */
  readonly expire = async (flags: string[] = []): Promise<void> => {
    await this.clusters().milan.stop();
    const { certificate } = createCertificateAuthority(
      { commonName: "rome", organization: "liqo.io" },
      { notBefore: new Date("2020-01-01"), notAfter: new Date("2021-01-01") },
    );
    const { privateKey } = await this.clusters().steps.consumerKeys();
    const csr = createCertificateRequest(controlPlaneSubject("rome"), privateKey);
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    await this.clusters().milan.admin.patch(
      Secret,
      atMilan("liqo-remote-certificate"),
      { data: { csr: base64(csr), certificate: base64(certificate) } },
      { type: "merge" },
    );
    await this.clusters().milan.start(flags);
  };
  readonly signed = async () => (await this.tenant()).status?.authParams?.signedCRT ?? "";
}

/** Waits until a value is as expected; absent and empty are the same. */
export async function becomes(expected: unknown, look: () => Promise<unknown>): Promise<void> {
  let found: unknown;
  await until("the value", async () => semanticallyEqual((found = await look()), expected)).catch(() =>
    assert.deepEqual(found, expected),
  );
}

/** Whether a signed certificate, in base64, has not expired. */
export const isGood = (signedCRT: string) =>
  parseCertificate(Buffer.from(signedCRT, "base64")).notAfter.getTime() > Date.now();
