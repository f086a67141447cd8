import assert from "node:assert/strict";
import {
  type Desired,
  ForeignCluster,
  type KubeObject,
  Label,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  OWN_KINDS,
  Secret,
  VirtualNode,
} from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import { kindOf } from "../support/kind-of";
import { Liqoctl } from "../support/liqoctl";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const pings = ["--foreign-cluster-ping-interval=500ms", "--foreign-cluster-ping-timeout=400ms"];
const FORCE = "force unpeer milan --skip-confirm";

describe("liqoctl force unpeer, of a provider that is gone for good", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let proxy: TcpProxy;
  const cli = new Liqoctl();
  after(async () => {
    await Promise.all([rome?.end(), milan?.end()]);
    await proxy?.close();
    cli.remove();
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    const port = Number(new URL(controlPlane("milan").url).port);
    proxy = await TcpProxy.start({ host: "127.0.0.1", port });
    [rome, milan] = await installPair(controlPlane, { milan: { address: `127.0.0.1:${proxy.port}` } });
    await Promise.all([rome.start(pings), milan.start()]);
    await cli.prepare({ rome: controlPlane("rome").kubeconfig });
    const steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.peer();
    await rome.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const offloading: Desired<NamespaceOffloading> = {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec: { podOffloadingStrategy: "LocalAndRemote" },
    };
    await rome.apply(offloading);
    await until("the virtual node", () =>
      rome.admin.get(VirtualNode, { name: "pool", namespace: "to-milan" }),
    );
    await until("the namespace at milan", async () => {
      const [map] = await rome.admin.list(NamespaceMap, { namespace: "to-milan" });
      return map?.status?.currentMapping?.shop?.phase === "Accepted";
    });
    await answers("Established");
  });

  const answers = (expected: string) =>
    until(`the API server of milan is ${expected}`, async () => {
      const peer = await rome.admin.get(ForeignCluster, { name: "milan" });
      return peer?.status?.conditions?.find(({ type }) => type === "APIServerStatus")?.status === expected;
    });

  /** Every object of rome's that a finalizer of Liqo holds. */
  async function held(): Promise<string[]> {
    const kinds = OWN_KINDS.map(({ definition: { group, version, kind } }) =>
      kindOf({ apiVersion: `${group}/${version}`, kind }),
    );
    const objects: KubeObject[] = (
      await Promise.all([...kinds, Secret, Namespace].map((kind) => rome.admin.list<KubeObject>(kind)))
    ).flat();
    return objects.flatMap(({ kind, metadata: { name, namespace = "", finalizers = [] } }) =>
      finalizers
        .filter((each) => each.includes("liqo.io"))
        .map((each) => `${kind} ${namespace}/${name} ${each}`),
    );
  }

  it("is refused while the provider answers", async () => {
    const { status, err } = await cli.run(FORCE);
    assert.equal(status, 1);
    assert.match(err, /the API server of milan answers/);
    assert.match(err, /liqoctl unpeer/);
  });

  it("ends without a finalizer of Liqo left, and leaves the provider's side as it is", async () => {
    assert.ok((await held()).length > 0);
    proxy.refuse();
    proxy.cut();
    await answers("Error");
    const { status, out, err } = await cli.run(FORCE);
    assert.equal(status, 0, `${out}${err}`);
    const ofMilan = { labelSelector: `${Label.remoteClusterID}=milan` };
    assert.equal(await rome.admin.get(Namespace, { name: "to-milan" }), undefined);
    assert.deepEqual(await rome.admin.list(VirtualNode), []);
    assert.deepEqual(await rome.admin.list(Secret, ofMilan), []);
    // What the user made in a namespace of his own is his, and goes when he takes it back.
    await rome.admin.delete(NamespaceOffloading, { name: "offloading", namespace: "shop" });
    let left: string[] = [];
    await until("no finalizer is left", async () => {
      left = await held();
      return left.length === 0;
    }).catch((error: unknown) => {
      assert.deepEqual(left, []);
      throw error;
    });
    assert.ok(await milan.admin.get(Namespace, { name: "guests-from-rome" }));
    assert.equal((await milan.admin.list(NamespaceMap, { namespace: "guests-from-rome" })).length, 1);
  });
});
