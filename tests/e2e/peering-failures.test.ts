import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";

import {
  type Desired,
  Event,
  ForeignCluster,
  Identity,
  Namespace,
  NamespaceMap,
  type ObjectRef,
  Quota,
  Renew,
  ResourceSlice,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import {
  controlPlaneSubject,
  createCertificateRequest,
  generateKeyPair,
  type KeyPair,
  parseCertificate,
  parseKubeconfig,
  publicKeyDer,
  samePublicKey,
  signNonce,
} from "../../runtime/identity";
import { createCertificateAuthority } from "../../runtime/identity/serving-certificate";
import { KubeClient } from "../../runtime/kube";
import type { PeeringSides } from "../../runtime/plan/peering";
import { ConnectProxy } from "../../runtime/proxy/connect-proxy";
import { eventAbout, eventWith } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const atRome = (name: string) => ({ name, namespace: "to-milan" });
const atMilan = (name: string) => ({ name, namespace: "guests-from-rome" });
const tenantOfRome = atMilan("rome");
const quotaOfPool = atMilan("pool-a8a4c692b93b");
const base64 = (value: string | Uint8Array) => Buffer.from(value).toString("base64");

/** The rows of control plane reference 9.1, 9.2 and 19 that no other test covers. */
describe("a peering between rome and milan", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;

  after(async () => {
    await Promise.all([rome?.end(), milan?.end()]);
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    await Promise.all([rome.start(), milan.start()]);
    steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.namespaces();
  });

  const conditionsOf = async (name: string, cluster = rome) => {
    const ref = cluster === rome ? atRome(name) : atMilan(name);
    const slice = await cluster.admin.get(ResourceSlice, ref);
    return Object.fromEntries(
      (slice?.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
    );
  };
  const ACCEPTED = {
    Authentication: "Accepted ResourceSliceAuthenticationAccepted",
    Resources: "Accepted ResourceSliceResourcesAccepted",
  };
  /** Waits until a slice says just this, at the consumer. */
  async function says(name: string, expected: Record<string, string>): Promise<void> {
    const sorted = (value: object) => JSON.stringify(Object.entries(value).sort());
    await until(
      `${name} says ${JSON.stringify(expected)}`,
      async () => sorted(await conditionsOf(name)) === sorted(expected),
    ).catch(async (error: unknown) => {
      assert.deepEqual(await conditionsOf(name), expected);
      throw error;
    });
  }
  const tenantAtMilan = () => until("the Tenant", () => milan.admin.get(Tenant, tenantOfRome));
  const setCondition = (tenantCondition: string) =>
    milan.admin.patch(Tenant, tenantOfRome, { spec: { tenantCondition } }, { type: "merge" });
  const virtualNode = (name: string) =>
    until(`virtual node ${name}`, () => rome.admin.get(VirtualNode, atRome(name)));

  async function peer(): Promise<void> {
    await steps.nonceSecret();
    await steps.tenant();
    await steps.identity();
    await steps.slice();
    await virtualNode("pool");
    await says("pool", ACCEPTED);
  }

  describe("whose Tenant changes its condition", () => {
    before(peer);
    after(() => steps.remove());
    const ofClass = (name: string) =>
      steps.slice(name, {
        spec: { class: "gpu", providerClusterID: "milan", resources: { "nvidia.com/gpu": "2" } },
      });

    it("active: resources of another class are left to whom it belongs", async () => {
      await ofClass("fast");
      await says("fast", { Authentication: ACCEPTED.Authentication });
      const unserved = (admin: KubeClient, ref: ObjectRef) =>
        eventAbout(admin, { kind: "ResourceSlice", ...ref }, "ClassNotServed");
      assert.match(
        await unserved(milan.admin, atMilan("fast")),
        /spec\.class: nobody has answered class "gpu": Liqo's own controller serves class "default"; run the controller/,
      );
      assert.match(
        await unserved(rome.admin, atRome("fast")),
        /class "gpu": ask the administrator of cluster "milan" .* set spec\.class to one of them/,
      );
      // Nothing but that: the status is for the controller of the class.
      await says("fast", { Authentication: ACCEPTED.Authentication });
      await milan.admin.patch(
        ResourceSlice,
        atMilan("fast"),
        {
          status: {
            conditions: [
              ...((await milan.admin.get(ResourceSlice, atMilan("fast")))?.status?.conditions ?? []),
              { type: "Resources", status: "Accepted", reason: "GpusFound", message: "two of them" },
            ],
            resources: { "nvidia.com/gpu": "2" },
            nodeLabels: { gpu: "a100" },
          },
        },
        { type: "merge", subresource: "status" },
      );
      const node = await virtualNode("fast");
      assert.deepEqual(node.spec.resourceQuota?.hard, { "nvidia.com/gpu": "2" });
      assert.equal(node.spec.labels?.gpu, "a100");
      await says("fast", { Authentication: ACCEPTED.Authentication, Resources: "Accepted GpusFound" });
    });

    it("cordoned: certificates go on, nothing new is granted in any class, what was granted stays", async () => {
      await setCondition("Cordoned");
      await ofClass("faster");
      await steps.slice("more");
      for (const name of ["faster", "more"]) {
        await says(name, {
          Authentication: ACCEPTED.Authentication,
          Resources: "Denied ResourceSliceResourcesDenied",
        });
        assert.equal(await rome.admin.get(VirtualNode, atRome(name)), undefined);
      }
      await says("pool", ACCEPTED);
      await says("fast", { Authentication: ACCEPTED.Authentication, Resources: "Accepted GpusFound" });
      const asks = (pods: string | null) =>
        rome.admin.patch(ResourceSlice, atRome("pool"), { spec: { resources: { pods } } }, { type: "merge" });
      const { pods: asked } = (await rome.admin.get(ResourceSlice, atRome("pool")))?.spec.resources ?? {};
      await asks("3");
      await until("it is told that more waits", async () => {
        const { conditions } = (await rome.admin.get(ResourceSlice, atRome("pool")))?.status ?? {};
        return conditions?.some(({ type, message }) => type === "Resources" && message?.includes("waits"));
      });
      await says("pool", ACCEPTED);
      await asks(asked === undefined ? null : String(asked));
      await until("the Renew is filled", async () => {
        const renew = await rome.admin.get(Renew, atRome("controlplane-milan"));
        return renew?.status?.authParams?.signedCRT;
      });
    });

    it("active again: its quotas are open, but where a slice is cordoned by itself", async () => {
      await setCondition("Active");
      const cordoned = async () => (await milan.admin.get(Quota, quotaOfPool))?.spec.cordoned === true;
      await until("open", async () => !(await cordoned()));
      for (const [value, closed] of [
        ["true", true],
        ["false", false],
        ["yes", true],
        ["False", false],
        ["1", true],
        ["0", false],
        ["", true],
        [null, false],
      ] as const) {
        await milan.admin.patch(
          ResourceSlice,
          atMilan("pool"),
          { metadata: { annotations: { "liqo.io/cordon": value } } },
          { type: "merge" },
        );
        await until(
          `cordoned by ${JSON.stringify(value)}: ${closed}`,
          async () => (await cordoned()) === closed,
        );
      }
      await says("more", ACCEPTED);
    });

    it("drained: copies of slices and of namespace maps go, with a word on it", async () => {
      await rome.admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
      await rome.apply({
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "NamespaceOffloading",
        metadata: { name: "offloading", namespace: "shop" },
        spec: {},
      } as Parameters<ManagedCluster["apply"]>[0]);
      const maps = () => milan.admin.list(NamespaceMap, { namespace: "guests-from-rome" });
      await until("the namespace map is copied", async () => (await maps()).length === 1);
      await setCondition("Drained");
      await until("copies gone", async () => {
        const slices = await milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
        return (
          slices.length === 0 && (await maps()).length === 0 && (await milan.admin.list(Quota)).length === 0
        );
      });
      const about = { kind: "Tenant", ...tenantOfRome };
      assert.match(await eventAbout(milan.admin, about, "ResourceSlicesDeleted"), /resource slices/);
      assert.match(await eventAbout(milan.admin, about, "NamespaceMapsDeleted"), /namespace maps/);
      await setCondition("Active");
      await until("copies back", async () => {
        const slices = await milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
        return slices.length === 4 && (await maps()).length === 1;
      });
      await rome.admin.delete(Namespace, { name: "shop" });
    });

    it("denied after it was granted: quota and virtual node keep what they have", async () => {
      await says("pool", ACCEPTED);
      const [quota, node] = await Promise.all([milan.admin.get(Quota, quotaOfPool), virtualNode("pool")]);
      await milan.stop();
      await milan.start(["--default-resource-slice-class-enabled=false"]);
      await says("pool", {
        Authentication: ACCEPTED.Authentication,
        Resources: "Denied DefaultResourceSliceClassDisabled",
      });
      assert.deepEqual((await milan.admin.get(Quota, quotaOfPool))?.spec, quota?.spec);
      assert.deepEqual((await virtualNode("pool")).metadata.uid, node.metadata.uid);
      await milan.stop();
      await milan.start();
      await says("pool", ACCEPTED);
    });
  });

  describe("with keys of every type", () => {
    const keysOfRome = { name: "authentication-keys", namespace: "liqo" };
    const ecdsa = (namedCurve: string): KeyPair =>
      generateKeyPairSync("ec", {
        namedCurve,
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
        publicKeyEncoding: { type: "spki", format: "pem" },
      });
    afterEach(() => steps.remove());

    const types: [string, () => KeyPair][] = [
      ["RSA", () => generateKeyPair("rsa")],
      ["ECDSA on P-256", () => ecdsa("P-256")],
      ["ECDSA on P-384", () => ecdsa("P-384")],
      ["Ed25519", () => generateKeyPair()],
    ];
    for (const [type, make] of types) {
      it(`${type}: both identities work`, async () => {
        const { privateKey, publicKey } = make();
        await rome.admin.patch(
          Secret,
          keysOfRome,
          {
            data: { privateKey: base64(privateKey), publicKey: base64(publicKey), previousPublicKeys: null },
          },
          { type: "merge" },
        );
        await peer();
        for (const identity of ["controlplane-milan", "resourceslice-pool"]) {
          const secret = await rome.admin.get(Secret, atRome(`kubeconfig-${identity}`));
          const kubeconfig = parseKubeconfig(
            Buffer.from(secret?.data?.kubeconfig ?? "", "base64").toString(),
          );
          assert.ok(
            samePublicKey(parseCertificate(kubeconfig.certificate ?? "").publicKey, publicKey),
            identity,
          );
        }
        await steps.slice("second");
        await says("second", ACCEPTED);
      });
    }

    it("Ed25519, sent as 32 raw bytes by an old peer", async () => {
      const { publicKey } = await steps.consumerKeys();
      await steps.nonceSecret();
      await steps.tenant({ publicKey: base64(publicKeyDer(publicKey).subarray(-32)) });
      await steps.identity();
      await steps.slice();
      await virtualNode("pool");
    });
  });

  describe("under the ID of a cluster that is there already", () => {
    afterEach(() => steps.remove());

    it("tells the provider that the key is another one", async () => {
      await peer();
      const { privateKey, publicKey } = generateKeyPair();
      const secret = await milan.admin.get(Secret, atMilan("liqo-nonce"));
      const nonce = Buffer.from(secret?.data?.nonce ?? "", "base64");
      await steps.tenant({
        publicKey: base64(publicKey),
        csr: base64(createCertificateRequest(controlPlaneSubject("rome"), privateKey)),
        signature: base64(signNonce(nonce, privateKey)),
      });
      await eventWith(
        milan.admin,
        await tenantAtMilan(),
        "KeyChanged",
        /spec\.publicKey is another key than cluster "rome" had before.*another cluster of the same ID/,
      );
    });
  });

  describe("whose provider is reached through its proxy only", () => {
    let proxy: ConnectProxy;
    before(async () => {
      const { host } = new URL(controlPlane("milan").url);
      proxy = await ConnectProxy.start({ port: 0, host: "127.0.0.1", forceHost: host, allowedHosts: [] });
      await milan.stop();
      // A name that leads to the API server inside milan, and nowhere from here.
      await milan.start(["--api-server-address-override=https://kubernetes.default.svc:443"]);
    });
    after(async () => {
      await steps.remove();
      await milan.stop();
      await milan.start();
      await proxy.stop();
    });

    it("both identities go by it, and so does the check of the API server", async () => {
      const proxyURL = `http://127.0.0.1:${proxy.port}`;
      await steps.nonceSecret();
      await steps.tenant({ proxyURL });
      await steps.identity();
      await steps.slice();
      await virtualNode("pool");
      await says("pool", ACCEPTED);
      for (const identity of ["controlplane-milan", "resourceslice-pool"]) {
        const secret = await rome.admin.get(Secret, atRome(`kubeconfig-${identity}`));
        const kubeconfig = parseKubeconfig(Buffer.from(secret?.data?.kubeconfig ?? "", "base64").toString());
        assert.deepEqual(
          [kubeconfig.server, kubeconfig.proxyUrl],
          ["https://kubernetes.default.svc:443", proxyURL],
        );
        const client = KubeClient.fromKubeconfig(
          Buffer.from(secret?.data?.kubeconfig ?? "", "base64").toString(),
        );
        assert.equal((await client.raw({ path: "/version" })).status, 200);
        client.close();
      }
      const peer = await until("the peer answers", async () => {
        const found = await rome.admin.get(ForeignCluster, { name: "milan" });
        return found?.status?.conditions?.[0]?.status === "Established" && found;
      });
      assert.equal(peer.status?.foreignProxyUrl, proxyURL);
      assert.ok(proxy.open > 0);
    });
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
