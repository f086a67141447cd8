/**
 * The administrator of the provider milan means ill. It has its own cluster whole, and of rome's what a peer gets, and no more: it stops Liqo there and writes
 * what it likes into the status of the copies. Rome's controllers and virtual kubelet have the rights of an installation.
 */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  ConfigMap,
  type Desired,
  Event,
  type KubeObject,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  ResourceSlice,
  RoleBinding,
  Secret,
  ServiceAccount,
} from "../../runtime/api";
import { TokenRequest } from "../../runtime/api/kubernetes";
import { KubeClient } from "../../runtime/kube";
import type { PeeringSides } from "../../runtime/plan/peering";
import { accountKubeconfig } from "../support/account-kubeconfig";
import { refusal } from "../support/admission-cluster";
import { base64 } from "../support/base64";
import { eventAbout } from "../support/events";
import { HostileProvider, status, there } from "../support/hostile-provider";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { atMilan, atRome, sides } from "../support/peering-of-rome";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { startVirtualKubelet, type VirtualKubeletProcess } from "../support/virtual-kubelet-process";
import { withControlPlanes } from "../support/with-control-planes";

/** Another provider, who does no harm; on the same control plane, under names of its own. */
const toTurin: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-turin" },
  provider: { clusterId: "turin", tenantNamespace: "turin-guests" },
};
const merge = { type: "merge" } as const;

