import assert from "node:assert/strict";

import {
  type Desired,
  Identity,
  type KubeObject,
  Namespace,
  NamespaceMap,
  ResourceSlice,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import { eventAbout } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const poolAtRome = { name: "pool", namespace: "to-milan" };
const mapAtRome = { name: "milan", namespace: "to-milan" };
const mapAtMilan = { name: "milan", namespace: "guests-from-rome" };
const secretAtRome = { name: "kubeconfig-controlplane-milan", namespace: "to-milan" };
const finalizer = "namespacemap-controller.liqo.io/finalizer";

/** What the removal of a peering does not wait for. At the consumer there is no garbage collector that could do the runtime's work. */
describe("the removal of a peering of rome at milan", function () {
  this.timeout(180_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;

  after(async () => {
    await Promise.all([rome?.end(), milan?.end()]);
  });
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/20" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    await Promise.all([rome.start(), milan.start()]);
    steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.peer();
    await steps.slice("spare");
    for (const name of ["pool", "spare"])
      await until(`virtual node ${name}`, () => rome.admin.get(VirtualNode, { name, namespace: "to-milan" }));
  });

  const gone = (what: string, look: () => Promise<KubeObject | undefined>) =>
    until(`${what} is gone`, async () => (await look()) === undefined);
  const finalizersAtMilan = async () => {
    const map = await milan.admin.get(NamespaceMap, mapAtMilan);
    return map === undefined ? undefined : { finalizers: map.metadata.finalizers ?? [] };
  };
  const setMapping = (remote: string | null) =>
    rome.admin.patch(
      NamespaceMap,
      mapAtRome,
      { spec: { desiredMapping: { shop: remote } } },
      { type: "merge" },
    );

  /** The control plane's Secret, made after the one with a UID. */
  const secretAfter = (uid: string | undefined) =>
    until("the Secret is made again", async () => {
      const secret = await rome.admin.get(Secret, secretAtRome);
      return secret !== undefined && secret.metadata.uid !== uid && secret;
    });
  const isCopied = (name: string) =>
    until(`copy of ${name}`, () => milan.admin.get(ResourceSlice, { name, namespace: "guests-from-rome" }));

  it("does not begin with the control plane's Secret alone: deleted by hand, that is made again", async () => {
    const before = await secretAfter(undefined);
    const copy = await isCopied("pool");
    const begin = performance.now();
    await rome.admin.delete(Secret, secretAtRome);
    const { data } = await secretAfter(before.metadata.uid);
    console.log(`      made again after ${Math.round(performance.now() - begin)} ms`);
    assert.deepEqual(data, before.data);
    await steps.slice("afterwards");
    await isCopied("afterwards");
    assert.equal((await isCopied("pool")).metadata.uid, copy.metadata.uid, "nothing was copied anew");
    await rome.admin.delete(ResourceSlice, { name: "afterwards", namespace: "to-milan" });
    await gone("the copy of afterwards", () =>
      milan.admin.get(ResourceSlice, { name: "afterwards", namespace: "guests-from-rome" }),
    );
  });

  it("tells what holds the Secret of an Identity that was deleted, and lets go when that is there again", async () => {
    const { uid } = (await secretAfter(undefined)).metadata;
    await rome.admin.delete(Identity, { name: "controlplane-milan", namespace: "to-milan" });
    await rome.admin.delete(Secret, secretAtRome);
    const told = await eventAbout(rome.admin, { kind: "Secret", ...secretAtRome }, "ControlPlaneSecretHeld");
    assert.match(told, /ResourceSlice "to-milan\/pool"/);
    assert.equal((await rome.admin.get(Secret, secretAtRome))?.metadata.uid, uid);
    await steps.identity();
    const again = await secretAfter(uid);
    assert.equal(again.metadata.deletionTimestamp, undefined);
  });

  it("takes what the provider issued to slices that are gone, of earlier versions too", async () => {
    const issued = (name: string) =>
      milan.admin.get(Secret, { name: `liqo-remote-certificate-${name}`, namespace: "guests-from-rome" });
    const example = await until("the certificate of pool", () => issued("pool"));
    const ancient = { ...example.metadata, name: "liqo-remote-certificate-ancient" };
    await milan.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: ancient.name, namespace: ancient.namespace, labels: ancient.labels },
      data: example.data,
    } as Desired<Secret>);
    await steps.slice("brief");
    const { metadata } = await until("the certificate of brief", () => issued("brief"));
    await milan.admin.delete(ResourceSlice, { name: "brief", namespace: "guests-from-rome" });
    await isCopied("brief");
    for (const name of ["ancient", "afterwards"]) await gone(`what ${name} has left`, () => issued(name));
    assert.equal((await issued("brief"))?.metadata.uid, metadata.uid, "made again, a copy keeps its own");
    assert.equal((await issued("pool"))?.metadata.uid, example.metadata.uid);
    await rome.admin.delete(ResourceSlice, { name: "brief", namespace: "to-milan" });
  });

  it("takes the virtual node of a slice away without the garbage collector, and no other", async () => {
    await rome.admin.delete(ResourceSlice, poolAtRome);
    await gone("the slice", () => rome.admin.get(ResourceSlice, poolAtRome));
    await gone("its virtual node", () => rome.admin.get(VirtualNode, poolAtRome));
    const spare = await rome.admin.get(VirtualNode, { name: "spare", namespace: "to-milan" });
    assert.equal(spare?.metadata.deletionTimestamp, undefined);
  });

  it("holds a namespace map for as long as it maps something", async () => {
    await until("the copy of the map", finalizersAtMilan);
    await setMapping("shop-rome");
    await until("the namespace", () => milan.admin.get(Namespace, { name: "shop-rome" }));
    assert.deepEqual((await finalizersAtMilan())?.finalizers, [finalizer]);
    await setMapping(null);
    await gone("the namespace", () => milan.admin.get(Namespace, { name: "shop-rome" }));
    await until("a map of nothing is free", async () => (await finalizersAtMilan())?.finalizers.length === 0);
  });

  it("needs nothing of a consumer that is gone for good", async () => {
    await setMapping("shop-rome");
    await until("the namespace", () => milan.admin.get(Namespace, { name: "shop-rome" }));
    await rome.stop();
    await milan.admin.delete(Tenant, { name: "rome", namespace: "guests-from-rome" });
    await gone("the Tenant", () => milan.admin.get(Tenant, { name: "rome", namespace: "guests-from-rome" }));
    await milan.admin.delete(Namespace, { name: "guests-from-rome" });
    for (const name of ["shop-rome", "guests-from-rome"])
      await gone(`namespace ${name}`, () => milan.admin.get(Namespace, { name }));
  });
});
