import assert from "node:assert/strict";

import {
  type Desired,
  ForeignCluster,
  type Kind,
  type KubeObject,
  MutatingWebhookConfiguration,
  Namespace,
  NamespaceOffloading,
  Node,
  Pod,
  Quota,
  ResourceSlice,
  ShadowPod,
  Tenant,
  ValidatingWebhookConfiguration,
  VirtualNode,
  VkOptionsTemplate,
} from "../../runtime/api";
import { ApiError, KubeClient } from "../../runtime/kube";
import { webhookConfigurations } from "../../runtime/plan/webhooks";
import { decideCertificates } from "../../runtime/webhooks/certificates";
import { admissionRoutes } from "../../runtime/webhooks/routes";
import { AdmissionServer } from "../../runtime/webhooks/server";
import { installDefinitions } from "../support/install-definitions";
import { kindOf } from "../support/kind-of";
import { type TestContext, testContext } from "../support/runtime-context";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const OFFLOADING = "offloading.liqo.io/v1beta1";
const AUTHENTICATION = "authentication.liqo.io/v1beta1";

/** Calls of each path since the last look. */
class Calls {
  private counts = new Map<string, number>();

  count(path: string): void {
    this.counts.set(path, (this.counts.get(path) ?? 0) + 1);
  }

  take(): Record<string, number> {
    const taken = Object.fromEntries([...this.counts].sort());
    this.counts = new Map();
    return taken;
  }
}

