import assert from "node:assert/strict";

import {
  type Desired,
  FirewallConfiguration,
  ForeignCluster,
  Identity,
  type Kind,
  type KubeObject,
  Namespace,
  NamespaceOffloading,
  Quota,
  ResourceSlice,
  RouteConfiguration,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import { createCertificateRequest, generateKeyPair, resourceSliceSubject } from "../../runtime/identity";
import { ApiError, type KubeClient } from "../../runtime/kube";
import {
  AdmissionCluster,
  AUTHENTICATION,
  namespaceOffloading,
  OFFLOADING,
  refusal,
} from "../support/admission-cluster";

describe("admission, over the wire", function () {
  this.timeout(60_000);
  const cluster = AdmissionCluster.forSuite();
  const admin = () => cluster().admin;

  before(async () => {
    const labels = { "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "rome" };
    await cluster().makeNamespace("liqo-tenant-rome", labels);
  });

  describe("of the control plane's kinds", () => {
    const key = "liqo.io/remote-cluster-id";
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
    const slice = (
      name: string,
      inNamespace: string,
      labels: Record<string, string>,
    ): Desired<ResourceSlice> => ({
      apiVersion: AUTHENTICATION,
      kind: "ResourceSlice",
      metadata: { name, namespace: inNamespace, labels },
      spec:
        labels["liqo.io/replication"] === "true"
          ? { consumerClusterID: "milan", providerClusterID: inNamespace.replace("liqo-tenant-", "") }
          : { consumerClusterID: "rome", providerClusterID: "milan" },
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
      await cluster().makeNamespace("liqo-tenant-turin", {
        "liqo.io/tenant-namespace": "true",
        [key]: "turin",
      });
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
      await edit({ spec: { tenantCondition: "Cordoned" } });
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
      await cluster().makeNamespace("liqo-tenant-naples", {
        "liqo.io/tenant-namespace": "true",
        [key]: "naples",
      });
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
      const skipped = { "liqo.io/webhook-skip": "true", [key]: "rome" };
      const made = await admin().create(Tenant, tenant("rome", "liqo-tenant-naples", skipped));
      const unskipped = { metadata: { labels: { "liqo.io/webhook-skip": null } } };
      assert.match(
        await refusal(admin().patch(Tenant, made.metadata, unskipped, { type: "merge" })),
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

    it("leaves objects alone that ask for it", async () => {
      const labels = { "liqo.io/webhook-skip": "true" };
      const made = await admin().create(Tenant, tenant("skipped", "probe", labels));
      assert.equal(made.metadata.labels?.[key], undefined);
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

    it("keeps names of own slices unique, and copies what the peer may not change", async () => {
      const own = { "liqo.io/replication": "true" };
      await admin().create(ResourceSlice, slice("pool", "liqo-tenant-rome", own));
      assert.match(
        await refusal(admin().create(ResourceSlice, slice("pool", "liqo-tenant-turin", own))),
        /a resourceslice with the same name already exists in the cluster: "pool" in namespace "liqo-tenant-rome"; choose another name/,
      );
      const copy = { "liqo.io/replication": "false", "liqo.io/replicated": "true", [key]: "rome" };
      cluster().calls.take();
      const made = await cluster().peers.controlPlane.create(
        ResourceSlice,
        slice("pool", "liqo-tenant-turin", copy),
      );
      assert.deepEqual(cluster().calls.take(), {});
      const edit = (client: KubeClient, metadata: object) =>
        client.patch(ResourceSlice, made.metadata, { metadata }, { type: "merge" });
      const label = (value: string | null) => ({ labels: { [key]: value } });
      const annotation = (value: string | null) => ({ annotations: { "liqo.io/cordon": value } });
      const rows: [attempt: object, denial: RegExp, next?: object][] = [
        [label("turin"), /can't change the remoteClusterID label/],
        [label(null), /can't delete the remoteClusterID label/, label(null)],
        [label("rome"), /can't add the remoteClusterID label/, label("rome")],
        [annotation("true"), /can't add the liqo\.io\/cordon annotation/, annotation("true")],
        [annotation("false"), /can't change the liqo\.io\/cordon annotation/],
        [annotation(null), /control plane users can't delete the liqo\.io\/cordon annotation/],
      ];
      for (const [attempt, denial, next] of rows) {
        assert.match(await refusal(edit(cluster().peers.controlPlane, attempt)), denial);
        // Whoever is no peer may.
        if (next !== undefined) await edit(admin(), next);
      }
      const others = { labels: { [key]: "rome", tier: "gold" }, annotations: { note: "the peer's" } };
      await edit(cluster().peers.controlPlane, others);
    });

    it("refuses a slice that names two providers, or asks for what no node has", async () => {
      const own = { "liqo.io/replication": "true", [key]: "turin" };
      const right = slice("odd", "liqo-tenant-turin", own);
      const wrong = { ...right, spec: { ...right.spec, providerClusterID: "naples" } };
      assert.match(
        await refusal(admin().create(ResourceSlice, wrong)),
        /ResourceSlice "liqo-tenant-turin\/odd": spec\.providerClusterID: "naples" is not the cluster of the label .*remote-cluster-id, "turin"/,
      );
      for (const [resources, fault] of [
        [{ cpu: "-1" }, /spec\.resources: cpu: "-1" is negative; give an amount of zero or more/],
        [{ pods: "1.5" }, /pods: "1\.5" is not a whole number/],
        [{ "Bad Name!": "1" }, /"Bad Name!" is no name of a resource/],
      ] as const) {
        const asked = { ...right, spec: { ...right.spec, resources } };
        assert.match(await refusal(admin().create(ResourceSlice, asked)), fault);
      }
      const named = (length: number) => ({ ...right.metadata, name: "p".repeat(length) });
      assert.match(
        await refusal(admin().create(ResourceSlice, { ...right, metadata: named(64) })),
        /ResourceSlice "liqo-tenant-turin\/p{64}": metadata\.name: "p{64}" has 64 characters.*choose a shorter name/,
      );
      const longest = await admin().create(ResourceSlice, { ...right, metadata: named(63) });
      await admin().delete(ResourceSlice, longest.metadata);
    });

    it("keeps what an accepted slice is, lets it be completed again, and tells what a new class means", async () => {
      const own = { "liqo.io/replication": "true", [key]: "rome" };
      const requestOf = (name: string) =>
        Buffer.from(
          createCertificateRequest(resourceSliceSubject(name, "milan"), generateKeyPair().privateKey),
        ).toString("base64");
      const made = slice("kept", "liqo-tenant-rome", own);
      const csr = requestOf("kept");
      const { metadata } = await admin().create(ResourceSlice, { ...made, spec: { ...made.spec, csr } });
      const edit = (spec: object) => admin().patch(ResourceSlice, metadata, { spec }, { type: "merge" });
      assert.match(
        await refusal(edit({ csr: requestOf("other") })),
        /spec\.csr: common name .*leave the field out/,
      );
      const conditions = ["Authentication", "Resources"].map((type) => ({ type, status: "Accepted" }));
      const status = { conditions };
      await admin().patch(ResourceSlice, metadata, { status }, { type: "merge", subresource: "status" });
      for (const [spec, denial] of [
        [
          { csr: requestOf("kept") },
          /"liqo-tenant-rome\/kept": spec\.csr: may not become another .*take the field out/,
        ],
        [
          { providerClusterID: "turin" },
          /spec\.providerClusterID: is "rome" and may not become "turin".*delete it, and/,
        ],
        [
          { consumerClusterID: "turin" },
          /spec\.consumerClusterID: is "milan" and may not become "turin".*delete it, and/,
        ],
        [{ resources: { cpu: "-1" } }, /spec\.resources: cpu: "-1" is negative; give/],
      ] as const)
        assert.match(await refusal(edit(spec)), denial);
      // As a client does that writes the whole spec anew: the controllers fill it in again.
      await edit({ csr: null, consumerClusterID: null, providerClusterID: null, resources: { cpu: "8" } });
      assert.match(
        await cluster().warningOf("PATCH", ResourceSlice, metadata, { spec: { class: "gold" } }),
        /spec\.class: becomes "gold", and what "default" has answered stays until/,
      );
      cluster().calls.take();
      // Neither finalizers, annotations nor the controllers that complete a slice ask anybody; nor does a deletion.
      await admin().patch(
        ResourceSlice,
        metadata,
        { metadata: { finalizers: ["example.org/held"], annotations: { a: "b" } } },
        { type: "merge" },
      );
      await cluster().peers.controllers.patch(
        ResourceSlice,
        metadata,
        { spec: { csr: requestOf("kept") } },
        { type: "merge" },
      );
      await admin().delete(ResourceSlice, metadata);
      await admin().patch(ResourceSlice, metadata, { metadata: { finalizers: null } }, { type: "merge" });
      assert.equal(await admin().get(ResourceSlice, metadata), undefined);
      assert.deepEqual(cluster().calls.take(), {});
    });

    it("gives the name of a slice free that is gone", async () => {
      const own = { "liqo.io/replication": "true" };
      const made = await admin().create(ResourceSlice, slice("freed", "liqo-tenant-rome", own));
      const again = () => admin().create(ResourceSlice, slice("freed", "liqo-tenant-turin", own));
      assert.match(await refusal(again()), /already exists in the cluster/);
      await admin().delete(ResourceSlice, made.metadata);
      await again();
    });
  });

  describe("of Identities and Quotas", () => {
    const key = "liqo.io/remote-cluster-id";
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

  // Last, because it ends the server.
  describe("of tables that agents carry out", () => {
    const firewall = (name: string, rules: object[], labels: Record<string, string> = {}) => ({
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "FirewallConfiguration",
      metadata: { name, namespace: "liqo-tenant-rome", labels: { tables: "by-hand", ...labels } },
      spec: {
        table: {
          name: "by-hand",
          family: "IPV4",
          chains: [
            {
              name: "out",
              type: "filter",
              policy: "accept",
              hook: "postrouting",
              priority: 0,
              rules: { filterRules: rules },
            },
          ],
        },
      },
    });
    const accept = { match: [], action: "accept" };

    it("names their rules, keeps their names apart, and refuses what no agent could load", async () => {
      await cluster().make(firewall("first", [accept, accept]));
      const first = { name: "first", namespace: "liqo-tenant-rome" };
      const made = await admin().get(FirewallConfiguration, first);
      const names = made?.spec.table.chains?.[0]?.rules.filterRules?.map(({ name }) => name) ?? [];
      assert.equal(new Set(names).size, 2);
      assert.ok(names.every((name) => (name ?? "").length >= 32));
      const create = (object: Desired<KubeObject>) => refusal(cluster().make(object));
      assert.match(
        await create(firewall("second", [accept])),
        /"by-hand" is that of liqo-tenant-rome\/first/,
      );
      assert.equal(await create(firewall("third", [accept], { other: "agents" })), "allowed");
      const clamp = { name: "clamp", match: [], action: "tcpmssclamp" };
      assert.match(await create(firewall("fourth", [clamp], { more: "agents" })), /tcp/);
      const renamed = { spec: { table: { name: "by-foot" } } };
      const change = admin().patch(FirewallConfiguration, first, renamed, { type: "merge" });
      assert.match(await refusal(change), /spec\.table\.name is immutable/);
    });

    it("refuses routes that contradict each other, and lets what is skipped and what goes pass", async () => {
      const twice = { dst: "10.71.0.0/16", dev: "eth0" };
      const rule = { fwmark: 7, routes: [twice, twice] };
      const route = (name: string, labels: Record<string, string>) => ({
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "RouteConfiguration",
        metadata: { name, namespace: "liqo-tenant-rome", labels },
        spec: { table: { name, rules: [rule] } },
      });
      const create = (object: Desired<KubeObject>) => refusal(cluster().make(object));
      assert.match(await create(route("twice", {})), /10\.71\.0\.0\/16/);
      assert.equal(await create(route("skipped", { "liqo.io/webhook-skip": "true" })), "allowed");
      await admin().delete(RouteConfiguration, { name: "skipped", namespace: "liqo-tenant-rome" });
    });
  });
});