describe("attacks: what a provider writes in a status", function () {
  this.timeout(120_000);
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: HostileProvider;
  let kubelet: VirtualKubeletProcess | undefined;

  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    steps = new HostileProvider(rome, milan);
    await Promise.all([rome.start(), milan.start()]);
    await new PeeringSteps(rome, milan, sides, "pool").peer();
    kubelet = await startVirtualKubelet(rome);
    await steps.offload("shop");
    await steps.secret("kube-system", "root-password");
    await steps.secret("shop", "first");
    await steps.arrived("shop-rome", "first");
    await milan.stop();
    await steps.trap("stolen");
  });
  after(async () => {
    await kubelet?.end("SIGKILL");
    await (rome as ManagedCluster | undefined)?.end();
    await (milan as ManagedCluster | undefined)?.end();
  });

  describe("of a map", () => {
    it("a namespace that nobody offloads is not reflected, however the provider accepts it, and the map says what was refused", async () => {
      await steps.answer({ "kube-system": { phase: "Accepted", remoteNamespace: "stolen" } });
      await steps.probe("shop", "after-kube-system");
      await steps.nothingIn("stolen");
      assert.equal((await steps.mapping())["kube-system"], undefined);
      const message = await eventAbout(
        rome.admin,
        { kind: "NamespaceMap", ...atRome("milan") },
        "PeerStatusRefused",
      );
      assert.match(message, /status\.currentMapping\["kube-system"\]: was not asked for/);
    });

    it("a namespace that is offloaded stays where it was asked for", async () => {
      await steps.answer({ "kube-system": null, shop: { phase: "Accepted", remoteNamespace: "stolen" } });
      await steps.probe("shop", "after-redirect");
      await steps.nothingIn("stolen");
      assert.deepEqual((await steps.mapping()).shop, { phase: "Accepted", remoteNamespace: "shop-rome" });
      await steps.answer({ shop: { phase: "Accepted", remoteNamespace: "shop-rome" } });
    });

    it("the rights of a peer that is rome's consumer as well change nothing of that", async () => {
      const peer = await steps.asConsumerOfRome("milan");
      const { currentMapping } = (await there(NamespaceMap, rome, atRome("milan"))).status ?? {};
      await peer.patch(
        NamespaceMap,
        atRome("milan"),
        { spec: { desiredMapping: { "kube-system": "stolen" } } },
        merge,
      );
      const stolen = { phase: "Accepted", remoteNamespace: "stolen" };
      await steps.answer({ "kube-system": stolen });
      const body = { status: { currentMapping: { ...currentMapping, "kube-system": stolen } } };
      await peer.patch(NamespaceMap, atRome("milan"), body, status);
      await until(
        "it stands in rome's map",
        async () => (await steps.mapping())["kube-system"] !== undefined,
      );
      await steps.probe("shop", "after-edit");
      await steps.nothingIn("stolen");
      await steps.answer({ "kube-system": null });
      const back = { spec: { desiredMapping: { "kube-system": null } } };
      await peer.patch(NamespaceMap, atRome("milan"), back, merge);
      peer.close();
    });

    it("what is offloaded no more is reflected no more, though the provider goes on accepting it", async () => {
      await steps.offload("books");
      await until("it is asked for", async () => {
        const copy = await milan.admin.get(NamespaceMap, atMilan("milan"));
        return copy?.spec.desiredMapping?.books !== undefined;
      });
      await steps.trap("books-rome");
      await steps.answer({ books: { phase: "Accepted", remoteNamespace: "books-rome" } });
      await steps.probe("books", "wanted", "books-rome");
      await rome.admin.delete(NamespaceOffloading, { name: "offloading", namespace: "books" });
      await until("it is asked for no more", async () => {
        const map = await rome.admin.get(NamespaceMap, atRome("milan"));
        return map?.spec.desiredMapping?.books === undefined;
      });
      await steps.secret("books", "too-late");
      await steps.probe("shop", "after-books");
      await pause(500);
      assert.equal(await milan.admin.get(Secret, { name: "too-late", namespace: "books-rome" }), undefined);
      await steps.answer({ books: null });
    });

    it("the end of a namespace's offloading to others waits for nobody who was never asked", async () => {
      const selector = {
        matchExpressions: [{ key: "liqo.io/remote-cluster-id", operator: "In", values: ["turin"] }],
      };
      await steps.offload("payroll", { clusterSelector: { nodeSelectorTerms: [selector] } });
      const ref = { name: "offloading", namespace: "payroll" };
      await until("it is looked at", async () => {
        const offloading = await rome.admin.get(NamespaceOffloading, ref);
        return offloading?.status?.observedGeneration !== undefined;
      });
      await steps.answer({ payroll: { phase: "Terminating", remoteNamespace: "payroll-rome" } });
      await until("it arrives", async () => (await steps.mapping()).payroll !== undefined);
      await rome.admin.delete(NamespaceOffloading, ref);
      await until("it is gone", async () => (await rome.admin.get(NamespaceOffloading, ref)) === undefined, {
        timeoutMs: 10_000,
      });
      await steps.answer({ payroll: null });
    });

    it("what is no status of a map is left out, and the good entries stay", async () => {
      await steps.anyStatus("namespacemaps");
      const broken = { phase: "Owned", remoteNamespace: "shop-rome" };
      await until("the API server of milan takes it", async () => {
        await steps.answer({ "NOT A NAMESPACE": { phase: "Accepted", remoteNamespace: "x" }, tea: broken });
        return true;
      });
      await milan.admin.patch(
        NamespaceMap,
        atMilan("milan"),
        {
          status: {
            conquered: "rome",
            currentMapping: { wine: { phase: "Terminating", remoteNamespace: "w" } },
          },
        },
        status,
      );
      await until("the good entry arrives", async () => (await steps.mapping()).wine !== undefined);
      const found = (await there(NamespaceMap, rome, atRome("milan"))).status;
      assert.deepEqual(Object.keys(found ?? {}).sort(), ["currentMapping", "observedGeneration"]);
      assert.deepEqual(Object.keys(found?.currentMapping ?? {}).sort(), ["shop", "wine"]);
    });
  });

  describe("of a slice", () => {
    const said = async (name: string) => (await there(ResourceSlice, rome, atRome(name))).status;
    const say = (body: object) => milan.admin.patch(ResourceSlice, atMilan("pool"), { status: body }, status);
    const condition = (message: string) => [
      { type: "Resources", status: "Accepted", reason: "Bought", message },
      { type: "Authentication", status: "Accepted" },
    ];

    it("bad ones leave the slice as it was, and are told once; the next good one is taken", async () => {
      const before = await said("pool");
      assert.ok(before?.authParams !== undefined);
      const good = (await there(ResourceSlice, milan, atMilan("pool"))).status;
      const bad: Record<string, object> = {
        "a negative amount": { resources: { ...good?.resources, cpu: "-4" } },
        "more than there is": { resources: { ...good?.resources, cpu: "9223372036854775807" } },
        "no resource": { resources: { ...good?.resources, "not a resource!": "1" } },
        "an endless message": { conditions: condition("x".repeat(40_000)) },
        "no TLS": { authParams: { ...good?.authParams, apiServer: "http://10.98.0.1:8080" } },
        "no certificate": { authParams: { ...good?.authParams, signedCRT: base64("a secret of milan's") } },
        "no CA": { authParams: { ...good?.authParams, ca: base64("-----BEGIN NOTHING-----") } },
        "no label": { nodeLabels: { "a b c": "d" } },
        "a thousand labels": {
          nodeLabels: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`label-${i}`, "x"])),
        },
        "no class": { storageClasses: [{ storageClassName: "--enable-everything=true" }] },
      };
      for (const [what, body] of Object.entries(bad)) {
        await say(body);
        await pause(200);
        assert.deepEqual(await said("pool"), before, what);
        await milan.admin.patch(
          ResourceSlice,
          atMilan("pool"),
          [{ op: "replace", path: "/status", value: good }],
          {
            type: "json",
            subresource: "status",
          },
        );
      }
      await say(bad["no certificate"] ?? {});
      const about = { kind: "ResourceSlice", ...atRome("pool") };
      const message = await eventAbout(rome.admin, about, "PeerStatusRefused");
      assert.match(message, /status\.authParams\.signedCRT: is not a certificate; give/);
      assert.doesNotMatch(message, new RegExp(base64("a secret of milan's")));
      for (let i = 0; i < 5; i += 1) await say({ nodeLabels: { [`no label ${i}`]: "x" } });
      await pause(4_000);
      const events = await rome.admin.list(Event, {
        namespace: "to-milan",
        fieldSelector: "involvedObject.name=pool,reason=PeerStatusRefused",
      });
      assert.deepEqual(
        events.map(({ count }) => count),
        [1],
      );
      await milan.admin.patch(
        ResourceSlice,
        atMilan("pool"),
        [{ op: "replace", path: "/status", value: { ...good, resources: { ...good?.resources, cpu: "3" } } }],
        { type: "json", subresource: "status" },
      );
      await until("the good one is taken", async () => (await said("pool"))?.resources?.cpu === "3");
    });

    it("labels that set nodes apart are not the provider's to give; its others are", async () => {
      await say({
        nodeLabels: {
          region: "north",
          "node-restriction.kubernetes.io/vault": "true",
          "node-role.kubernetes.io/control-plane": "",
          "liqo.io/remote-cluster-id": "turin",
        },
      });
      await until("the labels arrive", async () => (await said("pool"))?.nodeLabels?.region === "north");
      assert.deepEqual((await said("pool"))?.nodeLabels, { region: "north" });
    });
  });

  describe("in a storm", () => {
    it("another peer's answers arrive all the while", async () => {
      const turin = new PeeringSteps(rome, milan, toTurin, "spare");
      await turin.namespaces();
      await turin.roleBinding("rome-at-turin");
      await turin.handmadeSecret(await milan.controlPlane.kubeconfigFor({ name: "rome-at-turin" }));
      await turin.slice();
      const copy = { name: "spare", namespace: "turin-guests" };
      await there(ResourceSlice, milan, copy);
      let done = false;
      const storm = (async () => {
        for (let i = 0; !done; i += 1) {
          const body = {
            conditions: [{ type: "Resources", status: "Denied", message: `${i}`.padEnd(40_000, "!") }],
          };
          await milan.admin.patch(ResourceSlice, atMilan("pool"), { status: body }, status);
          await steps.answer({ [`ns-${i % 50}`]: { phase: "Accepted", remoteNamespace: "stolen" } });
        }
      })();
      await pause(1_000);
      await milan.admin.patch(ResourceSlice, copy, { status: { resources: { cpu: "2" } } }, status);
      await until(
        "turin's answer",
        async () => {
          const slice = await rome.admin.get(ResourceSlice, { name: "spare", namespace: "to-turin" });
          return slice?.status?.resources?.cpu === "2";
        },
        { timeoutMs: 5_000 },
      );
      done = true;
      await storm;
      await steps.probe("shop", "after-storm");
      await steps.nothingIn("stolen");
    });
  });

  describe("by whoever gets hold of the virtual kubelet's token", () => {
    const account = { name: "liqo-virtual-kubelet", namespace: "liqo" };
    const binding = { name: "liqo-virtual-kubelet-namespace", namespace: "ledger" };
    let thief: KubeClient | undefined;
    const asThief = () => thief ?? assert.fail("there is no token of the virtual kubelet");
    after(() => thief?.close());

    before(async () => {
      await rome.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: account });
      thief = KubeClient.fromKubeconfig(await accountKubeconfig(rome.admin, rome.controlPlane, account));
      for (const name of ["ledger", "vault"])
        await rome.admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await steps.secret("vault", "combination");
    });

    /** What it has of a namespace: Secrets, ConfigMaps and tokens of its accounts. */
    async function has(namespace: string): Promise<string> {
      const { apiVersion, kind } = TokenRequest;
      const token = asThief().createSubresource(
        ServiceAccount,
        { name: "default", namespace },
        "token",
        { apiVersion, kind, spec: {} },
        (answer) => TokenRequest.parse(answer),
      );
      const answers = await Promise.all(
        [asThief().list(Secret, { namespace }), asThief().list(ConfigMap, { namespace }), token].map(refusal),
      );
      return answers.map((answer) => (/forbidden/.test(answer) ? "nothing" : answer)).join(", ");
    }
    const everything = "allowed, allowed, allowed";
    const nothing = "nothing, nothing, nothing";

    it("nothing is read, and no token made, where nothing is offloaded", async () => {
      for (const namespace of ["kube-system", "default", "vault", "ledger", "liqo"])
        assert.equal(await has(namespace), nothing, namespace);
      for (const kind of [Secret, ConfigMap])
        assert.match(await refusal(asThief().list<KubeObject>(kind)), /forbidden/, kind.kind);
      assert.match(
        await refusal(asThief().get(Secret, { name: "combination", namespace: "vault" })),
        /forbidden/,
      );
    });

    it("the tenant namespace gives the credentials for the provider, and neither ConfigMaps nor tokens", async () => {
      assert.equal(await has("to-milan"), "allowed, nothing, nothing");
    });

    it("a namespace that is offloaded gives what its pods need, for as long as it is", async () => {
      const offloading = { name: "offloading", namespace: "ledger" };
      await steps.offloadExisting(offloading.namespace);
      await until("the rights are given", async () => (await has("ledger")) === everything);
      assert.equal(await has("vault"), nothing);

      await rome.admin.delete(RoleBinding, binding);
      await until("they come back", async () => {
        const back = await rome.admin.get(RoleBinding, binding);
        return back?.subjects?.length === 1 && (await has("ledger")) === everything;
      });

      await rome.admin.delete(NamespaceOffloading, offloading);
      await until("the rights are gone", async () => (await has("ledger")) === nothing);
      assert.equal(await rome.admin.get(RoleBinding, binding), undefined);
      assert.equal(await has("shop"), everything);
    });

    it("a binding that is not Liqo's is left alone, and told of", async () => {
      const ref = { ...binding, namespace: "vault" };
      const foreign: Desired<RoleBinding> = {
        apiVersion: RoleBinding.apiVersion,
        kind: RoleBinding.kind,
        metadata: ref,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      };
      await rome.admin.create(RoleBinding, foreign);
      const offloading = { name: "offloading", namespace: "vault" };
      await steps.offloadExisting(offloading.namespace);
      assert.match(
        await eventAbout(
          rome.admin,
          { kind: "NamespaceOffloading", ...offloading },
          "VirtualKubeletRightsRefused",
        ),
        /^RoleBinding "vault\/liqo-virtual-kubelet-namespace" exists and is not Liqo's.*delete it$/,
      );
      const left = await there(RoleBinding, rome, ref);
      assert.deepEqual([left.roleRef.name, left.subjects], ["view", undefined]);
      await rome.admin.delete(NamespaceOffloading, offloading);
    });
  });
});
