import assert from "node:assert/strict";

import {
  Event,
  Namespace,
  NamespaceOffloading,
  Node,
  Pod,
  Quota,
  ResourceSlice,
  ShadowPod,
  Tenant,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { PEER, withLiqoctl } from "../support/liqoctl-pair";
import { until } from "../support/until";

/** What a peering is for: namespaces, slices and nodes at the consumer, and the provider's switches. */
describe("liqoctl, between peered clusters", function () {
  this.timeout(120_000);
  const clusters = withLiqoctl();
  const { ok, fails, writesDuring } = clusters;
  let rome: KubeClient;
  let milan: KubeClient;
  before(async () => {
    ({ rome, milan } = clusters);
    await ok(`${PEER} --cpu=8 --memory 16Gi`);
  });

  it("offloads a namespace, once", async () => {
    const { err } = await ok("offload namespace shop");
    assert.match(err, /namespace shop offloaded/);
    assert.ok(await milan.get(Namespace, { name: "shop-rome" }));
    assert.deepEqual(await writesDuring(() => ok("offload ns shop")), []);
    await fails(
      "offload namespace pantry",
      /namespace pantry does not exist/,
      /kubectl create namespace pantry/,
    );
    await fails("offload namespace", /no namespace is given/);
    const narrowed = await ok("offload namespace cellar --selector liqo.io/remote-cluster-id=athens");
    assert.match(narrowed.err, /WARN namespace cellar: no cluster is selected; the virtual nodes are milan/);
    const printed = (await ok("offload namespace cellar -o yaml -l 'region in (europe, asia),!spot'")).out;
    assert.match(printed, /operator: In\n +values:\n +- europe\n +- asia[^]*operator: DoesNotExist/);
    await ok("unoffload namespace cellar --skip-confirm");
  });

  it("tells why a namespace cannot be offloaded", async () => {
    await milan.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "cellar" } });
    await fails(
      "offload namespace cellar --namespace-mapping-strategy EnforceSameName",
      /phase AllFailed; milan: CreationLoopBackOff/,
    );
    await ok("unoffload namespace cellar --skip-confirm");
  });

  it("tells that a slice is denied, and why", async () => {
    const provider = "--kubeconfig milan.kubeconfig";
    await fails(`cordon tenant rome ${provider}`, /nobody can be asked/, /next: give --skip-confirm/);
    await ok(`cordon tenant rome ${provider} --skip-confirm`);
    assert.match((await ok(`cordon tenant rome ${provider}`)).err, /tenant rome is cordoned already/);
    assert.match((await ok(PEER)).err, /rome is peered with milan/, "what was granted stays");
    assert.deepEqual(
      (await milan.list(Tenant)).map(({ spec }) => spec.tenantCondition),
      ["Cordoned"],
      "what the provider decided stays",
    );
    const slice = "create resourceslice extra --remote-cluster-id milan --cpu 2 --no-virtual-node";
    await fails(slice, /milan denies slice extra: Resources is Denied/, /next: ask its administrator/);
    await ok(`uncordon tenant rome ${provider}`);
    await ok(slice);
    assert.deepEqual(await writesDuring(() => ok(slice)), []);
    await ok(
      "create virtualnode extra --remote-cluster-id milan --resource-slice-name extra --labels pool=extra",
    );
    assert.equal((await rome.get(Node, { name: "extra" }))?.metadata.labels?.pool, "extra");
    const away = await ok("delete resourceslice extra");
    assert.match(away.err, /WARN VirtualNode liqo-tenant-milan\/extra uses slice extra/);
    await ok("delete virtualnode extra");
    assert.match((await ok("delete rs extra")).err, /no ResourceSlice extra is there/);
    await fails(
      `cordon tenant athens ${provider} --skip-confirm`,
      /has no Tenant athens/,
      /its tenants are: rome/,
    );
  });

  it("cordons a slice, and a whole tenant", async () => {
    const provider = "--kubeconfig milan.kubeconfig --skip-confirm";
    const cordoned = async () => (await milan.list(Quota)).map(({ spec }) => spec.cordoned === true);
    await ok(`cordon resourceslice milan --remote-cluster-id rome ${provider}`);
    await until("the quota is cordoned", async () => (await cordoned()).includes(true));
    await ok(`uncordon resourceslice milan --remote-cluster-id rome ${provider}`);
    await until("the quota is free", async () => !(await cordoned()).includes(true));
    await fails(
      "cordon resourceslice milan --remote-cluster-id milan --skip-confirm",
      /is a request of this cluster/,
    );
    const ofRome = async () => {
      const [tenant] = await milan.list(Tenant);
      const { tenantCondition, ...rest } = tenant?.spec ?? {};
      return { tenantCondition, rest };
    };
    const { rest } = await ofRome();
    await ok(`cordon tenant rome ${provider}`);
    assert.deepEqual(await ofRome(), { tenantCondition: "Cordoned", rest });
    await until("the quota is cordoned", async () => (await cordoned()).includes(true));
    await ok(`uncordon tenant rome ${provider}`);
    assert.deepEqual(await ofRome(), { tenantCondition: "Active", rest });
    await until("the quota is free", async () => !(await cordoned()).includes(true));
    await rome.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "drained", namespace: "shop" },
      spec: { nodeName: "milan", containers: [{ name: "web", image: "pause" }] },
    });
    const offloaded = () => milan.get(ShadowPod, { name: "drained", namespace: "shop-rome" });
    const first = await until("the pod is offloaded", offloaded);
    await ok(`drain tenant rome ${provider}`);
    assert.deepEqual(await ofRome(), { tenantCondition: "Drained", rest });
    await until("nothing is granted", async () => (await milan.list(ResourceSlice)).length === 0);
    await fails(PEER, /Tenant liqo-tenant-rome\/rome is drained/, /next: .*liqoctl activate tenant rome/);
    assert.match((await ok(`uncordon tenant rome ${provider}`)).err, /WARN tenant rome is Drained/);
    await ok(`activate tenant rome ${provider}`);
    await until("the slice is there again", async () => (await milan.list(ResourceSlice)).length === 1);
    await until("the pod is offloaded again", async () => {
      const uid = (await offloaded())?.metadata.uid;
      return uid !== undefined && uid !== first.metadata.uid;
    });
    // The namespace was offloaded all the time: nobody is told to do that.
    const told = await rome.list(Event, {
      namespace: "shop",
      fieldSelector: "involvedObject.name=drained,reason=ReflectionDisabled",
    });
    assert.deepEqual(
      told.map(({ message }) => message),
      [],
    );
    await ok(PEER);
    await rome.delete(Pod, { name: "drained", namespace: "shop" });
  });

  it("takes the namespace back, once", async () => {
    await ok("unoffload namespace shop --skip-confirm");
    assert.deepEqual(await rome.list(NamespaceOffloading), []);
    assert.equal(await milan.get(Namespace, { name: "shop-rome" }), undefined);
    assert.match(
      (await ok("unoffload namespace shop --skip-confirm")).err,
      /namespace shop is not offloaded \(/,
    );
  });
});
