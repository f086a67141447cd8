import assert from "node:assert/strict";

import {
  type Desired,
  Event,
  Identity,
  Namespace,
  Renew,
  ResourceSlice,
  Secret,
  Tenant,
} from "../../runtime/api";
import { controlPlaneSubject, createCertificateRequest, parseCertificate } from "../../runtime/identity";
import { createCertificateAuthority } from "../../runtime/identity/serving-certificate";
import { base64 } from "../support/base64";
import { eventWith } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { ACCEPTED, atMilan, atRome, tenantOfRome, withPeeringOfRome } from "../support/peering-of-rome";
import type { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";

/** Rows of control plane reference 19 that no other test covers. */
describe("a peering between rome and milan", function () {
  this.timeout(120_000);
  const peering = withPeeringOfRome();
  const { says, peer, tenantAtMilan } = peering;
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  before(() => {
    ({ rome, milan, steps } = peering);
  });

  describe("in which something is there twice, or broken", () => {
    afterEach(() => steps.remove());

    it("a second tenant namespace: says so, and goes on when it is one again", async () => {
      const second: Desired<Namespace> = {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: {
          name: "more-from-rome",
          labels: { "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "rome" },
        },
      };
      await milan.admin.create(Namespace, second);
      await steps.nonceSecret();
      await steps.tenant();
      await eventWith(
        milan.admin,
        await tenantAtMilan(),
        "TenantNamespaceNotFound",
        /has 2 tenant namespaces \(guests-from-rome, more-from-rome\), exactly one is needed/,
      );
      await milan.admin.patch(
        Namespace,
        { name: "more-from-rome" },
        { metadata: { labels: { "liqo.io/remote-cluster-id": null } } },
        { type: "merge" },
      );
      await steps.identity();
      await milan.admin.delete(Namespace, { name: "more-from-rome" });
    });

    it("a second nonce: says so, and goes on when it is one again", async () => {
      await steps.nonceSecret();
      await milan.admin.create(Secret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: "another-nonce",
          namespace: "guests-from-rome",
          labels: { "liqo.io/nonce": "true", "liqo.io/remote-cluster-id": "rome" },
        },
      });
      await steps.tenant();
      await eventWith(
        milan.admin,
        await tenantAtMilan(),
        "NonceNotFound",
        /has 2 nonce Secrets \(guests-from-rome\/another-nonce, guests-from-rome\/liqo-nonce\)/,
      );
      await milan.admin.delete(Secret, atMilan("another-nonce"));
      await steps.identity();
    });

    it("a second Tenant: slices say so, and go on when it is one again", async () => {
      await steps.nonceSecret();
      await steps.tenant();
      await steps.identity();
      const first = await milan.admin.get(Tenant, tenantOfRome);
      assert.ok(first);
      const second: Desired<Tenant> = {
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "Tenant",
        metadata: { name: "rome-again", namespace: "guests-from-rome", labels: first.metadata.labels },
        spec: first.spec,
      };
      await milan.admin.create(Tenant, second);
      await steps.slice();
      const copy = await until("the copy", () => milan.admin.get(ResourceSlice, atMilan("pool")));
      await eventWith(
        milan.admin,
        copy,
        "TenantNotFound",
        /has 2 Tenants \(rome, rome-again\), exactly one is needed/,
      );
      await milan.admin.delete(Tenant, atMilan("rome-again"));
      await says("pool", ACCEPTED);
    });

    it("credentials that somebody broke are made again", async () => {
      await peer();
      const ref = atRome("kubeconfig-controlplane-milan");
      const whole = (await rome.admin.get(Secret, ref))?.data?.kubeconfig;
      for (const broken of ["apiVersion: v1", "{{{", ""]) {
        await rome.admin.patch(Secret, ref, { data: { kubeconfig: base64(broken) } }, { type: "merge" });
        await until(
          `whole again after ${JSON.stringify(broken)}`,
          async () => (await rome.admin.get(Secret, ref))?.data?.kubeconfig === whole,
        );
      }
      const issued = atMilan("liqo-remote-certificate-pool");
      await milan.admin.patch(
        Secret,
        issued,
        { data: { certificate: base64("garbage") } },
        { type: "merge" },
      );
      await milan.admin.patch(
        ResourceSlice,
        atMilan("pool"),
        { metadata: { annotations: { look: "again" } } },
        { type: "merge" },
      );
      await until("issued again", async () => {
        const secret = await milan.admin.get(Secret, issued);
        const pem = Buffer.from(secret?.data?.certificate ?? "", "base64").toString();
        return pem.startsWith("-----BEGIN CERTIFICATE-----");
      });
      await says("pool", ACCEPTED);
    });

    it("an Identity whose certificate is none, or for another key, says what to do", async () => {
      await peer();
      const { certificate } = createCertificateAuthority(
        { commonName: "rome", organization: "liqo.io" },
        { notBefore: new Date("2026-01-01"), notAfter: new Date("2036-01-01") },
      );
      await rome.stop(); // the local renewer would mend it at once
      await milan.stop();
      for (const [signedCRT, words] of [
        ["garbage", /spec\.authParams\.signedCRT: certificate is not readable.*; copy authParams from/],
        [
          certificate,
          /signedCRT is for another key than this cluster's; authenticate with the provider again/,
        ],
      ] as const) {
        await rome.admin.delete(Renew, atRome("controlplane-milan"));
        await rome.admin
          .patch(Renew, atRome("controlplane-milan"), { metadata: { finalizers: null } }, { type: "merge" })
          .catch(() => undefined);
        await rome.admin.patch(
          Identity,
          atRome("controlplane-milan"),
          { spec: { authParams: { signedCRT: base64(signedCRT) } } },
          { type: "merge" },
        );
        await rome.start();
        await until(`words like ${words.source}`, async () => {
          const events = await rome.admin.list(Event, { namespace: "to-milan" });
          return events.some(
            ({ reason, message }) => reason === "AuthParamsUpdateFailed" && words.test(message ?? ""),
          );
        });
        await rome.stop();
      }
      await Promise.all([rome.start(), milan.start()]);
    });
  });

  describe("that is taken apart in the wrong order, or taken up again", () => {
    it("the Tenant first: nothing of the consumer stays behind", async () => {
      await peer();
      await milan.admin.delete(Tenant, tenantOfRome);
      await until(
        "the roles are gone",
        async () => (await milan.admin.get(Tenant, tenantOfRome)) === undefined,
      );
      await rome.admin.delete(ResourceSlice, atRome("pool"));
      await rome.admin.delete(Identity, atRome("controlplane-milan"));
      await until("nothing waits to be deleted", async () => {
        const left = await Promise.all([
          rome.admin.list(ResourceSlice, { namespace: "to-milan" }),
          rome.admin.list(Renew, { namespace: "to-milan" }),
          rome.admin.list(Identity, { namespace: "to-milan" }),
          rome.admin.list(Secret, { namespace: "to-milan", labelSelector: "liqo.io/identity-type" }),
        ]);
        return left.flat().length === 0;
      });
      await steps.remove();
    });

    it("the whole tenant namespace of the consumer: it goes, and its copies do", async () => {
      await peer();
      await rome.admin.delete(Namespace, { name: "to-milan" });
      await until(
        "namespace gone",
        async () => (await rome.admin.get(Namespace, { name: "to-milan" })) === undefined,
      );
      const copies = await Promise.all([
        milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" }),
        milan.admin.list(Renew, { namespace: "guests-from-rome" }),
      ]);
      assert.deepEqual(copies.flat(), []);
      await steps.namespaces();
      await steps.remove();
    });

    it("again after the kept certificate has expired: with a new one", async () => {
      const keys = await steps.consumerKeys();
      const { certificate } = createCertificateAuthority(
        { commonName: "rome", organization: "liqo.io" },
        { notBefore: new Date("2020-01-01"), notAfter: new Date("2021-01-01") },
      );
      await milan.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: "liqo-remote-certificate",
          namespace: "guests-from-rome",
          labels: { "liqo.io/remote-cluster-id": "rome" },
        },
        data: {
          csr: base64(createCertificateRequest(controlPlaneSubject("rome"), keys.privateKey)),
          certificate: base64(certificate),
        },
      } as Parameters<ManagedCluster["apply"]>[0]);
      await peer();
      const issued = (await rome.admin.get(Identity, atRome("controlplane-milan")))?.spec.authParams
        ?.signedCRT;
      assert.ok(parseCertificate(Buffer.from(issued ?? "", "base64")).notAfter.getTime() > Date.now());
      await steps.remove();
    });

    it("under other keys: what was kept for the old ones is not in the way", async () => {
      await peer();
      await steps.remove();
      await rome.admin.delete(Secret, { name: "authentication-keys", namespace: "liqo" });
      await until("new keys", () =>
        rome.admin.get(Secret, { name: "authentication-keys", namespace: "liqo" }),
      );
      await peer();
      await steps.remove();
    });
  });
});
