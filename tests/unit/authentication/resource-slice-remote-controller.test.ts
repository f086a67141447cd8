import assert from "node:assert/strict";
import { Namespace, Quota, ResourceSlice, Secret, Tenant } from "../../../runtime/api";
import { runCertificateCollector } from "../../../runtime/authentication/certificate-collector";
import { AuthenticationCaches, type AuthenticationOptions } from "../../../runtime/authentication/context";
import type { IdentityProvider } from "../../../runtime/authentication/identity-provider/identity-provider";
import { runQuotaCreator } from "../../../runtime/authentication/quota-creator-controller";
import { runResourceSliceRemote } from "../../../runtime/authentication/resource-slice-remote-controller";
import { createCertificateRequest, generateKeyPair, resourceSliceSubject } from "../../../runtime/identity";
import { semanticallyEqual, silentLogger } from "../../../runtime/kube";
import { TestClock } from "../../support/test-clock";
import { tenantNamespace } from "../../../runtime/plan/peering";
import { MemoryApiServer } from "../../support/memory-api-server";
import { type TestContext, testContext } from "../../support/runtime-context";
import { until } from "../../support/until";

const guests = "guests-from-rome";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const options: AuthenticationOptions = {
  clusterId: "milan",
  liqoNamespace: "liqo-system",
  tlsCompatibilityMode: false,
  endpoint: { addressOverride: "", caOverride: "", trustedCa: false },
  defaultClass: {
    enabled: true,
    defaultResources: { cpu: "4", memory: "8Gi" },
    clusterLabels: { "example.org/zone": "north" },
    ingressClasses: [{ name: "nginx", default: true }],
    loadBalancerClasses: [],
    storageEnabled: false,
    realStorageClassName: "",
  },
  limitsEnforcement: "None",
  global: { labels: {}, annotations: {} },
  offloadingEnabled: true,
};

describe("what the provider keeps of a slice", () => {
  let server: MemoryApiServer;
  let context: TestContext;
  let clock: TestClock;

  beforeEach(async () => {
    server = await MemoryApiServer.start();
    server.create(Namespace, { ...tenantNamespace(guests, "rome"), spec: {} });
    server.create(Tenant, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Tenant",
      metadata: { name: "rome", namespace: guests, labels: { "liqo.io/remote-cluster-id": "rome" } },
      spec: { clusterID: "rome", authzPolicy: "TolerateNoHandshake", tenantCondition: "Active" },
    });
    clock = new TestClock();
    context = testContext(server.kubeconfig, "test", silentLogger, clock);
  });
  afterEach(async () => {
    await context.end();
    await server.close();
  });

  const start = () => {
    const authentication = {
      runtime: context,
      options,
      caches: new AuthenticationCaches(context.informers, options.liqoNamespace),
    };
    const authParams = { apiServer: "https://milan.example.org:6443", signedCRT: base64("certificate") };
    const provider: IdentityProvider = {
      credentials: () => Promise.resolve({ outcome: "issued", renewed: false, authParams }),
    };
    return [
      runResourceSliceRemote(authentication, provider, () => [], undefined),
      runQuotaCreator(authentication, context.informers.informer(Quota)),
      runCertificateCollector(authentication),
    ];
  };

  function copyOfRome(name: string, sliceClass: string): void {
    const csr = createCertificateRequest(
      resourceSliceSubject(name, "rome"),
      generateKeyPair("ed25519").privateKey,
    );
    server.create(ResourceSlice, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      metadata: {
        name,
        namespace: guests,
        labels: {
          "liqo.io/replication": "false",
          "liqo.io/replicated": "true",
          "liqo.io/originID": "rome",
          "liqo.io/remote-cluster-id": "rome",
        },
      },
      spec: { consumerClusterID: "rome", class: sliceClass, resources: { cpu: "6" }, csr: base64(csr) },
    });
  }
  const slice = (name: string) => server.get(ResourceSlice, `${guests}/${name}`) ?? assert.fail(name);
  const said = (name: string) => {
    const { status } = slice(name);
    return { ...status, conditions: status?.conditions?.map(({ type, status: is }) => `${type} ${is}`) };
  };
  const quotas = () => server.list(Quota).map(({ spec }) => spec);

  it("is its status, put back where somebody edits it, and its quota with it; another class's grant stays", async () => {
    const controllers = start();
    copyOfRome("pool", "default");
    copyOfRome("fast", "gpu");
    await until("both are answered", () => said("pool").conditions?.length === 2 && said("fast").authParams);
    await until("a quota", () => quotas().length === 1);
    const [before, granted] = [said("pool"), quotas()];
    server.change(
      ResourceSlice,
      `${guests}/pool`,
      {
        status: {
          resources: { cpu: "64", "nvidia.com/gpu": "8" },
          nodeLabels: { "example.org/by": "hand" },
          ingressClasses: null,
          authParams: { apiServer: "https://elsewhere.example.org" },
          conditions: [],
          observedGeneration: 77,
        },
      },
      "status",
    );
    await until("put back", () => semanticallyEqual(said("pool"), before)).catch(() =>
      assert.deepEqual(said("pool"), before),
    );
    await until("its quota, too", () => semanticallyEqual(quotas(), granted));
    const grant = { resources: { "nvidia.com/gpu": "2" } };
    server.change(ResourceSlice, `${guests}/fast`, { status: grant }, "status");
    await until("all is quiet", () => controllers.every(({ idle }) => idle));
    const written = server.writes.length;
    server.change(ResourceSlice, `${guests}/pool`, { metadata: { annotations: { look: "again" } } });
    server.change(ResourceSlice, `${guests}/fast`, { metadata: { annotations: { look: "again" } } });
    await until("all is quiet", () => controllers.every(({ idle }) => idle));
    assert.deepEqual(slice("fast").status?.resources, grant.resources);
    assert.deepEqual(server.writes.slice(written), []);
  });

  it("is what it was issued, until it has been gone for ten seconds", async () => {
    const issued = (name: string, data: Record<string, string>) =>
      server.create(Secret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace: guests, labels: { "liqo.io/remote-cluster-id": "rome" } },
        data,
      });
    const certificate = { csr: base64("request"), certificate: base64("certificate") };
    copyOfRome("pool", "default");
    issued("liqo-remote-certificate", certificate);
    issued("liqo-remote-certificate-pool", certificate);
    issued("liqo-remote-certificate-old", certificate);
    issued("liqo-remote-certificate-notes", { text: base64("by hand") });
    start();
    const names = () => server.list(Secret).map(({ metadata }) => metadata.name.slice(23));
    const answered = () => until("it is answered", () => said("pool").conditions?.length === 2);
    const waits = () => until("one is waited for", () => clock.waiting > 0);
    await answered();
    await waits();
    await clock.advance(9_000);
    assert.deepEqual(names(), ["", "-pool", "-old", "-notes"]);
    await clock.advance(1_000);
    await until("the old one is gone", () => names().length === 3);
    server.delete(ResourceSlice, `${guests}/pool`);
    await waits();
    await clock.advance(5_000);
    copyOfRome("pool", "default");
    await answered();
    issued("liqo-remote-certificate-late", certificate);
    await until("the late one is gone", async () => {
      await clock.advance(10_000);
      return names().length === 3;
    });
    assert.deepEqual(names(), ["", "-pool", "-notes"]);
  });
});
