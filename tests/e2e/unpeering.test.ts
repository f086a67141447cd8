import assert from "node:assert/strict";

import {
  type KubeObject,
  Namespace,
  NamespaceMap,
  ResourceSlice,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
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