describe("admission, over the wire", function () {
  this.timeout(60_000);
  const controlPlane = withControlPlanes({ milan: { controllerManager: true } });
  const calls = new Calls();
  let context: TestContext;
  let server: AdmissionServer;
  let admin: KubeClient;
  /** The virtual kubelet of `rome`, slice `pool`; another slice of its; and its control plane. */
  let pool: KubeClient;
  let spare: KubeClient;
  let controlPlaneOfRome: KubeClient;

  before(async function () {
    this.timeout(120_000);
    const milan = controlPlane("milan");
    context = testContext(milan.kubeconfig, "webhook");
    admin = context.client;
    const as = async (name: string, ...groups: string[]) =>
      KubeClient.fromKubeconfig(await milan.kubeconfigFor({ name, groups }));
    pool = await as("pool-a8a4c692b93b", "rome");
    spare = await as("spare-a8a4c692b93b", "rome");
    controlPlaneOfRome = await as("rome", "liqo.io");
    await installDefinitions(admin);
    await make({ apiVersion: "v1", kind: "Namespace", metadata: { name: "liqo-system" } });
    await admin.create(VkOptionsTemplate, {
      apiVersion: OFFLOADING,
      kind: "VkOptionsTemplate",
      metadata: { name: "virtual-kubelet-default", namespace: "liqo-system" },
      spec: {
        createNode: true,
        disableNetworkCheck: false,
        containerImage: "runtime:1",
        metricsEnabled: false,
        annotationsNotReflected: ["cloud.google.com/neg"],
      },
    });

    const decision = decideCertificates({}, ["127.0.0.1"], new Date());
    assert.equal(decision.do, "replace");
    const routes = admissionRoutes(context, {
      clusterID: "milan",
      liqoNamespace: "liqo-system",
      podCidrs: ["10.72.0.0/16"],
      runtimeClass: "liqo",
      vkOptionsTemplate: { namespace: "liqo-system", name: "virtual-kubelet-default" },
      enforceResources: true,
    });
    await context.informers.whenSynced();
    server = await AdmissionServer.start({
      port: 0,
      host: "127.0.0.1",
      certificates: decision.data,
      routes,
      onAnswer: ({ path }) => calls.count(path),
    });
    const { mutating, validating } = webhookConfigurations({
      namespace: "liqo-system",
      serviceName: "liqo-webhook",
      caBundle: decision.data.ca,
      baseUrl: `https://127.0.0.1:${server.port}`,
    });
    await admin.create(MutatingWebhookConfiguration, mutating);
    await admin.create(ValidatingWebhookConfiguration, validating);
    await make(namespace("probe", {}));
    // The API server takes a moment to call new webhooks.
    await until("the webhooks are called", async () => {
      const error = await refusal(
        admin.create(
          NamespaceOffloading,
          offloading("probe", { namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "No!" }),
        ),
      );
      return /is no name for a namespace/.test(error);
    });
    await make(namespace("shop-rome", { "liqo.io/remote-cluster-id": "rome" }));
    await allowPeers();
  });

  after(async () => {
    for (const client of [pool, spare, controlPlaneOfRome]) client.close();
    await context?.end();
    await server?.stop();
  });

  beforeEach(() => calls.take());

  async function make(object: Desired<KubeObject>): Promise<KubeObject> {
    return await admin.create(kindOf(object), object);
  }

  async function refusal(request: Promise<unknown>): Promise<string> {
    try {
      await request;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
    return "allowed";
  }

  function namespace(name: string, labels: Record<string, string>): Desired<Namespace> {
    return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  }

  function offloading(inNamespace: string, spec: object): Desired<NamespaceOffloading> {
    return {
      apiVersion: OFFLOADING,
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: inNamespace },
      spec,
    };
  }

  /** What the provider grants in an offloaded namespace, and in the tenant namespace. */
  async function allowPeers(): Promise<void> {
    const group = "rbac.authorization.k8s.io";
    const grant = async (name: string, apiGroup: string, resources: string[], subject: string) => {
      const rules = [{ apiGroups: [apiGroup], resources, verbs: ["*"] }];
      await make({
        apiVersion: `${group}/v1`,
        kind: "ClusterRole",
        metadata: { name },
        rules,
      } as Desired<KubeObject>);
      await make({
        apiVersion: `${group}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: group, kind: "ClusterRole", name },
        subjects: [{ apiGroup: group, kind: "Group", name: subject }],
      } as Desired<KubeObject>);
    };
    await grant("kubelets", "offloading.liqo.io", ["shadowpods"], "rome");
    await grant(
      "control-planes",
      "authentication.liqo.io",
      ["resourceslices", "resourceslices/status"],
      "liqo.io",
    );
  }

  describe("of pods", () => {
    const pod = (name: string, inNamespace: string, spec: object = {}): Desired<Pod> => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: inNamespace },
      spec: { containers: [{ name: "web", image: "web:1" }], ...spec },
    });
    const strategy = async (inNamespace: string, spec: object) => {
      await make(namespace(inNamespace, { "liqo.io/scheduling-enabled": "true" }));
      await make(offloading(inNamespace, spec));
      await make({
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: inNamespace },
      }).catch(() => undefined);
    };
    const tolerates = ({ spec }: Pod) =>
      spec.tolerations?.filter(({ key }) => key === "virtual-node.liqo.io/not-allowed").length;
    const terms = ({ spec }: Pod) =>
      spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

    it("lets them go to virtual nodes, with one call for each", async () => {
      await strategy("pods-remote", { podOffloadingStrategy: "Remote" });
      calls.take();
      const made = await admin.create(Pod, pod("a", "pods-remote"));
      assert.equal(tolerates(made), 1);
      assert.deepEqual(terms(made), [
        { matchExpressions: [{ key: "liqo.io/type", operator: "In", values: ["virtual-node"] }] },
      ]);
      await admin.patch(Pod, made.metadata, { metadata: { labels: { a: "b" } } }, { type: "merge" });
      await admin.delete(Pod, made.metadata, { gracePeriodSeconds: 0 });
      assert.deepEqual(calls.take(), { "/mutate/pod": 1 });
    });

    it("adds nothing twice, and keeps the node that a DaemonSet asks for", async () => {
      await strategy("pods-both", {
        podOffloadingStrategy: "LocalAndRemote",
        clusterSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "Exists" }] }],
        },
      });
      const pinned = { matchFields: [{ key: "metadata.name", operator: "In", values: ["worker-1"] }] };
      const made = await admin.create(
        Pod,
        pod("a", "pods-both", {
          tolerations: [{ operator: "Exists" }],
          affinity: {
            nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [pinned] } },
          },
        }),
      );
      assert.equal(tolerates(made), 0);
      assert.deepEqual(terms(made), [
        { matchExpressions: [{ key: "region", operator: "Exists" }], ...pinned },
        {
          matchExpressions: [{ key: "liqo.io/type", operator: "NotIn", values: ["virtual-node"] }],
          ...pinned,
        },
      ]);
    });

    it("is not even asked elsewhere, or for the Liqo runtime class", async () => {
      await make(namespace("pods-plain", {}));
      await make({
        apiVersion: "node.k8s.io/v1",
        kind: "RuntimeClass",
        metadata: { name: "liqo" },
        handler: "liqo",
      } as Desired<KubeObject>);
      await make({
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: "pods-plain" },
      }).catch(() => undefined);
      calls.take();
      await admin.create(Pod, pod("a", "pods-plain"));
      await admin.create(Pod, pod("b", "pods-remote", { runtimeClassName: "liqo" }));
      assert.deepEqual(calls.take(), {});
    });

    it("says what is missing where a namespace is labelled by hand", async () => {
      await make(namespace("pods-stray", { "liqo.io/scheduling-enabled": "true" }));
      await make({
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: "pods-stray" },
      }).catch(() => undefined);
      assert.match(
        await refusal(admin.create(Pod, pod("a", "pods-stray"))),
        /pod\.mutate\.liqo\.io.*failed retrieving NamespaceOffloading/,
      );
    });
  });

  describe("of ShadowPods", () => {
    const origin = { "offloading.liqo.io/origin": "rome", "offloading.liqo.io/destination": "milan" };
    const mine = { ...origin, "liqo.io/creator-user": "pool-a8a4c692b93b" };
    const shadowPod = (
      name: string,
      labels: Record<string, string> = mine,
      cpu = "100m",
      inNamespace = "shop-rome",
    ): Desired<ShadowPod> => ({
      apiVersion: OFFLOADING,
      kind: "ShadowPod",
      metadata: { name, namespace: inNamespace, labels },
      spec: {
        pod: {
          containers: [{ name: "web", image: "web:1", resources: { requests: { cpu, memory: "1Mi" } } }],
        },
      },
    });
    const remove = async (name: string) => {
      await admin.delete(ShadowPod, { name, namespace: "shop-rome" });
    };
    const edit = (client: KubeClient, name: string, body: object) =>
      client.patch(ShadowPod, { name, namespace: "shop-rome" }, body, { type: "merge" });

    before(async () => {
      await make(
        namespace("liqo-tenant-rome", {
          "liqo.io/tenant-namespace": "true",
          "liqo.io/remote-cluster-id": "rome",
        }),
      );
      await make({
        apiVersion: OFFLOADING,
        kind: "Quota",
        metadata: { name: "pool-a8a4c692b93b", namespace: "liqo-tenant-rome" },
        spec: {
          user: "pool-a8a4c692b93b",
          limitsEnforcement: "None",
          resources: { cpu: "1", memory: "1Gi", pods: "4" },
        },
      } as Desired<KubeObject>);
      await until("the quota is seen", async () => {
        const answer = await refusal(pool.create(ShadowPod, shadowPod("first")));
        return answer === "allowed";
      });
      await remove("first");
    });

    it("takes one call for a ShadowPod that names its creator", async () => {
      await pool.create(ShadowPod, shadowPod("one-call"));
      assert.deepEqual(calls.take(), { "/validate/shadowpods": 1 });
      await remove("one-call");
    });

    it("stamps the creator of those that do not, whatever they say", async () => {
      const made = await pool.create(
        ShadowPod,
        shadowPod("stamped", { ...origin, "liqo.io/creator-user": "admin" }),
      );
      assert.equal(made.metadata.labels?.["liqo.io/creator-user"], "pool-a8a4c692b93b");
      assert.deepEqual(calls.take(), { "/mutate/shadowpods": 1, "/validate/shadowpods": 1 });
      await remove("stamped");
    });

    it("is not asked about deletions, statuses and finalizers", async () => {
      await pool.create(ShadowPod, shadowPod("quiet"));
      calls.take();
      await admin.patch(
        ShadowPod,
        { name: "quiet", namespace: "shop-rome" },
        { status: { phase: "Running" } },
        { type: "merge", subresource: "status" },
      );
      await edit(admin, "quiet", { metadata: { finalizers: ["example.org/held"] } });
      await remove("quiet");
      await edit(admin, "quiet", { metadata: { finalizers: null } });
      assert.deepEqual(calls.take(), {});
    });

    it("lets the creator update labels and annotations without a call, and puts the creator back when it is left out", async () => {
      await pool.create(ShadowPod, shadowPod("edited"));
      calls.take();
      await edit(pool, "edited", { metadata: { labels: { app: "web" }, annotations: { note: "1" } } });
      assert.deepEqual(calls.take(), {});
      const after = await edit(pool, "edited", { metadata: { labels: { "liqo.io/creator-user": null } } });
      assert.equal(after.metadata.labels?.["liqo.io/creator-user"], "pool-a8a4c692b93b");
      await remove("edited");
    });

    const foreign: [what: string, body: object, denial: RegExp][] = [
      ["another user's label", { metadata: { labels: { app: "x" } } }, /creator name cannot be modified/],
      [
        "another user's annotation",
        { metadata: { annotations: { note: "2" } } },
        /creator name cannot be modified/,
      ],
      [
        "another user's name on it",
        { metadata: { labels: { "liqo.io/creator-user": "spare-a8a4c692b93b" } } },
        /creator name cannot be modified/,
      ],
    ];
    for (const [what, body, denial] of foreign) {
      it(`refuses the peer ${what}`, async () => {
        await pool.create(ShadowPod, shadowPod("guarded"));
        assert.match(await refusal(edit(spare, "guarded", body)), denial);
        await remove("guarded");
      });
    }

    const updates: [what: string, body: object, denial: RegExp][] = [
      [
        "a new image",
        {
          spec: {
            pod: {
              containers: [
                { name: "web", image: "web:2", resources: { requests: { cpu: "100m", memory: "1Mi" } } },
              ],
            },
          },
        },
        /^allowed$/,
      ],
      [
        "more cpu",
        {
          spec: {
            pod: {
              containers: [
                { name: "web", image: "web:1", resources: { requests: { cpu: "200m", memory: "1Mi" } } },
              ],
            },
          },
        },
        /spec\.pod\.containers\[0\]\.resources cannot be modified/,
      ],
      [
        "a second container",
        {
          spec: {
            pod: {
              containers: [
                { name: "web", image: "web:1" },
                { name: "b", image: "b:1" },
              ],
            },
          },
        },
        /spec\.pod\.containers cannot be modified/,
      ],
      [
        "the host's network",
        { spec: { pod: { hostNetwork: true } } },
        /spec\.pod\.hostNetwork cannot be modified/,
      ],
      [
        "another origin",
        { metadata: { labels: { "offloading.liqo.io/origin": "turin" } } },
        /shadopow Cluster ID label is changed/,
      ],
      [
        "no origin",
        { metadata: { labels: { "offloading.liqo.io/origin": null } } },
        /missing origin Cluster ID label/,
      ],
    ];
    for (const [what, body, denial] of updates) {
      it(`answers an update with ${what}`, async () => {
        await pool.create(ShadowPod, shadowPod("frozen"));
        assert.match(await refusal(edit(pool, "frozen", body)), denial);
        await remove("frozen");
      });
    }

    it("does not lock out an administrator", async () => {
      await pool.create(ShadowPod, shadowPod("admin"));
      await edit(admin, "admin", { metadata: { labels: { debug: "1" } } });
      await remove("admin");
    });

    const refused: [what: string, object: Desired<ShadowPod>, denial: RegExp][] = [
      ["no origin", shadowPod("r", {}), /shadowpod\.validate\.liqo\.io.*missing origin Cluster ID label/],
      [
        "another origin than the namespace",
        shadowPod("r", { ...mine, "offloading.liqo.io/origin": "turin" }),
        /shadowpod Cluster ID label mismatch/,
      ],
      [
        "a namespace that is not offloaded",
        shadowPod("r", mine, "100m", "liqo-system"),
        /shadowpod Cluster ID label mismatch/,
      ],
      [
        "more than the quota",
        shadowPod("r", mine, "1100m"),
        /peering cpu quota usage exceeded - free 1 \/ requested 1100m/,
      ],
    ];
    for (const [what, object, denial] of refused) {
      it(`refuses a ShadowPod with ${what}`, async () =>
        assert.match(await refusal(pool.create(ShadowPod, object)), denial));
    }

    it("refuses a user without quota in the words of the runbook", async () => {
      assert.match(
        await refusal(spare.create(ShadowPod, shadowPod("r"))),
        /admission webhook "shadowpod\.validate\.liqo\.io" denied the request: failed getting quota/,
      );
    });

    it("refuses a name that is in use", async () => {
      await pool.create(ShadowPod, shadowPod("twice"));
      await until("the second is refused by the webhook", async () =>
        /ShadowPod twice is already running/.test(await refusal(pool.create(ShadowPod, shadowPod("twice")))),
      );
      await admin.patch(
        ShadowPod,
        { name: "twice", namespace: "shop-rome" },
        { status: { phase: "Succeeded" } },
        { type: "merge", subresource: "status" },
      );
      await until("the ended one is in the way", async () =>
        /ShadowPod still exists in the system/.test(
          await refusal(pool.create(ShadowPod, shadowPod("twice"))),
        ),
      );
      await remove("twice");
      await pool.create(ShadowPod, shadowPod("twice"));
      await remove("twice");
    });

    it("admits no more than the quota, of twenty at once, and again what was given back", async () => {
      const names = Array.from({ length: 20 }, (_, at) => `burst-${at}`);
      const outcome = async (name: string) =>
        await refusal(pool.create(ShadowPod, shadowPod(name, mine, "10m")));
      const answers = await Promise.all(names.map(outcome));
      assert.equal(answers.filter((answer) => answer === "allowed").length, 4);
      assert.equal(
        answers.filter((answer) => /peering pods quota usage exceeded - free 0 \/ requested 1/.test(answer))
          .length,
        16,
      );
      const admitted = names.filter((_, at) => answers[at] === "allowed");
      const [ended = "", deleted = ""] = admitted;
      await admin.patch(
        ShadowPod,
        { name: ended, namespace: "shop-rome" },
        { status: { phase: "Failed" } },
        { type: "merge", subresource: "status" },
      );
      await until(
        "the place of the one that ended is free",
        async () => (await outcome("after-end")) === "allowed",
      );
      await remove(deleted);
      await until(
        "the place of the one that was deleted is free",
        async () => (await outcome("after-deletion")) === "allowed",
      );
      assert.notEqual(await outcome("too-many"), "allowed");
      for (const name of [...admitted, "after-end", "after-deletion"]) await remove(name);
    });

    it("books nothing for a dry run, nor for long what was refused by others", async () => {
      const path = `/apis/${OFFLOADING}/namespaces/shop-rome/shadowpods?dryRun=All`;
      for (let at = 0; at < 6; at += 1) {
        const body = JSON.stringify(shadowPod(`dry-${at}`, mine, "900m"));
        const answer = await pool.raw({
          method: "POST",
          path,
          body,
          headers: { "content-type": "application/json" },
        });
        assert.equal(answer.status, 201, answer.body.toString());
      }
      await pool.create(ShadowPod, shadowPod("wet", mine, "900m"));
      await remove("wet");
    });

    it("follows the quota", async () => {
      const quota = { name: "pool-a8a4c692b93b", namespace: "liqo-tenant-rome" };
      const set = async (spec: object) => await admin.patch(Quota, quota, { spec }, { type: "merge" });
      await set({ cordoned: true });
      await until("cordoned", async () =>
        /user is cordoned/.test(await refusal(pool.create(ShadowPod, shadowPod("c")))),
      );
      await set({ cordoned: null, limitsEnforcement: "Hard" });
      await until("hard", async () =>
        /cpu limits and requests are not equal for container web/.test(
          await refusal(pool.create(ShadowPod, shadowPod("c"))),
        ),
      );
      await set({ limitsEnforcement: "None" });
      await until(
        "open again",
        async () => (await refusal(pool.create(ShadowPod, shadowPod("c")))) === "allowed",
      );
      await remove("c");
    });
  });

  describe("of NamespaceOffloadings", () => {
    const rows: [what: string, spec: object, denial: RegExp][] = [
      [
        "an invalid selector",
        { clusterSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In" }] }] } },
        /Invalid ClusterSelector/,
      ],
      [
        "a remote name that is none",
        { namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "No!" },
        /is no name for a namespace/,
      ],
      ["the defaults", {}, /^allowed$/],
    ];
    for (const [what, spec, denial] of rows) {
      it(`answers one with ${what}`, async () =>
        assert.match(await refusal(admin.create(NamespaceOffloading, offloading("probe", spec))), denial));
    }

    it("refuses changes of what is immutable, and leaves the removal of finalizers alone", async () => {
      const ref = { name: "offloading", namespace: "probe" };
      const edit = (body: object) => admin.patch(NamespaceOffloading, ref, body, { type: "merge" });
      assert.match(
        await refusal(edit({ spec: { namespaceMappingStrategy: "EnforceSameName" } })),
        /The NamespaceMappingStrategy value cannot be modified after creation/,
      );
      await edit({ metadata: { finalizers: ["example.org/held"] } });
      calls.take();
      await admin.delete(NamespaceOffloading, ref);
      await edit({ metadata: { finalizers: null } });
      assert.deepEqual(calls.take(), {});
    });
  });

  describe("of VirtualNodes", () => {
    const virtualNode = (
      name: string,
      spec: object = {},
      inNamespace = "liqo-tenant-rome",
    ): Desired<VirtualNode> => ({
      apiVersion: OFFLOADING,
      kind: "VirtualNode",
      metadata: { name, namespace: inNamespace },
      spec: { clusterID: "rome", kubeconfigSecretRef: { name: "kubeconfig-resourceslice-pool" }, ...spec },
    });

    it("completes them, and follows their spec", async () => {
      const made = await admin.create(
        VirtualNode,
        virtualNode("node-a", { storageClasses: [{ storageClassName: "fast" }] }),
      );
      assert.equal(made.spec.createNode, true);
      const list = (node: VirtualNode) => node.spec.template?.spec?.template.spec?.containers[0]?.args ?? [];
      assert.ok(list(made).includes("--remote-real-storage-class-name=fast"));
      assert.ok(list(made).includes("--local-podcidr=10.72.0.0/16"));
      assert.ok(made.spec.offloadingPatch?.annotationsNotReflected?.includes("cloud.google.com/neg"));
      const after = await admin.patch(
        VirtualNode,
        made.metadata,
        { spec: { createNode: false, storageClasses: null } },
        { type: "merge" },
      );
      assert.ok(list(after).includes("--create-node=false"));
      assert.ok(!list(after).some((one) => one.includes("storage")));
      calls.take();
      await admin.patch(VirtualNode, made.metadata, { metadata: { labels: { a: "b" } } }, { type: "merge" });
      assert.deepEqual(calls.take(), {});
    });

    it("refuses names that are taken", async () => {
      await make({ apiVersion: "v1", kind: "Node", metadata: { name: "node-b" } });
      assert.match(
        await refusal(admin.create(VirtualNode, virtualNode("node-b"))),
        /node node-b already exists/,
      );
      await admin.create(VirtualNode, virtualNode("node-b", { createNode: false }));
      assert.match(
        await refusal(admin.create(VirtualNode, virtualNode("node-a", {}, "shop-rome"))),
        /virtual node node-a already exists in namespace liqo-tenant-rome/,
      );
      await admin.delete(Node, { name: "node-b" });
    });

    it("names options that do not exist", async () => {
      const spec = { vkOptionsTemplateRef: { name: "none", namespace: "liqo-system" } };
      assert.match(
        await refusal(admin.create(VirtualNode, virtualNode("node-c", spec))),
        /VkOptionsTemplate "liqo-system\/none" not found/,
      );
    });
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
      spec: { consumerClusterID: "rome", providerClusterID: "milan" },
    });

    it("labels ForeignClusters, and is asked only when the label is wrong", async () => {
      const object: Desired<ForeignCluster> = {
        apiVersion: "core.liqo.io/v1beta1",
        kind: "ForeignCluster",
        metadata: { name: "rome" },
        spec: { clusterID: "rome" },
      };
      const made = await admin.create(ForeignCluster, object);
      assert.equal(made.metadata.labels?.[key], "rome");
      calls.take();
      await admin.patch(
        ForeignCluster,
        made.metadata,
        { metadata: { annotations: { a: "b" } } },
        { type: "merge" },
      );
      assert.deepEqual(calls.take(), {});
      const after = await admin.patch(
        ForeignCluster,
        made.metadata,
        { metadata: { labels: { [key]: "turin" } } },
        { type: "merge" },
      );
      assert.equal(after.metadata.labels?.[key], "rome");
    });

    it("labels and checks Tenants", async () => {
      assert.match(
        await refusal(admin.create(Tenant, tenant("rome", "probe"))),
        /must be created in a tenant namespace/,
      );
      assert.match(
        await refusal(admin.create(Tenant, tenant("rome", "liqo-tenant-rome", { [key]: "turin" }))),
        /is "turin", and spec\.clusterID is "rome"/,
      );
      const made = await admin.create(Tenant, tenant("rome", "liqo-tenant-rome"));
      assert.equal(made.metadata.labels?.[key], "rome");
      assert.match(
        await refusal(admin.create(Tenant, tenant("again", "liqo-tenant-rome"))),
        /a Tenant already exists in the tenant namespace/,
      );
      await make(namespace("liqo-tenant-turin", { "liqo.io/tenant-namespace": "true", [key]: "turin" }));
      assert.match(
        await refusal(admin.create(Tenant, tenant("other", "liqo-tenant-turin"))),
        /belongs to cluster "turin"/,
      );
    });

    it("leaves objects alone that ask for it", async () => {
      const labels = { "liqo.io/webhook-skip": "true" };
      const made = await admin.create(Tenant, tenant("skipped", "probe", labels));
      assert.equal(made.metadata.labels?.[key], undefined);
    });

    it("keeps names of own slices unique, and copies what the peer may not change", async () => {
      const own = { "liqo.io/replication": "true" };
      await admin.create(ResourceSlice, slice("pool", "liqo-tenant-rome", own));
      assert.match(
        await refusal(admin.create(ResourceSlice, slice("pool", "liqo-tenant-turin", own))),
        /a resourceslice with the same name already exists in the cluster/,
      );
      const copy = { "liqo.io/replication": "false", "liqo.io/replicated": "true", [key]: "rome" };
      calls.take();
      const made = await controlPlaneOfRome.create(ResourceSlice, slice("pool", "liqo-tenant-turin", copy));
      assert.deepEqual(calls.take(), {});
      const edit = (client: KubeClient, metadata: object) =>
        client.patch(ResourceSlice, made.metadata, { metadata }, { type: "merge" });
      assert.match(
        await refusal(edit(controlPlaneOfRome, { labels: { [key]: "turin" } })),
        /can't change the remoteClusterID label/,
      );
      await edit(admin, { annotations: { "liqo.io/cordon": "true" } });
      assert.match(
        await refusal(edit(controlPlaneOfRome, { annotations: { "liqo.io/cordon": null } })),
        /control plane users can't delete the liqo\.io\/cordon annotation/,
      );
    });
  });

  // Last, because it ends the server.
  describe("when no webhook answers", () => {
    it("lets a cluster repair itself", async () => {
      const liqoPod: Desired<Pod> = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "liqo-webhook-0", namespace: "liqo-system" },
        spec: { containers: [{ name: "webhook", image: "runtime:1" }] },
      };
      // Even when somebody offloads the Liqo namespace itself.
      await admin.patch(
        Namespace,
        { name: "liqo-system" },
        { metadata: { labels: { "liqo.io/scheduling-enabled": "true" } } },
        { type: "merge" },
      );
      await make({
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: "liqo-system" },
      }).catch(() => undefined);
      const held = await admin.patch(
        VirtualNode,
        { name: "node-a", namespace: "liqo-tenant-rome" },
        { metadata: { finalizers: ["example.org/held"] } },
        { type: "merge" },
      );
      await server.stop();
      await admin.create(Pod, liqoPod);
      assert.match(
        await refusal(admin.create(NamespaceOffloading, offloading("probe", {}))),
        /failed calling webhook/,
      );
      await admin.delete(VirtualNode, held.metadata);
      await admin.patch(VirtualNode, held.metadata, { metadata: { finalizers: null } }, { type: "merge" });
      assert.equal(await admin.get(VirtualNode as Kind<VirtualNode>, held.metadata), undefined);
    });
  });
});
