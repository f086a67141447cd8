import assert from "node:assert/strict";

import {
  ClusterRoleBinding,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  Pod,
  Quota,
  ResourceSlice,
  RoleBinding,
  Secret,
  ShadowPod,
  Tenant,
} from "../../runtime/api";
import type { Desired } from "../../runtime/api";
import { isForbidden, KubeClient } from "../../runtime/kube";
import { auditEvents } from "../support/audit-log";
import { eventAbout } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import {
  atMilan,
  atRome,
  clusterWide,
  controlPlaneBinding,
  quotaOfPool,
  sides,
  tenantOfRome,
} from "../support/peering-of-rome";
import { PeeringSteps } from "../support/peering-steps";
import { becomes, isGood, MARK, TenantOfRome } from "../support/tenant-of-rome";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";
import { WithheldRights } from "../support/withheld-rights";

const web = { name: "web", namespace: "shop-rome" };
const HELD = "example.org/held";

/** What a provider grants to a consumer in each condition of its Tenant: the cells, and the order of a drain (control plane reference 9.1, 9.3). */
describe("a Tenant of rome at milan", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  /** By the identity of the slice `pool`. */
  let kubelet: KubeClient;

  after(async () => {
    kubelet?.close();
    await Promise.all([rome?.end(), milan?.end()]);
  });
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, auditLog: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    await Promise.all([rome.start(), milan.start()]);
    steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.peer();
    await steps.slice("fast", {
      spec: { class: "gpu", providerClusterID: "milan", resources: { "nvidia.com/gpu": "2" } },
    });
    await rome.admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await rome.apply({
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec: {},
    } as Parameters<ManagedCluster["apply"]>[0]);
  });

  const {
    setCondition,
    tenant,
    there,
    copies,
    maps,
    resourcesOf,
    resourcesSay,
    marks,
    quotaIsCordoned,
    refusals,
    signed,
    everythingGranted,
    expire,
  } = new TenantOfRome(() => ({ milan, steps }));
  const about = { kind: "Tenant", ...tenantOfRome };

  const shadowPod: Desired<ShadowPod> = {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "ShadowPod",
    metadata: {
      ...web,
      labels: { "offloading.liqo.io/origin": "rome", "offloading.liqo.io/destination": "milan" },
    },
    spec: { pod: { containers: [{ name: "web", image: "web:1" }], automountServiceAccountToken: false } },
  };

  it("Active: has its roles, copies without a mark, an open quota, and may start pods", async () => {
    await everythingGranted();
    await resourcesSay("pool", "Accepted ResourceSliceResourcesAccepted");
    assert.equal(await resourcesOf("fast"), undefined);
    assert.deepEqual(await marks(), [undefined, undefined]);
    await quotaIsCordoned(undefined);
    const secret = await until("the identity of the slice", () =>
      rome.admin.get(Secret, atRome("kubeconfig-resourceslice-pool")),
    );
    kubelet = KubeClient.fromKubeconfig(Buffer.from(secret.data?.kubeconfig ?? "", "base64").toString());
    await until("the identity may start pods", () =>
      kubelet.create(ShadowPod, shadowPod).then(
        () => true,
        (error: unknown) => {
          if (isForbidden(error)) return false;
          throw error;
        },
      ),
    );
    await there(Pod, web);
  });

  it("Active: its slices' status is put back, and their quotas with it; another class's grant is not ours", async () => {
    const slice = (name: string) => there(ResourceSlice, atMilan(name));
    const writeStatus = (name: string, status: object) =>
      milan.admin.patch(ResourceSlice, atMilan(name), { status }, { type: "merge", subresource: "status" });
    const said = (status: ResourceSlice["status"]) => ({
      ...status,
      conditions: status?.conditions
        ?.map(({ lastTransitionTime: _when, ...rest }) => rest)
        .sort((left, right) => left.type.localeCompare(right.type)),
    });
    const [before, quota] = [said((await slice("pool")).status), (await there(Quota, quotaOfPool)).spec];
    await writeStatus("pool", {
      resources: { cpu: "64", "nvidia.com/gpu": "8" },
      nodeLabels: { "example.org/by": "hand" },
      storageClasses: null,
      authParams: { apiServer: "https://elsewhere.example.org" },
      conditions: [],
      observedGeneration: 77,
    });
    await becomes(before, async () => said((await slice("pool")).status));
    await becomes(quota, async () => (await there(Quota, quotaOfPool)).spec);
    const grant = { resources: { "nvidia.com/gpu": "2" } };
    await writeStatus("fast", grant);
    await becomes(
      grant.resources,
      async () => (await rome.admin.get(ResourceSlice, atRome("fast")))?.status?.resources,
    );
    assert.deepEqual((await slice("fast")).status?.resources, grant.resources);
    await writeStatus("fast", { resources: null });
  });

  it("Cordoned: keeps its roles, its map and what runs; each copy is marked, each quota closed", async () => {
    const [pod, shadow, [map]] = [await there(Pod, web), await there(ShadowPod, web), await maps()];
    await setCondition("Cordoned");
    await until("all marked", async () => (await marks()).every((mark) => mark === "true"));
    await quotaIsCordoned(true);
    // Of another class: what was never decided on is denied.
    await resourcesSay("fast", "Denied ResourceSliceResourcesDenied");
    assert.equal(await resourcesOf("pool"), "Accepted ResourceSliceResourcesAccepted");
    await milan.admin.patch(
      ResourceSlice,
      atMilan("pool"),
      { metadata: { annotations: { [MARK]: "false" } } },
      { type: "merge" },
    );
    await until("marked again", async () => (await marks()).every((mark) => mark === "true"));
    const bindings = [
      await there(RoleBinding, controlPlaneBinding),
      await there(ClusterRoleBinding, clusterWide),
    ];
    await milan.admin.delete(RoleBinding, controlPlaneBinding);
    await milan.admin.delete(ClusterRoleBinding, clusterWide);
    const again = [
      await there(RoleBinding, controlPlaneBinding),
      await there(ClusterRoleBinding, clusterWide),
    ];
    again.forEach(({ metadata }, index) => assert.notEqual(metadata.uid, bindings[index]?.metadata.uid));
    assert.deepEqual(
      [(await there(Pod, web)).metadata.uid, (await there(ShadowPod, web)).metadata.uid],
      [pod.metadata.uid, shadow.metadata.uid],
    );
    assert.equal((await maps())[0]?.metadata.uid, map?.metadata.uid);
    await everythingGranted();
  });

  it("Cordoned: its handshake is verified and its certificate renewed as ever", async () => {
    const { spec } = await tenant();
    const before = { refusals: await refusals(), signed: await signed() };
    await steps.tenant({ signature: Buffer.alloc(64, 7).toString("base64"), tenantCondition: "Cordoned" });
    await until("refused", async () => (await refusals()) > before.refusals);
    await milan.admin.patch(Tenant, tenantOfRome, { spec }, { type: "merge" });
    await expire();
    await until("renewed", async () => (await signed()) !== before.signed);
    assert.ok(isGood(await signed()));
    await eventAbout(milan.admin, about, "CertificateRenewed");
  });

  it("Drained: loses everything in an order, and goes on where it was held up", async () => {
    for (const name of ["pool", "fast"])
      await milan.admin.patch(
        ResourceSlice,
        atMilan(name),
        { metadata: { finalizers: [HELD] } },
        { type: "merge" },
      );
    const begin = Date.now();
    const nothingDeleted = async () => {
      assert.ok((await copies()).every(({ metadata }) => metadata.deletionTimestamp === undefined));
      assert.equal((await maps()).length, 1);
    };
    const rights = await WithheldRights.of(milan);
    await rights.deletionOf(ClusterRoleBinding);
    await setCondition("Drained");
    assert.match(await eventAbout(milan.admin, about, "ClusterRolesClusterWideUnbindingFailed"), /forbidden/);
    await there(RoleBinding, controlPlaneBinding);
    await nothingDeleted();
    await rights.deletionOf(RoleBinding);
    assert.match(await eventAbout(milan.admin, about, "ClusterRolesUnbindingFailed"), /forbidden/);
    assert.equal(await milan.admin.get(ClusterRoleBinding, clusterWide), undefined);
    await nothingDeleted();
    await rights.deletionOf(undefined);
    await eventAbout(milan.admin, about, "ClusterRolesUnbindingSuccess");
    await eventAbout(milan.admin, about, "ResourceSlicesDeleted");
    await eventAbout(milan.admin, about, "NamespaceMapsDeleted");
    assert.equal(await milan.admin.get(RoleBinding, controlPlaneBinding), undefined);
    // Copies that somebody holds are denied, of every class.
    for (const name of ["pool", "fast"]) {
      await resourcesSay(name, "Denied ResourceSliceResourcesDenied");
      await milan.admin.patch(
        ResourceSlice,
        atMilan(name),
        { metadata: { finalizers: null } },
        { type: "merge" },
      );
    }
    await until("all gone", async () => {
      const left = [await copies(), await maps(), await milan.admin.list(Quota)];
      return left.flat().length === 0;
    });
    await until(
      "the remote namespace is gone",
      async () => (await milan.admin.get(Namespace, { name: web.namespace })) === undefined,
    );
    await assert.rejects(kubelet.create(ShadowPod, shadowPod), isForbidden);
    assert.deepEqual(deletions(begin), [
      "clusterrolebindings",
      "rolebindings",
      "resourceslices",
      "namespacemaps",
    ]);
    assert.equal((await rome.admin.list(ResourceSlice, { namespace: "to-milan" })).length, 2);
  });

  /** Kinds of which the provider's controllers took something from the consumer, in that order. */
  function deletions(from: number): string[] {
    const path = controlPlane("milan").auditLogPath;
    assert.ok(path);
    const kinds = ["clusterrolebindings", "rolebindings", "resourceslices", "namespacemaps"];
    const done = auditEvents(path, from)
      .filter(({ verb, user, responseStatus }) => {
        return verb === "delete" && user.username === milan.user && responseStatus?.code === 200;
      })
      .filter(({ objectRef }) => objectRef?.namespace !== web.namespace)
      .map(({ objectRef }) => objectRef?.resource ?? "");
    return [...new Set(done.filter((resource) => kinds.includes(resource)))];
  }

  it("Drained: neither verifies nor renews, and takes what comes later, too", async () => {
    const { status, spec } = await tenant();
    const before = await refusals();
    await milan.admin.patch(
      Tenant,
      tenantOfRome,
      { spec: { signature: Buffer.alloc(64, 7).toString("base64") } },
      { type: "merge" },
    );
    await expire(["--api-server-address-override=https://milan.example.org:6443"]);
    for (const name of ["late", "later"]) {
      const copy: Desired<ResourceSlice> = {
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "ResourceSlice",
        metadata: {
          ...atMilan(name),
          labels: {
            "liqo.io/replication": "false",
            "liqo.io/replicated": "true",
            "liqo.io/originID": "rome",
            "liqo.io/remote-cluster-id": "rome",
          },
        },
        spec: { consumerClusterID: "rome", providerClusterID: "milan" },
      };
      await milan.admin.create(ResourceSlice, copy);
      await until(
        `${name} is gone`,
        async () => (await milan.admin.get(ResourceSlice, atMilan(name))) === undefined,
      );
    }
    const { observedGeneration } = status ?? {};
    assert.deepEqual({ ...(await tenant()).status, observedGeneration }, status);
    assert.equal(await refusals(), before);
    await milan.admin.patch(Tenant, tenantOfRome, { spec }, { type: "merge" });
  });

  it("Active again: gets everything back, and the certificate that was due", async () => {
    // With the address that leads there.
    await milan.stop();
    await milan.start();
    const before = await signed();
    await setCondition("Active");
    await until("renewed", async () => (await signed()) !== before);
    assert.ok(isGood(await signed()));
    await everythingGranted();
    await resourcesSay("pool", "Accepted ResourceSliceResourcesAccepted");
    assert.deepEqual(await marks(), [undefined, undefined]);
    await quotaIsCordoned(undefined);
  });

  it("keeps a remote namespace whatever anybody writes into the consumer's map", async () => {
    const mapping = async () =>
      (await rome.admin.get(NamespaceMap, atRome("milan")))?.spec.desiredMapping ?? {};
    const { uid } = (await there(Namespace, { name: "shop-rome" })).metadata;
    for (const shop of [null, "elsewhere"]) {
      await rome.admin.patch(
        NamespaceMap,
        atRome("milan"),
        { spec: { desiredMapping: { shop, hand: "made-rome" } } },
        { type: "merge" },
      );
      await until("put back", async () => (await mapping()).shop === "shop-rome");
      // What else was written arrives, so that the replicator has seen it all.
      await there(Namespace, { name: "made-rome" });
      await rome.admin.patch(
        NamespaceMap,
        atRome("milan"),
        { spec: { desiredMapping: { hand: null } } },
        { type: "merge" },
      );
      await until(
        "the other is gone",
        async () => (await milan.admin.get(Namespace, { name: "made-rome" })) === undefined,
      );
      const kept = await there(Namespace, { name: "shop-rome" });
      assert.deepEqual([kept.metadata.uid, kept.metadata.deletionTimestamp], [uid, undefined]);
      assert.equal(await milan.admin.get(Namespace, { name: "elsewhere" }), undefined);
    }
  });

  it("keeps it, and says so, while nobody is there to put the map right", async () => {
    const offloading = { name: "offloading", namespace: "shop" };
    const withheld = { kind: "NamespaceMap", ...atRome("milan") };
    const { uid } = (await there(Namespace, { name: "shop-rome" })).metadata;
    await rome.stop();
    await rome.start(["--offloading-enabled=false"]);
    await rome.admin.patch(
      NamespaceMap,
      atRome("milan"),
      { spec: { desiredMapping: { shop: null } } },
      { type: "merge" },
    );
    assert.match(await eventAbout(rome.admin, withheld, "MappingWithheld"), /"shop".*cluster "milan" keeps/);
    assert.equal((await maps())[0]?.spec.desiredMapping?.shop, "shop-rome");
    await rome.stop();
    await rome.start();
    await until("put back", async () => {
      const map = await rome.admin.get(NamespaceMap, atRome("milan"));
      return map?.spec.desiredMapping?.shop === "shop-rome";
    });
    assert.equal((await there(Namespace, { name: "shop-rome" })).metadata.uid, uid);
    await rome.admin.delete(NamespaceOffloading, offloading);
    await until(
      "taken back with its consent",
      async () => (await milan.admin.get(Namespace, { name: "shop-rome" })) === undefined,
    );
  });

  it("closes the quota of a slice, too, that was denied after it was granted", async () => {
    await milan.stop();
    await milan.start(["--default-resource-slice-class-enabled=false"]);
    await resourcesSay("pool", "Denied DefaultResourceSliceClassDisabled");
    const granted = (await milan.admin.get(Quota, quotaOfPool))?.spec;
    await setCondition("Cordoned");
    await quotaIsCordoned(true);
    assert.deepEqual((await milan.admin.get(Quota, quotaOfPool))?.spec, { ...granted, cordoned: true });
    await setCondition("Active");
    await quotaIsCordoned(undefined);
    assert.deepEqual((await milan.admin.get(Quota, quotaOfPool))?.spec, granted);
  });
});
