/** A consumer `rome` and a provider `milan` as a finished peering leaves them, made by hand, for tests of what runs between them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import {
  ClusterRole,
  type Desired,
  type KubeObject,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  RoleBinding,
  Secret,
  VirtualNode,
} from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { ConsumerCaches } from "../../runtime/offloading/consumer-caches";
import { virtualKubeletRightsController } from "../../runtime/offloading/virtual-kubelet-rights-controller";
import { virtualKubeletRemoteRules } from "../../runtime/plan/rbac";
import { installDefinitions } from "./install-definitions";
import { installRoles, kubeconfigOf } from "./install-roles";
import { type TestContext, testContext } from "./runtime-context";

export const TENANT = "liqo-tenant-milan";
export const LIQO = "liqo";
/** What a pod needs to be put on a virtual node by name. */
export const TOLERATION = {
  key: "virtual-node.liqo.io/not-allowed",
  operator: "Exists",
  effect: "NoExecute",
} as const;

/** The user of the slice `pool` of `rome` (offloading reference 23). */
export const SLICE_USER = "pool-a8a4c692b93b";

export class OffloadingPair {
  readonly rome: KubeClient;
  readonly milan: KubeClient;
  private controllers: TestContext | undefined;

  constructor(
    readonly planes: { rome: ControlPlane; milan: Pick<ControlPlane, "kubeconfig" | "kubeconfigFor"> },
  ) {
    this.rome = KubeClient.fromKubeconfig(planes.rome.kubeconfig, { userAgent: "test" });
    this.milan = KubeClient.fromKubeconfig(planes.milan.kubeconfig, { userAgent: "test" });
  }

  /** Definitions, namespaces and rights; those of the virtual kubelet are given by the controllers, as in an installation. */
  async prepare(): Promise<void> {
    const { rome, milan } = this;
    await Promise.all([installDefinitions(rome), installDefinitions(milan)]);
    for (const name of [LIQO, TENANT]) await this.namespace(rome, name);
    await installRoles(rome, LIQO);
    this.controllers = testContext(
      await kubeconfigOf(this.planes.rome, LIQO, "liqo-controller-manager"),
      "controller-manager",
    );
    const { informers } = this.controllers;
    virtualKubeletRightsController(this.controllers, { liqoNamespace: LIQO }, new ConsumerCaches(informers));
    await milan.create(ClusterRole, {
      apiVersion: ClusterRole.apiVersion,
      kind: ClusterRole.kind,
      metadata: { name: "liqo-virtual-kubelet-remote" },
      rules: virtualKubeletRemoteRules,
    });
  }

  /** Path of a kubeconfig of the virtual kubelet's own account. */
  async kubeconfigOfVirtualKubelet(): Promise<string> {
    const { rome } = this.planes;
    const file = join(rome.folder, "virtual-kubelet.kubeconfig");
    const text = await rome.kubeconfigFor({
      name: `system:serviceaccount:${LIQO}:liqo-virtual-kubelet`,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${LIQO}`, "system:authenticated"],
    });
    await writeFile(file, text, { mode: 0o600 });
    return file;
  }

  /** A VirtualNode with its kubeconfig, which is that of the slice's user at milan. */
  async virtualNode(name: string, spec: Partial<VirtualNode["spec"]> = {}): Promise<VirtualNode> {
    await this.kubeconfigSecret(`kubeconfig-${name}`);
    return await this.rome.create(VirtualNode, {
      apiVersion: VirtualNode.apiVersion,
      kind: VirtualNode.kind,
      metadata: { name, namespace: TENANT, labels: { "liqo.io/remote-cluster-id": "milan" } },
      spec: {
        clusterID: "milan",
        createNode: true,
        disableNetworkCheck: true,
        kubeconfigSecretRef: { name: `kubeconfig-${name}` },
        resourceQuota: { hard: { cpu: "4000m", memory: "8Gi", pods: "110", "example.com/gpu": "2" } },
        ...spec,
      },
    });
  }

  async kubeconfigSecret(name: string, text?: string): Promise<void> {
    const kubeconfig =
      text ?? (await this.planes.milan.kubeconfigFor({ name: SLICE_USER, groups: ["rome"] }));
    await this.rome.apply(
      Secret,
      {
        apiVersion: Secret.apiVersion,
        kind: Secret.kind,
        metadata: { name, namespace: TENANT },
        data: { kubeconfig: Buffer.from(kubeconfig).toString("base64") },
      },
      { fieldManager: "test", force: true },
    );
  }

  /** A namespace here and its counterpart, accepted by the provider. */
  async offload(local: string, remote: string): Promise<void> {
    await this.namespace(this.rome, local);
    await this.remoteNamespace(remote);
    await this.map({ [local]: { remoteNamespace: remote, phase: "Accepted" } });
  }

  async remoteNamespace(name: string): Promise<void> {
    await this.namespace(this.milan, name, { "liqo.io/remote-cluster-id": "rome" });
    await this.milan.create(RoleBinding, {
      apiVersion: RoleBinding.apiVersion,
      kind: RoleBinding.kind,
      metadata: { name: "tenant-of-rome", namespace: name },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "liqo-virtual-kubelet-remote",
      },
      subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "rome" }],
    });
  }

  /** Adds to, or with null takes from, what is asked of the provider and what it accepted. */
  async map(entries: Record<string, { remoteNamespace: string; phase: string } | null>): Promise<void> {
    const ref = { name: "milan", namespace: TENANT };
    if ((await this.rome.get(NamespaceMap, ref)) === undefined) {
      await this.rome.create(NamespaceMap, {
        apiVersion: NamespaceMap.apiVersion,
        kind: NamespaceMap.kind,
        metadata: {
          ...ref,
          labels: {
            "liqo.io/remote-cluster-id": "milan",
            "liqo.io/replication": "true",
            "liqo.io/remoteID": "milan",
          },
        },
        spec: {},
      });
    }
    for (const [namespace, entry] of Object.entries(entries)) {
      await this.ask(namespace, entry?.remoteNamespace ?? null);
    }
    await this.answer(entries);
  }

  /** As the consumer's controllers do: the namespace's NamespaceOffloading, and its entry in the map. */
  async ask(namespace: string, remoteName: string | null): Promise<void> {
    const { apiVersion, kind } = NamespaceOffloading;
    const metadata = { name: "offloading", namespace };
    if (remoteName !== null) {
      const spec = NamespaceOffloading.parseSpec({});
      await this.rome.apply(
        NamespaceOffloading,
        { apiVersion, kind, metadata, spec },
        { fieldManager: "test", force: true },
      );
    }
    const body = { spec: { desiredMapping: { [namespace]: remoteName } } };
    await this.rome.patch(NamespaceMap, { name: "milan", namespace: TENANT }, body, { type: "merge" });
  }

  /** As it comes from the provider: its status of the map, whatever was asked. */
  async answer(entries: Record<string, { remoteNamespace: string; phase: string } | null>): Promise<void> {
    await this.rome.patch(
      NamespaceMap,
      { name: "milan", namespace: TENANT },
      { status: { currentMapping: entries } },
      { type: "merge", subresource: "status" },
    );
  }

  async namespace(client: KubeClient, name: string, labels: Record<string, string> = {}): Promise<void> {
    const desired: Desired<KubeObject> = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    await client.create(Namespace, { ...desired, apiVersion: "v1", kind: "Namespace" });
  }

  close(): void {
    void this.controllers?.end();
    this.rome.close();
    this.milan.close();
  }
}
