import assert from "node:assert/strict";

import {
  type Desired,
  type KubeObject,
  Namespace,
  NamespaceOffloading,
  Node,
  Pod,
  VirtualNode,
} from "../../runtime/api";
import { AdmissionCluster, namespaceOffloading, OFFLOADING, refusal } from "../support/admission-cluster";
import { until } from "../support/until";

describe("admission of what is offloaded, over the wire", function () {
  this.timeout(60_000);
  const cluster = AdmissionCluster.forSuite();
  const admin = () => cluster().admin;

  before(async () => {
    await cluster().makeTenantNamespace("rome");
    await cluster().makeNamespace("shop-rome", { "liqo.io/remote-cluster-id": "rome" });
  });

  describe("of pods", () => {
    const pod = (name: string, inNamespace: string, spec: object = {}): Desired<Pod> => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: inNamespace },
      spec: { containers: [{ name: "web", image: "web:1" }], ...spec },
    });
    const strategy = async (inNamespace: string, spec: object) => {
      await cluster().makeNamespace(inNamespace, { "liqo.io/scheduling-enabled": "true" });
      await cluster().make(namespaceOffloading(inNamespace, spec));
    };
    const tolerates = ({ spec }: Pod) =>
      spec.tolerations?.filter(({ key }) => key === "virtual-node.liqo.io/not-allowed").length;
    const terms = ({ spec }: Pod) =>
      spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

    it("lets them go to virtual nodes, with one call for each", async () => {
      await strategy("pods-remote", { podOffloadingStrategy: "Remote" });
      cluster().calls.take();
      const made = await admin().create(Pod, pod("a", "pods-remote"));
      assert.equal(tolerates(made), 1);
      assert.deepEqual(terms(made), [
        { matchExpressions: [{ key: "liqo.io/type", operator: "In", values: ["virtual-node"] }] },
      ]);
      await admin().patch(Pod, made.metadata, { metadata: { labels: { a: "b" } } }, { type: "merge" });
      await admin().delete(Pod, made.metadata, { gracePeriodSeconds: 0 });
      assert.deepEqual(cluster().calls.take(), { "/mutate/pod": 1 });
    });

    it("adds nothing twice, and keeps the node that a DaemonSet asks for", async () => {
      await strategy("pods-both", {
        podOffloadingStrategy: "LocalAndRemote",
        clusterSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "Exists" }] }],
        },
      });
      const pinned = { matchFields: [{ key: "metadata.name", operator: "In", values: ["worker-1"] }] };
      const made = await admin().create(
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

    it("is not even asked elsewhere, and leaves the Liqo runtime class alone", async () => {
      await cluster().makeNamespace("pods-plain");
      await cluster().make({
        apiVersion: "node.k8s.io/v1",
        kind: "RuntimeClass",
        metadata: { name: "liqo" },
        handler: "liqo",
      } as Desired<KubeObject>);
      cluster().calls.take();
      await admin().create(Pod, pod("a", "pods-plain"));
      assert.deepEqual(cluster().calls.take(), {});
      const { spec } = await admin().create(Pod, pod("b", "pods-remote", { runtimeClassName: "liqo" }));
      assert.equal(spec.affinity, undefined);
      assert.ok(!spec.tolerations?.some(({ key }) => key === "virtual-node.liqo.io/not-allowed"));
    });

    it("says what is missing where a namespace is labelled by hand", async () => {
      await cluster().makeNamespace("pods-stray", { "liqo.io/scheduling-enabled": "true" });
      assert.match(
        await refusal(admin().create(Pod, pod("a", "pods-stray"))),
        /pod\.mutate\.liqo\.io.*failed retrieving NamespaceOffloading/,
      );
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
      [
        "a remote name that every provider has",
        { namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "kube-public" },
        /named "kube-public", which every provider has as Kubernetes' own .*use the strategy DefaultName/,
      ],
      ["the defaults", {}, /^allowed$/],
    ];
    for (const [what, spec, denial] of rows) {
      it(`answers one with ${what}`, async () =>
        assert.match(
          await refusal(admin().create(NamespaceOffloading, namespaceOffloading("probe", spec))),
          denial,
        ));
    }

    it("refuses a remote name that another namespace has", async () => {
      const first = namespaceOffloading("probe", {
        namespaceMappingStrategy: "SelectedName",
        remoteNamespaceName: "boutique",
      });
      const ref = { name: "offloading", namespace: "probe" };
      const second = { namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "boutique" };
      await cluster().makeNamespace("beside");
      await admin().delete(NamespaceOffloading, ref);
      await admin().create(NamespaceOffloading, first);
      const wanted = namespaceOffloading("beside", second);
      const answer = await until("it is refused", async () => {
        const given = await refusal(admin().create(NamespaceOffloading, wanted));
        if (given !== "allowed") return given;
        await admin().delete(NamespaceOffloading, { ...ref, namespace: "beside" });
        return undefined;
      });
      assert.ok(
        answer.includes(
          'NamespaceOffloading "beside/offloading": spec.remoteNamespaceName: "boutique" is that of NamespaceOffloading "probe/offloading" already, and no two may share a remote namespace; give another remoteNamespaceName',
        ),
        answer,
      );
      await admin().delete(NamespaceOffloading, ref);
      await admin().create(NamespaceOffloading, namespaceOffloading("probe", {}));
    });

    it("refuses them where Kubernetes, Liqo or credentials live, and nowhere else", async () => {
      for (const [inNamespace, holder] of [
        ["kube-system", "is Kubernetes' own"],
        ["kube-public", "is Kubernetes' own"],
        ["kube-node-lease", "is Kubernetes' own"],
        ["liqo-system", "is that of Liqo itself"],
        ["liqo-tenant-rome", 'is the tenant namespace of cluster "rome", with its credentials'],
      ] as const) {
        const answer = await refusal(
          admin().create(NamespaceOffloading, namespaceOffloading(inNamespace, {})),
        );
        assert.ok(
          answer.includes(
            `NamespaceOffloading "${inNamespace}/offloading": metadata.namespace: "${inNamespace}" ${holder}, and must stay in this cluster; put`,
          ),
          answer,
        );
      }
      const ref = { name: "offloading", namespace: "default" };
      await admin().create(NamespaceOffloading, namespaceOffloading("default", {}));
      await admin().delete(NamespaceOffloading, ref);
    });

    it("refuses changes of what is immutable, and leaves the removal of finalizers alone", async () => {
      const ref = { name: "offloading", namespace: "probe" };
      const edit = (body: object) => admin().patch(NamespaceOffloading, ref, body, { type: "merge" });
      assert.match(
        await refusal(edit({ spec: { namespaceMappingStrategy: "EnforceSameName" } })),
        /spec\.namespaceMappingStrategy.*The NamespaceMappingStrategy value cannot be modified after creation: it is "DefaultName", and the request has "EnforceSameName"; delete the NamespaceOffloading and make it anew/,
      );
      await edit({ metadata: { finalizers: ["example.org/held"] } });
      cluster().calls.take();
      await admin().delete(NamespaceOffloading, ref);
      await edit({ metadata: { finalizers: null } });
      assert.deepEqual(cluster().calls.take(), {});
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
      const made = await admin().create(
        VirtualNode,
        virtualNode("node-a", { storageClasses: [{ storageClassName: "fast" }] }),
      );
      assert.equal(made.spec.createNode, true);
      const list = (node: VirtualNode) => node.spec.template?.spec?.template.spec?.containers[0]?.args ?? [];
      assert.ok(list(made).includes("--remote-real-storage-class-name=fast"));
      assert.ok(list(made).includes("--local-podcidr=10.72.0.0/16"));
      assert.ok(made.spec.offloadingPatch?.annotationsNotReflected?.includes("cloud.google.com/neg"));
      const after = await admin().patch(
        VirtualNode,
        made.metadata,
        { spec: { createNode: false, storageClasses: null } },
        { type: "merge" },
      );
      assert.ok(list(after).includes("--create-node=false"));
      assert.ok(!list(after).some((one) => one.includes("storage")));
      cluster().calls.take();
      await admin().patch(
        VirtualNode,
        made.metadata,
        { metadata: { labels: { a: "b" } } },
        { type: "merge" },
      );
      assert.deepEqual(cluster().calls.take(), {});
    });

    it("refuses names that are taken", async () => {
      await cluster().make({ apiVersion: "v1", kind: "Node", metadata: { name: "node-b" } });
      assert.match(
        await refusal(admin().create(VirtualNode, virtualNode("node-b"))),
        /VirtualNode "liqo-tenant-rome\/node-b": metadata\.name: node node-b already exists.*choose another name for the VirtualNode, or delete the Node "node-b"/,
      );
      await admin().create(VirtualNode, virtualNode("node-b", { createNode: false }));
      assert.match(
        await refusal(admin().create(VirtualNode, virtualNode("node-a", {}, "shop-rome"))),
        /VirtualNode "shop-rome\/node-a": metadata\.name: virtual node node-a already exists in namespace liqo-tenant-rome.*choose another name/,
      );
      await admin().delete(Node, { name: "node-b" });
      assert.match(
        await refusal(admin().create(VirtualNode, virtualNode("n".repeat(64)))),
        /VirtualNode "liqo-tenant-rome\/n{64}": metadata\.name: "n{64}" has 64 characters.*choose a shorter name/,
      );
    });

    it("refuses what contradicts its namespace or can't be a node, and lets it be put right", async () => {
      for (const [spec, inNamespace, denial] of [
        [
          { clusterID: "turin" },
          "liqo-tenant-rome",
          /VirtualNode "liqo-tenant-rome\/node-d": spec\.clusterID is "turin", and namespace "liqo-tenant-rome" is the tenant namespace of cluster "rome"; create it in/,
        ],
        [{ clusterID: "" }, "liqo-tenant-rome", /spec\.clusterID: "" does not match/],
        [{ clusterID: undefined }, "liqo-tenant-rome", /spec\.clusterID: is missing; give/],
        [{ clusterID: "milan" }, "probe", /spec\.clusterID: "milan" is this cluster.*give/],
        [
          { kubeconfigSecretRef: { name: "No!" } },
          "liqo-tenant-rome",
          /kubeconfigSecretRef\.name: "No!" is no name of a Secret; use/,
        ],
        [
          { resourceQuota: { hard: { cpu: "-1" } } },
          "liqo-tenant-rome",
          /resourceQuota\.hard: cpu: "-1" is negative; give/,
        ],
      ] as const)
        assert.match(
          await refusal(admin().create(VirtualNode, virtualNode("node-d", spec, inNamespace))),
          denial,
        );
      const early = virtualNode("node-e", {}, "shop-rome");
      assert.match(
        await cluster().warningOf("POST", VirtualNode, early.metadata, early),
        /VirtualNode "shop-rome\/node-e": namespace "shop-rome" is not the tenant namespace of cluster "rome" \(yet\)/,
      );
      const metadata = { name: "node-e", namespace: "shop-rome" };
      const edit = (spec: object) => admin().patch(VirtualNode, metadata, { spec }, { type: "merge" });
      await cluster().label("shop-rome", {
        "liqo.io/tenant-namespace": "true",
        "liqo.io/remote-cluster-id": "turin",
      });
      await edit({ labels: { zone: "south" } });
      assert.match(await refusal(edit({ clusterID: "naples" })), /is "naples", and namespace "shop-rome"/);
      await edit({ clusterID: "turin" });
      await admin().delete(VirtualNode, metadata);
      await cluster().label("shop-rome", {
        "liqo.io/tenant-namespace": null,
        "liqo.io/remote-cluster-id": "rome",
      });
    });

    it("names options that do not exist", async () => {
      const spec = { vkOptionsTemplateRef: { name: "none", namespace: "liqo-system" } };
      assert.match(
        await refusal(admin().create(VirtualNode, virtualNode("node-c", spec))),
        /VkOptionsTemplate "liqo-system\/none" not found/,
      );
    });
  });

  describe("when no webhook answers", () => {
    it("lets a cluster repair itself", async () => {
      const liqoPod: Desired<Pod> = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "liqo-webhook-0", namespace: "liqo-system" },
        spec: { containers: [{ name: "webhook", image: "runtime:1" }] },
      };
      // Even when somebody offloads the Liqo namespace itself.
      await admin().patch(
        Namespace,
        { name: "liqo-system" },
        { metadata: { labels: { "liqo.io/scheduling-enabled": "true" } } },
        { type: "merge" },
      );
      const held = await admin().patch(
        VirtualNode,
        { name: "node-a", namespace: "liqo-tenant-rome" },
        { metadata: { finalizers: ["example.org/held"] } },
        { type: "merge" },
      );
      await cluster().stopServer();
      await admin().create(Pod, liqoPod);
      assert.match(
        await refusal(admin().create(NamespaceOffloading, namespaceOffloading("probe", {}))),
        /failed calling webhook/,
      );
      await admin().delete(VirtualNode, held.metadata);
      await admin().patch(VirtualNode, held.metadata, { metadata: { finalizers: null } }, { type: "merge" });
      assert.equal(await admin().get(VirtualNode, held.metadata), undefined);
    });
  });
});
