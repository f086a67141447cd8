import assert from "node:assert/strict";

import {
  type Desired,
  ForeignCluster,
  Identity,
  type Kind,
  type KubeObject,
  Namespace,
  NamespaceOffloading,
  Quota,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import { ApiError } from "../../runtime/kube";
import {
  AdmissionCluster,
  AUTHENTICATION,
  namespaceOffloading,
  OFFLOADING,
  refusal,
} from "../support/admission-cluster";

const key = "liqo.io/remote-cluster-id";

describe("admission, over the wire", function () {
  this.timeout(60_000);
  const cluster = AdmissionCluster.forSuite();
  const admin = () => cluster().admin;

  before(() => cluster().makeTenantNamespace("rome"));

  describe("of the control plane's kinds", () => {
    const tenant = (
      name: string,
      inNamespace: string,
      labels: Record<string, string> = {},
    ): Desired<Tenant> => ({
      apiVersion: AUTHENTICATION,
      kind: "Tenant",
      metadata: { name, namespace: inNamespace, labels },
      spec: { clusterID: "rome" },
    });

    it("labels ForeignClusters, and is asked only when the label is wrong", async () => {
      const object: Desired<ForeignCluster> = {
        apiVersion: "core.liqo.io/v1beta1",
        kind: "ForeignCluster",
        metadata: { name: "rome" },
        spec: { clusterID: "rome" },
      };
      const made = await admin().create(ForeignCluster, object);
      assert.equal(made.metadata.labels?.[key], "rome");
      cluster().calls.take();
      await admin().patch(
        ForeignCluster,
        made.metadata,
        { metadata: { annotations: { a: "b" } } },
        { type: "merge" },
      );
      assert.deepEqual(cluster().calls.take(), {});
      const after = await admin().patch(
        ForeignCluster,
        made.metadata,
        { metadata: { labels: { [key]: "turin" } } },
        { type: "merge" },
      );
      assert.equal(after.metadata.labels?.[key], "rome");
    });

    it("labels and checks Tenants", async () => {
      assert.match(
        await refusal(admin().create(Tenant, tenant("rome", "probe"))),
        /must be created in a tenant namespace/,
      );
      assert.match(
        await refusal(admin().create(Tenant, tenant("rome", "liqo-tenant-rome", { [key]: "turin" }))),
        /is "turin", and spec\.clusterID is "rome"/,
      );
      const made = await admin().create(Tenant, tenant("rome", "liqo-tenant-rome"));
      assert.equal(made.metadata.labels?.[key], "rome");
      assert.match(
        await refusal(admin().create(Tenant, tenant("again", "liqo-tenant-rome"))),
        /a Tenant already exists in the tenant namespace: "rome" in "liqo-tenant-rome".*in place of making "again", or delete it first/,
      );
      await cluster().makeTenantNamespace("turin");
      assert.match(
        await refusal(admin().create(Tenant, tenant("other", "liqo-tenant-turin"))),
        /belongs to cluster "turin"/,
      );
      const ofTurin: Desired<Tenant> = {
        ...tenant("rome", "liqo-tenant-turin"),
        spec: { clusterID: "turin" },
      };
      assert.match(
        await refusal(admin().create(Tenant, ofTurin)),
        /a Tenant named "rome" already exists in namespace liqo-tenant-rome/,
      );
      const edit = (body: object) => admin().patch(Tenant, made.metadata, body, { type: "merge" });
      for (const [field, fault] of [
        ["publicKey", /public key is not readable/],
        ["csr", /certificate request holds no PEM block/],
        ["signature", /its 3 bytes are no signature/],
      ] as const) {
        const answer = await refusal(edit({ spec: { [field]: "AAAA" } }));
        assert.match(answer, fault);
        assert.ok(answer.includes(`Tenant "liqo-tenant-rome/rome": spec.${field}: `), answer);
        assert.ok(!answer.includes("AAAA"), answer);
      }
      assert.match(
        await refusal(edit({ metadata: { labels: { [key]: "turin" } } })),
        /is "turin", and spec\.clusterID is "rome"/,
      );
      assert.match(
        await refusal(edit({ spec: { clusterID: "turin" } })),
        /ClusterID is immutable: it is "rome", and the request has "turin"; keep it, and make a Tenant for the other cluster/,
      );
      cluster().calls.take();
      await edit({ metadata: { annotations: { note: "nobody is asked" } } });
      const { resourceVersion } = (await edit({ spec: { tenantCondition: "Cordoned" } })).metadata;
      assert.deepEqual(cluster().calls.take(), {});
      // Without the version, an API server that patches what its cache still has asks a second time when etcd refuses.
      await edit({ metadata: { resourceVersion }, spec: { proxyURL: "http://proxy.example.org:8118" } });
      assert.deepEqual(cluster().calls.take(), { "/validate/tenants": 1 });
      // One that lost its label gets it back.
      assert.equal((await edit({ metadata: { labels: { [key]: null } } })).metadata.labels?.[key], "rome");
    });

    it("refuses Tenants by the codes that clients know", async () => {
      const codeOf = (request: Promise<unknown>) =>
        request.then(
          () => 200,
          (error: unknown) => {
            if (error instanceof ApiError) return error.status;
            throw error;
          },
        );
      await cluster().makeTenantNamespace("naples");
      const rows: [code: number, inNamespace: string, labels?: Record<string, string>][] = [
        [400, "probe"],
        [400, "liqo-tenant-naples", { [key]: "turin" }],
        [403, "liqo-tenant-naples"],
      ];
      for (const [code, inNamespace, labels] of rows)
        assert.equal(await codeOf(admin().create(Tenant, tenant("coded", inNamespace, labels))), code);
    });

    it("refuses the update of a Tenant whose name another one has", async () => {
      await admin().patch(
        Namespace,
        { name: "liqo-tenant-naples" },
        { metadata: { labels: { [key]: "rome" } } },
        { type: "merge" },
      );
      // What the controllers write is not asked about.
      const namesake = tenant("rome", "liqo-tenant-naples", { [key]: "rome" });
      const made = await cluster().peers.controllers.create(Tenant, namesake);
      const labelled = { metadata: { labels: { note: "a" } } };
      assert.match(
        await refusal(admin().patch(Tenant, made.metadata, labelled, { type: "merge" })),
        /a Tenant named "rome" already exists in namespace liqo-tenant-rome/,
      );
      await admin().delete(Tenant, made.metadata);
    });

    it("answers what is only tried, as what is meant", async () => {
      const attempt = (inNamespace: string) =>
        admin().raw({
          method: "POST",
          path: `/apis/${AUTHENTICATION}/namespaces/${inNamespace}/tenants?dryRun=All`,
          body: JSON.stringify(tenant("tried", inNamespace)),
          headers: { "content-type": "application/json" },
        });
      assert.equal((await attempt("liqo-tenant-naples")).status, 201);
      assert.equal((await attempt("probe")).status, 400);
      assert.equal(await admin().get(Tenant, { name: "tried", namespace: "liqo-tenant-naples" }), undefined);
      await admin().delete(Namespace, { name: "liqo-tenant-naples" });
    });

    it("leaves objects alone that ask for it, but for Tenants, which peering users write", async () => {
      const labels = { "liqo.io/webhook-skip": "true" };
      assert.match(
        await refusal(admin().create(Tenant, tenant("skipped", "probe", labels))),
        /must be created in a tenant namespace/,
      );
      cluster().calls.take();
      const foreign = await admin().create(ForeignCluster, {
        apiVersion: "core.liqo.io/v1beta1",
        kind: "ForeignCluster",
        metadata: { name: "skipped", labels },
        spec: { clusterID: "turin" },
      });
      assert.equal(foreign.metadata.labels?.[key], undefined);
      const node = await admin().create(VirtualNode, {
        apiVersion: OFFLOADING,
        kind: "VirtualNode",
        metadata: { name: "skipped", namespace: "probe", labels },
        spec: { clusterID: "turin", vkOptionsTemplateRef: { name: "none", namespace: "probe" } },
      });
      assert.equal(node.spec.template, undefined);
      await cluster().make({
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "FirewallConfiguration",
        metadata: { name: "skipped", namespace: "probe", labels },
        spec: {
          table: {
            name: "skipped",
            family: "IPV4",
            chains: [
              {
                name: "out",
                type: "filter",
                policy: "accept",
                hook: "postrouting",
                priority: 0,
                rules: { filterRules: [{ match: [], action: "tcpmssclamp" }] },
              },
            ],
          },
        },
      } as Desired<KubeObject>);
      const offloading = namespaceOffloading("probe", {
        namespaceMappingStrategy: "SelectedName",
        remoteNamespaceName: "No!",
      });
      await admin().create(NamespaceOffloading, {
        ...offloading,
        metadata: { ...offloading.metadata, labels },
      });
      await admin().delete(NamespaceOffloading, { name: "offloading", namespace: "probe" });
      assert.deepEqual(cluster().calls.take(), {});
    });
  });

  describe("of Identities and Quotas", () => {
    const identity = (name: string, inNamespace: string, spec: object, labels = {}): Desired<Identity> => ({
      apiVersion: AUTHENTICATION,
      kind: "Identity",
      metadata: { name, namespace: inNamespace, labels },
      spec: { clusterID: "rome", type: "ControlPlane", namespace: "guests-from-milan", ...spec },
    });
    const quota = (name: string, inNamespace: string, spec: object, labels = {}): Desired<Quota> => ({
      apiVersion: OFFLOADING,
      kind: "Quota",
      metadata: { name, namespace: inNamespace, labels },
      spec: { user: "pool-a8a4c692b93b", resources: { cpu: "2" }, ...spec },
    });

    it("refuses what contradicts the namespace, and names object, field, value and way out", async () => {
      const refused = async (object: Desired<KubeObject>, ...texts: RegExp[]) => {
        const answer = await refusal(cluster().make(object));
        for (const text of texts) assert.match(answer, text);
      };
      await refused(
        identity("a", "liqo-tenant-rome", { clusterID: "naples" }),
        /identity\.validate\.liqo\.io.*Identity "liqo-tenant-rome\/a": spec\.clusterID is "naples", and namespace "liqo-tenant-rome" is the tenant namespace of cluster "rome"; create it in/,
      );
      await refused(
        identity("a", "liqo-tenant-rome", {}, { [key]: "turin" }),
        /is "turin", and .* "rome"; make them equal/,
      );
      await refused(
        identity("a", "probe", { clusterID: "milan" }),
        /spec\.clusterID: "milan" is this cluster/,
      );
      await refused(
        identity("a", "probe", { namespace: "No!" }),
        /spec\.namespace: "No!" is no name of a namespace; give/,
      );
      await refused(
        quota("a", "liqo-tenant-rome", { resources: { cpu: "-1", "my gpu": "1" } }),
        /quota\.validate\.liqo\.io.*Quota "liqo-tenant-rome\/a": spec\.resources: cpu: "-1" is negative; give .*"my gpu" is no name of a resource; write/,
      );
      await refused(
        quota("a", "liqo-tenant-rome", {}, { [key]: "turin" }),
        /is "turin", and namespace "liqo-tenant-rome" .*make them equal/,
      );
    });

    it("tells of what may come right yet, and lets it pass", async () => {
      const warning = (kind: Kind<KubeObject>, object: Desired<KubeObject>) =>
        cluster().warningOf("POST", kind, object.metadata, object);
      assert.match(
        await warning(Identity, identity("early", "probe", {})),
        /Identity "probe\/early": namespace "probe" is not the tenant namespace of cluster "rome" \(yet\)/,
      );
      assert.match(
        await warning(Quota, quota("early", "probe", {})),
        /"probe" is no tenant namespace \(yet\)/,
      );
      assert.match(
        await warning(Quota, quota("by-hand", "liqo-tenant-rome", { user: "jane" })),
        /spec\.user: "jane" is no user of a slice of cluster "rome", which are called <slice>-a8a4c692b93b/,
      );
      assert.equal(await warning(Identity, identity("right", "liqo-tenant-rome", {})), "");
      assert.equal(await warning(Quota, quota("right", "liqo-tenant-rome", {})), "");
    });

    it("asks nobody of renewed credentials, metadata, deletions and what the controllers write", async () => {
      cluster().calls.take();
      const early = { name: "early", namespace: "probe" };
      const edit = (body: object) => admin().patch(Identity, early, body, { type: "merge" });
      await edit({ spec: { authParams: { apiServer: "https://10.73.0.1:6443" } } });
      await edit({ metadata: { annotations: { a: "b" }, finalizers: ["example.org/held"] } });
      await cluster().peers.controllers.create(
        Quota,
        quota("ours", "liqo-tenant-rome", { resources: { cpu: "-1" } }),
      );
      await admin().delete(Quota, { name: "ours", namespace: "liqo-tenant-rome" });
      assert.deepEqual(cluster().calls.take(), {});
      // Its namespace becomes another cluster's: it may stay so, and be put right.
      await cluster().label("probe", { "liqo.io/tenant-namespace": "true", [key]: "turin" });
      await edit({ metadata: { labels: { note: "a" } } });
      assert.deepEqual(cluster().calls.take(), {});
      await edit({ metadata: { labels: { [key]: "rome" } } });
      assert.match(
        await refusal(edit({ metadata: { labels: { [key]: "naples" } } })),
        /the label .* is "naples", and spec\.clusterID "rome"; make them equal/,
      );
      await edit({ metadata: { labels: { [key]: null } } });
      assert.match(
        await refusal(edit({ spec: { clusterID: "naples" } })),
        /is "naples", and namespace "probe"/,
      );
      await edit({ spec: { clusterID: "turin" } });
      await cluster().label("probe", { "liqo.io/tenant-namespace": null, [key]: null });
      await edit({ metadata: { finalizers: null } });
      await admin().delete(Identity, early);
    });
  });
});
