import assert from "node:assert/strict";
import { Identity, Namespace, type ResourceSlice, Secret, type Tenant } from "../../../runtime/api";
import { AuthenticationCaches } from "../../../runtime/authentication/context";
import { isOwnSource } from "../../../runtime/authentication/resource-slice-local-controller";
import { takesGrantsAlong, tenantMisplacement } from "../../../runtime/authentication/tenant-namespace";
import { tenantNamespace } from "../../../runtime/plan/peering";
import { MemoryApiServer } from "../../support/memory-api-server";
import { type TestContext, testContext } from "../../support/runtime-context";

const AUTHENTICATION = "authentication.liqo.io/v1beta1";
const cluster = "liqo.io/remote-cluster-id";

describe("at milan, with the consumers rome and turin and the provider naples", () => {
  let server: MemoryApiServer;
  let context: TestContext;
  let caches: AuthenticationCaches;
  before(async () => {
    server = await MemoryApiServer.start();
    for (const peer of ["rome", "turin", "naples", "pisa"])
      server.create(Namespace, { ...tenantNamespace(`with-${peer}`, peer), spec: {} });
    server.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "off", labels: { "liqo.io/tenant-namespace": "false", [cluster]: "bari" } },
    });
    server.create(Namespace, { ...tenantNamespace("with-pisa-too", "pisa"), spec: {} });
    server.create(Identity, {
      apiVersion: AUTHENTICATION,
      kind: "Identity",
      metadata: { name: "controlplane-naples", namespace: "with-naples", labels: { [cluster]: "naples" } },
      spec: { clusterID: "naples", type: "ControlPlane" },
    });
    server.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "by-hand",
        namespace: "with-turin",
        labels: { [cluster]: "turin", "liqo.io/identity-type": "ControlPlane" },
      },
    });
    server.create(Identity, {
      apiVersion: AUTHENTICATION,
      kind: "Identity",
      metadata: { name: "resourceslice-trap", namespace: "with-rome", labels: { [cluster]: "rome" } },
      spec: { clusterID: "rome", type: "ResourceSlice" },
    });
    context = testContext(server.kubeconfig, "test");
    caches = new AuthenticationCaches(context.informers, "liqo");
    await context.informers.whenSynced();
  });
  after(async () => {
    await context.end();
    await server.close();
  });

  const tenant = (consumer: string, namespace: string, more: object = {}): Tenant => ({
    apiVersion: AUTHENTICATION,
    kind: "Tenant",
    metadata: { name: `${consumer} in ${namespace}`, namespace, uid: `${consumer} in ${namespace}`, ...more },
    spec: { clusterID: consumer, authzPolicy: "KeysExchange", tenantCondition: "Active" },
  });

  const placements: [consumer: string, namespace: string, reason: string | undefined, words?: RegExp][] = [
    ["rome", "with-rome", undefined],
    ["turin", "with-rome", "WrongNamespace", /"with-rome" is not the tenant namespace of cluster "turin"/],
    ["rome", "default", "WrongNamespace", /which is "with-rome"; create the Tenant there/],
    ["bari", "off", "TenantNamespaceNotFound", /cluster "bari" has no tenant namespace/],
    ["pisa", "with-pisa", "TenantNamespaceNotFound", /has 2 tenant namespaces/],
  ];
  for (const [consumer, namespace, reason, words = /^$/] of placements) {
    it(`a Tenant of ${consumer} in ${namespace} ${reason === undefined ? "speaks for it" : `is told of ${reason}`}`, () => {
      const found = tenantMisplacement(tenant(consumer, namespace), consumer, caches.tenantNamespaces);
      assert.equal(found?.reason, reason);
      assert.match(found?.message ?? "", words);
    });
  }

  const leaving = { deletionTimestamp: "2026-03-01T10:00:00Z" };
  const removals: [gone: Tenant, others: Tenant[], takes: boolean][] = [
    [tenant("turin", "with-turin"), [], true],
    [tenant("turin", "with-turin"), [tenant("turin", "with-rome")], true],
    [tenant("turin", "with-rome"), [tenant("turin", "with-turin")], false],
    [tenant("turin", "with-turin"), [tenant("turin", "with-turin", { uid: "second" })], false],
    [tenant("turin", "with-rome"), [tenant("turin", "with-turin", leaving)], true],
    [tenant("turin", "with-rome"), [tenant("turin", "default")], true],
    [tenant("turin", "default"), [], true],
  ];
  for (const [gone, others, takes] of removals) {
    const beside = others.map(({ metadata }) => metadata.name).join() || "none";
    it(`the deletion of the Tenant ${gone.metadata.name} beside ${beside} takes turin ${takes ? "its" : "no"} grants`, () => {
      assert.equal(takesGrantsAlong(gone, "turin", [gone, ...others], caches.tenantNamespaces), takes);
    });
  }

  const slice = (namespace: string, labels: Record<string, string>): ResourceSlice => ({
    apiVersion: AUTHENTICATION,
    kind: "ResourceSlice",
    metadata: { name: "pool", namespace, labels },
    spec: {},
  });
  const source = (provider: string) => ({ "liqo.io/replication": "true", "liqo.io/remoteID": provider });
  const sources: [namespace: string, labels: Record<string, string>, own: boolean][] = [
    ["with-naples", source("naples"), true],
    ["with-turin", source("turin"), true],
    ["with-rome", source("rome"), false],
    ["with-rome", source("naples"), false],
    ["with-naples", source("rome"), false],
    ["with-naples", { "liqo.io/replicated": "true", "liqo.io/originID": "naples" }, false],
    ["with-naples", {}, false],
  ];
  for (const [namespace, labels, own] of sources) {
    it(`a slice in ${namespace} with ${JSON.stringify(labels)} is ${own ? "" : "not "}its own`, () =>
      assert.equal(isOwnSource(slice(namespace, labels), caches), own));
  }
});
